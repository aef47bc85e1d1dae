import Foundation
import Testing
import VocativeModel

@testable import vocative

@Suite struct AppIntentVocabularyTests {
  static let xml = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict>
      <key>IntentPhrases</key><array><dict>
        <key>IntentName</key><string>INStartWorkoutIntent</string>
        <key>IntentExamples</key><array><string>Start a workout in Vocative</string></array>
      </dict></array>
      <key>ParameterVocabularies</key><array><dict>
        <key>ParameterNames</key><array>
          <string>INStartWorkoutIntent.workoutName</string>
          <string>INEndWorkoutIntent.workoutName</string>
        </array>
        <key>ParameterVocabulary</key><array><dict>
          <key>VocabularyItemIdentifier</key><string>hiit</string>
          <key>VocabularyItemSynonyms</key><array>
            <dict>
              <key>VocabularyItemPhrase</key><string>高强度间歇</string>
              <key>VocabularyItemPronunciation</key><string>gao qiang du jian xie</string>
              <key>VocabularyItemExamples</key><array><string>开始高强度间歇</string></array>
            </dict>
            <dict><key>VocabularyItemPhrase</key><string>HIIT</string></dict>
          </array>
        </dict></array>
      </dict></array>
    </dict></plist>
    """

  private static let expected = AppVocabulary(
    terms: [
      .init(
        parameters: ["INStartWorkoutIntent.workoutName", "INEndWorkoutIntent.workoutName"],
        identifier: "hiit",
        synonyms: [
          .init(
            "高强度间歇", pronunciation: "gao qiang du jian xie", examples: ["开始高强度间歇"]),
          .init("HIIT"),
        ])
    ],
    examples: [
      .init(intent: "INStartWorkoutIntent", examples: ["Start a workout in Vocative"])
    ])

  @Test func bothFormatsAreRead() throws {
    #expect(try AppIntentVocabulary.read(Data(Self.xml.utf8)) == Self.expected)
    let list = try PropertyListSerialization.propertyList(from: Data(Self.xml.utf8), format: nil)
    let binary = try PropertyListSerialization.data(
      fromPropertyList: list, format: .binary, options: 0)
    #expect(try AppIntentVocabulary.read(binary) == Self.expected)
  }

  @Test func termsGiveStringsToTheirTypes() {
    #expect(
      Self.expected.strings(of: .workoutActivityName) == [
        VocabularyString(
          "高强度间歇", identifier: "hiit", pronunciationHint: "gao qiang du jian xie"),
        VocabularyString("HIIT", identifier: "hiit"),
      ])
    #expect(Self.expected.strings(of: .contactName).isEmpty)
  }

  @Test(arguments: [
    ("no plist", "it is no property list"),
    ("<plist><dict></dict></plist>", "neither"),
    (
      "<plist><dict><key>IntentPhrases</key><array><dict><key>IntentName</key><string>hush</string></dict></array></dict></plist>",
      "/IntentPhrases/0/IntentExamples must be there"
    ),
    (
      "<plist><dict><key>IntentPhrases</key><string>hush</string></dict></plist>",
      "/IntentPhrases is of another type"
    ),
  ])
  func whatIsWrongIsNamedByItsPlace(_ text: String, _ reason: String) {
    let error = #expect(throws: FileProblem.self) {
      try AppIntentVocabulary.read(Data(text.utf8))
    }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    #expect(error?.description.contains("hush") == false)
  }
}
