import Foundation
import VocativeModel

/// A file of vocabulary, read into the lines of an upload job.
struct UploadFile {
  enum Format: String, CaseIterable {
    case jsonl, csv, vcard, plist

    /// By the ending of a file's name.
    init?(path: String) {
      switch URL(filePath: path).pathExtension.lowercased() {
      case "jsonl", "ndjson": self = .jsonl
      case "csv", "tsv", "txt": self = .csv
      case "vcf", "vcard": self = .vcard
      case "plist": self = .plist
      default: return nil
      }
    }
  }

  /// What stands in no file of some formats.
  struct Defaults {
    var user: UserID?
    var type: VocabularyType?
  }

  /// A line of the job, and where in the file it comes from.
  struct Line: Equatable {
    var bytes: [UInt8]
    /// From 1; nil where a line of the job comes from several places.
    var fileLine: Int?
  }

  /// Reads the bytes of a file.
  ///
  /// - Throws: `FileProblem`.
  static func lines(
    of bytes: [UInt8], _ format: Format, _ defaults: Defaults
  ) throws(FileProblem) -> [Line] {
    switch format {
    case .jsonl:
      var number = 0
      return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .compactMap { line in
          number += 1
          let isBlank = line.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
          return isBlank ? nil : Line(bytes: Array(line), fileLine: number)
        }
    case .csv:
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw FileProblem("it is not UTF-8")
      }
      return try table(try CSV.rows(of: text), defaults)
    case .vcard:
      let user = try required(defaults.user)
      return VCard.vocabulary(of: try VCard.cards(in: bytes)).map { type, strings in
        line(user, type, strings)
      }
    case .plist:
      let user = try required(defaults.user)
      return try PropertyListVocabulary.read(Data(bytes), defaults.type).map { type, strings in
        line(user, type, strings)
      }
    }
  }

  private static func required(_ user: UserID?) throws(FileProblem) -> UserID {
    guard let user else { throw FileProblem("it says of no user: give --user") }
    return user
  }

  private static func line(
    _ user: UserID, _ type: VocabularyType, _ strings: [VocabularyString], at fileLine: Int? = nil
  ) -> Line {
    var json = JSONWriter(reservingCapacity: 64 * strings.count)
    VocabularyJobLine(userId: user, type: type, strings: strings).write(to: &json)
    return Line(bytes: json.utf8, fileLine: fileLine)
  }

  // MARK: CSV

  private static let columns = [
    "userid": "user", "user": "user", "type": "type", "phrase": "phrase", "name": "phrase",
    "identifier": "identifier", "id": "identifier", "pronunciationhint": "hint",
    "pronunciation": "hint",
  ]

  private struct Key: Hashable {
    var user: UserID
    var type: VocabularyType
  }

  /// Rows with a header. All of a user's rows of a type become one line, in order.
  private static func table(
    _ rows: [CSV.Row], _ defaults: Defaults
  ) throws(FileProblem) -> [Line] {
    guard let header = rows.first else { throw FileProblem("it is empty") }
    var columns: [String: Int] = [:]
    for (index, name) in header.fields.enumerated() {
      let folded = name.lowercased().filter { $0.isLetter }
      guard let column = Self.columns[folded], columns.updateValue(index, forKey: column) == nil
      else {
        throw FileProblem(
          line: header.line,
          "column \(index + 1) is not known or there twice; the columns are userId, type, phrase, "
            + "identifier and pronunciationHint")
      }
    }
    guard columns["phrase"] != nil else {
      throw FileProblem(line: header.line, "there is no column phrase")
    }
    var order: [Key] = []
    var strings: [Key: [VocabularyString]] = [:]
    for row in rows.dropFirst() {
      guard row.fields.count == header.fields.count else {
        throw FileProblem(
          line: row.line, "it has \(row.fields.count) fields, not \(header.fields.count)")
      }
      func field(_ name: String) -> String? {
        columns[name].map { row.fields[$0] }.flatMap { $0.isEmpty ? nil : $0 }
      }
      guard let user = try user(field("user"), row.line) ?? defaults.user else {
        throw FileProblem(line: row.line, "it says of no user: give --user")
      }
      guard let type = try type(field("type"), row.line) ?? defaults.type else {
        throw FileProblem(line: row.line, "it has no type: give --type")
      }
      guard let phrase = field("phrase") else {
        throw FileProblem(line: row.line, "it has no phrase")
      }
      let key = Key(user: user, type: type)
      if strings[key] == nil { order.append(key) }
      strings[key, default: []].append(
        VocabularyString(
          phrase, identifier: field("identifier"), pronunciationHint: field("hint")))
    }
    return order.map { line($0.user, $0.type, strings[$0]!) }
  }

  private static func user(_ text: String?, _ line: Int) throws(FileProblem) -> UserID? {
    guard let text else { return nil }
    guard let user = UserID(text) else {
      throw FileProblem(line: line, "its user's id is not 1 to 128 bytes without controls")
    }
    return user
  }

  private static func type(_ text: String?, _ line: Int) throws(FileProblem) -> VocabularyType? {
    guard let text else { return nil }
    guard let type = VocabularyType(rawValue: text) else {
      throw FileProblem(line: line, "its type \(VocabularyType.reason)")
    }
    return type
  }
}
