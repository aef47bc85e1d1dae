/// Bodies and lines of vocabulary are read by hand: they may hold 20,000 strings, and a job has to
/// take 100,000 a second.
extension PutVocabulary {
  /// Reads a request's body. Of strings with the same phrase (by canonical equivalence) and the
  /// same identifier the first is kept.
  ///
  /// - Throws: `MalformedJSON` for what is not JSON, `InvalidValue` for what is not a request
  ///   within the limits.
  public init(json bytes: UnsafeBufferPointer<UInt8>, _ limits: Limits) throws {
    var strings: [VocabularyString]?
    try Self.reading(bytes) { reader throws(JSONReader.Failure) in
      try reader.object("") { reader, name throws(JSONReader.Failure) in
        guard name == "strings" else {
          throw JSONReader.unknown(name, in: "", ["strings"])
        }
        guard strings == nil else { throw JSONReader.twice("/strings") }
        strings = try reader.vocabularyStrings(limits)
      }
    }
    guard let strings else { throw InvalidValue("/strings", "must be there") }
    self.init(strings: strings)
  }

  static func reading(
    _ bytes: UnsafeBufferPointer<UInt8>,
    _ read: (inout JSONReader) throws(JSONReader.Failure) -> Void
  ) throws {
    var reader = JSONReader(bytes)
    do throws(JSONReader.Failure) {
      try read(&reader)
      try reader.end()
    } catch {
      switch error {
      case .malformed: throw MalformedJSON()
      case .invalid(let invalid): throw invalid
      }
    }
  }
}

extension VocabularyJobLine {
  /// Reads a line, as `PutVocabulary.init(json:_:)` does a body.
  public init(json bytes: UnsafeBufferPointer<UInt8>, _ limits: Limits) throws {
    var userId: UserID?
    var type: VocabularyType?
    var strings: [VocabularyString]?
    try PutVocabulary.reading(bytes) { reader throws(JSONReader.Failure) in
      try reader.object("") { reader, name throws(JSONReader.Failure) in
        switch name {
        case "userId":
          guard userId == nil else { throw JSONReader.twice("/userId") }
          guard let id = UserID(try reader.string("/userId")) else {
            throw JSONReader.invalid(
              "/userId", "must be a user id: 1 to 128 bytes of UTF-8 without control characters")
          }
          userId = id
        case "type":
          guard type == nil else { throw JSONReader.twice("/type") }
          guard let known = VocabularyType(rawValue: try reader.string("/type")) else {
            throw JSONReader.invalid("/type", VocabularyType.reason)
          }
          type = known
        case "strings":
          guard strings == nil else { throw JSONReader.twice("/strings") }
          strings = try reader.vocabularyStrings(limits)
        default: throw JSONReader.unknown(name, in: "", ["userId", "type", "strings"])
        }
      }
    }
    guard let userId else { throw InvalidValue("/userId", "must be there") }
    guard let type else { throw InvalidValue("/type", "must be there") }
    guard let strings else { throw InvalidValue("/strings", "must be there") }
    self.init(userId: userId, type: type, strings: strings)
  }
}

extension VocabularyType {
  /// What a type has to be.
  public static var reason: String {
    "must be one of \(allCases.map(\.rawValue).joined(separator: ", "))"
  }
}

/// What was to be read is not JSON (RFC 8259).
public struct MalformedJSON: Error, Hashable, Sendable {}

extension JSONReader {
  fileprivate static func unknown(
    _ name: String, in pointer: String, _ known: [String]
  ) -> Failure {
    // The name of a field is the client's text, too; it is cut short.
    let token = name.prefix(64).replacing("~", with: "~0").replacing("/", with: "~1")
    return invalid(
      "\(pointer)/\(token)",
      "is not a known field; the fields are \(known.joined(separator: ", "))")
  }

  fileprivate static func twice(_ pointer: String) -> Failure {
    invalid(pointer, "must not be there twice")
  }

  fileprivate mutating func vocabularyStrings(
    _ limits: Limits
  ) throws(Failure) -> [VocabularyString] {
    var strings: [VocabularyString] = []
    var seen: Set<Key> = []
    try array("/strings") { reader, index throws(Failure) in
      guard index < limits.vocabularyStrings else {
        throw Self.invalid("/strings", "must be at most \(limits.vocabularyStrings)")
      }
      let string = try reader.vocabularyString(at: index, limits)
      if seen.insert(Key(phrase: string.phrase, identifier: string.identifier)).inserted {
        strings.append(string)
      }
    }
    return strings
  }

  /// What makes two strings one. Swift's strings compare by canonical equivalence.
  private struct Key: Hashable {
    var phrase: String
    var identifier: String?
  }

  private mutating func vocabularyString(
    at index: Int, _ limits: Limits
  ) throws(Failure) -> VocabularyString {
    if try kind() == .string { return VocabularyString(try bounded("", at: index, limits)) }
    guard try kind() == .object else {
      throw Self.invalid("/strings/\(index)", "must be a string or an object")
    }
    var phrase: String?
    var identifier: String?
    var hint: String?
    try object("/strings/\(index)") { reader, name throws(Failure) in
      switch name {
      case "phrase":
        guard phrase == nil else { throw Self.twice("/strings/\(index)/phrase") }
        phrase = try reader.bounded("/phrase", at: index, limits)
      case "identifier":
        guard identifier == nil else { throw Self.twice("/strings/\(index)/identifier") }
        if !reader.isNull() { identifier = try reader.bounded("/identifier", at: index, limits) }
      case "pronunciationHint":
        guard hint == nil else { throw Self.twice("/strings/\(index)/pronunciationHint") }
        if !reader.isNull() { hint = try reader.bounded("/pronunciationHint", at: index, limits) }
      default:
        throw Self.unknown(
          name, in: "/strings/\(index)", ["phrase", "identifier", "pronunciationHint"])
      }
    }
    guard let phrase else { throw Self.invalid("/strings/\(index)/phrase", "must be there") }
    return VocabularyString(phrase, identifier: identifier, pronunciationHint: hint)
  }

  private mutating func bounded(
    _ member: StaticString, at index: Int, _ limits: Limits
  ) throws(Failure) -> String {
    let text = try string("/strings/\(index)\(member)")
    guard text.utf8.count <= limits.vocabularyStringBytes, !text.isEmpty, !text.utf8.contains(0)
    else {
      throw Self.invalid(
        "/strings/\(index)\(member)",
        "must have 1 to \(limits.vocabularyStringBytes) bytes and no NUL character")
    }
    return text
  }
}
