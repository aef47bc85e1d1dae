import Foundation
import TestSupport
import Testing
import VocativeModel

@testable import vocative

/// Files as they come from address books and spreadsheets.
@Suite struct UploadFileTests {
  private static func read(
    _ text: String, _ format: UploadFile.Format, user: String? = "ada", type: String? = nil
  ) throws -> [VocabularyJobLine] {
    try read(Array(text.utf8), format, user: user, type: type)
  }

  private static func read(
    _ bytes: [UInt8], _ format: UploadFile.Format, user: String? = "ada", type: String? = nil
  ) throws -> [VocabularyJobLine] {
    let defaults = UploadFile.Defaults(
      user: user.flatMap(UserID.init), type: type.flatMap { VocabularyType(rawValue: $0) })
    return try UploadFile.lines(of: bytes, format, defaults).map { line in
      try line.bytes.withUnsafeBufferPointer { try VocabularyJobLine(json: $0, Limits()) }
    }
  }

  private static func contacts(_ card: String) throws -> [VocabularyString] {
    try read(
      "BEGIN:VCARD\r\n\(card.replacing("\n", with: "\r\n"))\r\nEND:VCARD\r\n", .vcard
    ).first { $0.type == .contactName }?.strings ?? []
  }

  // MARK: CSV

  @Test func rowsOfAUserBecomeALine() throws {
    let lines = try Self.read(
      """
      \u{FEFF}userId,type,phrase,identifier,pronunciationHint
      ada,contactName,"Smith, John",7,
      jon,contactName,王一然,,wang yi ran
      ada,contactName,"She said ""hi""
      twice",8,

      ada,carName,Herbie,,
      """, .csv, user: nil)
    #expect(
      lines == [
        VocabularyJobLine(
          userId: UserID(trusted: "ada"), type: .contactName,
          strings: [
            VocabularyString("Smith, John", identifier: "7"),
            VocabularyString("She said \"hi\"\ntwice", identifier: "8"),
          ]),
        VocabularyJobLine(
          userId: UserID(trusted: "jon"), type: .contactName,
          strings: [VocabularyString("王一然", pronunciationHint: "wang yi ran")]),
        VocabularyJobLine(
          userId: UserID(trusted: "ada"), type: .carName, strings: [VocabularyString("Herbie")]),
      ])
  }

  @Test func semicolonsTabsAndLineEndsOfAllKinds() throws {
    for text in [
      "name;id\r\nMum;1\r\nDad;2\r\n", "Name\tID\rMum\t1\rDad\t2", "NAME,id\nMum,1\nDad,2",
    ] {
      let lines = try Self.read(text, .csv, type: "contactName")
      #expect(lines.count == 1 && lines[0].strings.map(\.phrase) == ["Mum", "Dad"])
      #expect(lines[0].strings.map(\.identifier) == ["1", "2"])
    }
  }

  @Test(arguments: [
    ("phrase,colour\nMum,red", 1), ("identifier\n1", 1), ("phrase\nMum\n\"Dad", 3),
    ("phrase,id\nMum,1\nDad", 3), ("phrase\n\"Mum\"x", nil), ("userId,phrase\n,Mum", nil),
    ("type,phrase\ncontact,Mum", 2), ("", nil),
  ])
  func wrongTablesAreNamedByLine(_ text: String, _ line: Int?) {
    let error = #expect(throws: FileProblem.self) {
      try Self.read(
        text, .csv, user: text.hasPrefix("userId") ? nil : "ada", type: "contactName")
    }
    if let line { #expect(error?.line == line) }
    #expect(error?.description.contains("Mum") == false)
  }

  // MARK: vCard

  @Test func aCardOfVersion3() throws {
    let strings = try Self.contacts(
      #"""
      VERSION:3.0
      UID:urn:uuid:1
      N:Smith;John\, Jr.;Quentin;Dr;
      FN:Dr John Quentin
        Smith
      item1.NICKNAME:Jonny,J\,S
      ORG:ACME\; Inc.;Sales
      """#)
    #expect(
      strings == [
        VocabularyString("Dr John Quentin Smith", identifier: "urn:uuid:1"),
        VocabularyString("John, Jr. Smith", identifier: "urn:uuid:1"),
        VocabularyString("Jonny", identifier: "urn:uuid:1"),
        VocabularyString("J,S", identifier: "urn:uuid:1"),
      ])
  }

  @Test func phoneticNamesAreHints() throws {
    let han = try Self.contacts(
      "VERSION:3.0\nN:王;一然;;;\nFN:王一然\nX-PHONETIC-FIRST-NAME:yiran\nX-PHONETIC-LAST-NAME:wang")
    #expect(han == [VocabularyString("王一然", pronunciationHint: "wang yiran")])
    let kana = try Self.contacts(
      "VERSION:4.0\nFN:山田太郎\nN;SORT-AS=\"やまだ,たろう\":山田;太郎;;;")
    #expect(kana == [VocabularyString("山田太郎", pronunciationHint: "やまだ たろう")])
    // How it is sorted says nothing of how it is said where the letters are the same.
    let latin = try Self.contacts(
      "VERSION:4.0\nFN:Rene van der Harten\nN;SORT-AS=\"Harten,Rene\":van der Harten;Rene;;;")
    #expect(latin == [VocabularyString("Rene van der Harten")])
  }

  @Test func quotedPrintableAndCharsetsOfVersion21() throws {
    let utf8 = try Self.contacts(
      "VERSION:2.1\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=E7=8E=8B;=E4=B8=80=\n=E7=84=B6;;;")
    #expect(utf8 == [VocabularyString("王一然")])
    let latin = try Self.contacts(
      "VERSION:2.1\nFN;CHARSET=ISO-8859-1;QUOTED-PRINTABLE:Zo=EB")
    #expect(latin == [VocabularyString("Zoë")])
    let head = Array("BEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=GB18030:".utf8)
    let gb: [UInt8] = [0xCD, 0xF5, 0xD2, 0xBB]
    let lines = try Self.read(head + gb + Array("\nEND:VCARD\n".utf8), .vcard)
    #expect(lines[0].strings == [VocabularyString("王一")])
    let silent = Array("BEGIN:VCARD\nVERSION:2.1\nFN:Zo".utf8) + [0xEB]
    #expect(
      try Self.read(silent + Array("\nEND:VCARD\n".utf8), .vcard)[0].strings
        == [VocabularyString("Zoë")])
  }

  @Test func groupsCategoriesAndOrganisations() throws {
    let lines = try Self.read(
      """
      BEGIN:VCARD
      VERSION:4.0
      KIND:group
      UID:g1
      FN:Climbers
      END:VCARD
      BEGIN:VCARD
      VERSION:3.0
      X-ADDRESSBOOKSERVER-KIND:group
      FN:Family
      END:VCARD
      BEGIN:VCARD
      VERSION:3.0
      FN:
      ORG:ACME;Sales
      CATEGORIES:Work,myContacts
      END:VCARD
      """, .vcard)
    #expect(lines.map(\.type) == [.contactName, .contactGroupName])
    #expect(lines[0].strings == [VocabularyString("ACME")])
    #expect(
      lines[1].strings == [
        VocabularyString("Climbers", identifier: "g1"), VocabularyString("Family"),
        VocabularyString("Work"),
      ])
  }

  @Test(arguments: ["", "FN:Mum", "BEGIN:VCARD\nFN:Mum", "BEGIN:VCARD\nBEGIN:VCARD\n", "END:VCARD"])
  func whatIsNoCardIsRefused(_ text: String) {
    let error = #expect(throws: FileProblem.self) { try Self.read(text, .vcard) }
    #expect(error?.description.contains("Mum") == false)
  }

  /// No bytes crash a parser.
  @Test func mutatedFilesNeverCrash() {
    var random = SeededGenerator.announced()
    let seeds: [(UploadFile.Format, String)] = [
      (.csv, "name;id\r\n\"Mum\"\"\";1\r\nDad;2\r\n"),
      (
        .vcard,
        "BEGIN:VCARD\r\nN;SORT-AS=\"a,b\";ENCODING=QUOTED-PRINTABLE;CHARSET=GBK:=E7=8E=\r\n=8B;\\,b\r\n c\r\nEND:VCARD\r\n"
      ),
      (.jsonl, "{\"userId\":\"a\"}\n\n"), (.plist, "<plist><array><string>a</string></array>"),
    ]
    for (format, text) in seeds {
      let seed = Array(text.utf8)
      for _ in 0..<2000 {
        var bytes = seed
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let index = Int.random(in: bytes.indices, using: &random)
          switch Int.random(in: 0..<3, using: &random) {
          case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
          case 1: bytes.remove(at: index)
          default: bytes.insert(seed.randomElement(using: &random)!, at: index)
          }
        }
        _ = try? UploadFile.lines(
          of: bytes, format, .init(user: UserID("ada"), type: .contactName))
      }
    }
  }

  // MARK: Property lists

  @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
  func propertyListsOfBothFormats(_ format: PropertyListSerialization.PropertyListFormat) throws {
    let list: [String: Any] = [
      "contactName": ["Mum", ["phrase": "王一然", "identifier": "w", "pronunciationHint": "wang"]],
      "carName": ["Herbie"],
    ]
    let bytes = Array(
      try PropertyListSerialization.data(fromPropertyList: list, format: format, options: 0))
    let lines = try Self.read(bytes, .plist)
    #expect(lines.map(\.type) == [.carName, .contactName])
    #expect(
      lines[1].strings == [
        VocabularyString("Mum"),
        VocabularyString("王一然", identifier: "w", pronunciationHint: "wang"),
      ])
    let plain = Array(
      try PropertyListSerialization.data(
        fromPropertyList: ["a", "b"], format: format, options: 0))
    #expect(try Self.read(plain, .plist, type: "photoTag")[0].strings.map(\.phrase) == ["a", "b"])
    #expect(throws: FileProblem.self) { try Self.read(plain, .plist) }
    #expect(throws: FileProblem.self) { try Self.read(bytes, .plist, user: nil) }
  }

  @Test func progressSaysShareRateAndTimeLeft() {
    var bar = ProgressBar(total: 4, isShown: false)
    bar.advance(strings: 100)
    let text = bar.text(after: .seconds(2))
    #expect(text.contains("25%  1/4  50 strings/s  0:06 left"))
  }

  /// Until it is over, the same lines to the same service are the same upload; then a new one, as
  /// something else may have been stored in between.
  @Test func anUploadKeepsItsKeyUntilItIsOver() throws {
    let job = UploadJob(lines: [Array("a".utf8), Array("b".utf8)])
    #expect(job.digest != UploadJob(lines: [Array("ab".utf8)]).digest && job.digest.count == 64)
    let directory = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    func key(_ digest: String, _ service: String = "https://one.example") -> UploadKey {
      UploadKey(digest: digest, service: service, directory: directory)
    }
    let first = key(job.digest)
    #expect(key(job.digest).string == first.string)
    #expect(key("other").string != first.string)
    #expect(key(job.digest, "https://two.example").string != first.string)
    first.close()
    #expect(key(job.digest).string != first.string)
    let nowhere = UploadKey(
      digest: "x", service: "y", directory: URL(filePath: "/proc/nothing-is-kept-here"))
    #expect(UUID(uuidString: nowhere.string) != nil)
  }
}
