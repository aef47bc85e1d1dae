import Foundation
import Testing
import TestSupport

@testable import VocativeModel

@Suite struct VocabularyReadingTests {
  private static func read(_ json: some Sequence<UInt8>, _ limits: Limits = Limits()) throws
    -> PutVocabulary
  {
    try Array(json).withUnsafeBufferPointer { try PutVocabulary(json: $0, limits) }
  }

  @Test func stringsAndObjectsAreTaken() throws {
    let body = try Self.read(
      #" {"strings" : ["Mum", {"phrase":"王一然","identifier":"u\/1","pronunciationHint":null}, {"phrase":"\ud83d\udc51\u00e9\n\"\\"}] } "#
        .utf8)
    #expect(
      body.strings == [
        VocabularyString("Mum"), VocabularyString("王一然", identifier: "u/1"),
        VocabularyString("👑é\n\"\\"),
      ])
  }

  @Test func duplicatesKeepTheirFirstPlace() throws {
    // Composed and decomposed are the same; another identifier is another person.
    let body = try Self.read(
      #"{"strings":["Zo\u00eb","Bo","Zoe\u0308","Bo",{"phrase":"Bo","identifier":"2"}]}"#.utf8)
    #expect(
      body.strings == [
        VocabularyString("Zoë"), VocabularyString("Bo"), VocabularyString("Bo", identifier: "2"),
      ])
  }

  @Test(arguments: [
    (#"{"strings":5}"#, "/strings"), (#"[]"#, ""), (#"{}"#, "/strings"),
    (#"{"strings":[""]}"#, "/strings/0"), (#"{"strings":["a\u0000b"]}"#, "/strings/0"),
    (#"{"strings":["a",1]}"#, "/strings/1"), (#"{"strings":["a",{}]}"#, "/strings/1/phrase"),
    (#"{"strings":[{"phrase":"a","identifer":"b"}]}"#, "/strings/0/identifer"),
    (#"{"strings":[{"phrase":"a","identifier":""}]}"#, "/strings/0/identifier"),
    (#"{"strings":[{"phrase":"a","phrase":"b"}]}"#, "/strings/0/phrase"),
    (#"{"strings":[],"strings":[]}"#, "/strings"), (#"{"strings":["\ud800"]}"#, "/strings/0"),
    (#"{"strings":["abcdefghi"]}"#, "/strings/0"), (#"{"strings":["a","b","c","d"]}"#, "/strings"),
    (#"{"a/b~":1}"#, "/a~1b~0"),
  ])
  func whatIsNotValidIsNamed(_ json: String, pointer: String) {
    var limits = Limits()
    limits.vocabularyStringBytes = 8
    limits.vocabularyStrings = 3
    let error = #expect(throws: InvalidValue.self) { try Self.read(json.utf8, limits) }
    #expect(error?.pointer == pointer)
  }

  @Test(arguments: [
    "", "{", #"{"strings":["a",]}"#, #"{"strings":["a"],}"#, #"{"strings":["a"]} x"#,
    "{\"strings\":[\"a\nb\"]}", #"{"strings":["\x"]}"#, #"{"strings":["\u12g4"]}"#,
    #"{"strings":["a}"#, #"{'strings':[]}"#, #"{"strings":[@]}"#, #"{"strings" []}"#,
  ])
  func whatIsNotJSONIsRefused(_ json: String) {
    #expect(throws: MalformedJSON.self) { try Self.read(json.utf8) }
  }

  @Test func invalidUTF8IsRefused() {
    #expect(throws: MalformedJSON.self) {
      try Self.read(Array(#"{"strings":[""#.utf8) + [0xC3, 0x28] + Array(#""]}"#.utf8))
    }
  }

  @Test func linesRoundTrip() throws {
    let line = VocabularyJobLine(
      userId: UserID(trusted: "ada"), type: .contactName,
      strings: [VocabularyString("a\u{1}\"", identifier: "b", pronunciationHint: "c")])
    var json = JSONWriter()
    line.write(to: &json)
    let read = try json.utf8.withUnsafeBufferPointer { try VocabularyJobLine(json: $0, Limits()) }
    #expect(read == line)
  }

  /// Any bytes are read or refused, and what Foundation takes for this shape is taken alike.
  @Test func mutatedBodiesNeverCrashAndAgreeWithFoundation() throws {
    var random = SeededGenerator.announced()
    let seed = Array(
      #"{"strings":["Mum",{"phrase":"\u738b一然","identifier":"u1","pronunciationHint":"w"}]}"#.utf8)
    for _ in 0..<20_000 {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let index = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.insert(seed.randomElement(using: &random)!, at: index)
        }
      }
      guard let body = try? Self.read(bytes) else { continue }
      let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
      let strings = try #require(object?["strings"] as? [Any])
      #expect(strings.count >= body.strings.count)
    }
  }
}
