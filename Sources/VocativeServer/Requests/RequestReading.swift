import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore
import VocativeModel
import VocativeStorage

extension ServiceContext {
  /// The thread that the path names.
  func threadID() throws -> ThreadID {
    guard let id = ThreadID(try parameters.require("threadId")) else {
      throw ServiceError(.badIdentifier("the thread's id in the path must be a UUID"))
    }
    return id
  }

  /// The entry that the path names.
  func entryID() throws -> EntryID {
    guard let id = EntryID(try parameters.require("entryId")) else {
      throw ServiceError(.badIdentifier("the entry's id in the path must be a UUID"))
    }
    return id
  }

  /// The type of vocabulary that the path names.
  func vocabularyType() throws -> VocabularyType {
    guard let type = VocabularyType(rawValue: try parameters.require("type")) else {
      throw ServiceError(.noSuchVocabularyType)
    }
    return type
  }

  /// The user that the path names.
  func userID() throws -> UserID {
    let encoded = try parameters.require("userId")
    guard let decoded = Self.percentDecoded(encoded), let id = UserID(decoded) else {
      throw ServiceError(
        .badIdentifier(
          "the user's id in the path must be 1 to 128 bytes of UTF-8, percent-encoded"))
    }
    return id
  }

  /// Decodes RFC 3986, section 2.1; nil where it is malformed or not UTF-8.
  private static func percentDecoded(_ text: String) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst(), let low = rest.popFirst(),
        let first = Character(UnicodeScalar(high)).hexDigitValue,
        let second = Character(UnicodeScalar(low)).hexDigitValue
      else { return nil }
      bytes.append(UInt8(first << 4 | second))
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

/// The query of a request, read strictly: what is not known, given twice or out of range is an
/// error, never without effect.
struct Query {
  private let values: [Substring: Substring]

  init(_ request: Request, allowing names: [Substring]) throws {
    var values: [Substring: Substring] = [:]
    for (name, value) in request.uri.queryParameters {
      guard names.contains(name) else {
        throw ServiceError(
          .badQuery(
            names.isEmpty
              ? "this call takes no query parameters"
              : "a query parameter is not known; they are \(names.joined(separator: ", "))"))
      }
      guard values.updateValue(value, forKey: name) == nil else {
        throw ServiceError(.badQuery("\(name) is given twice"))
      }
    }
    self.values = values
  }

  subscript(name: Substring) -> Substring? { values[name] }

  /// A whole number in a range; nil where it is not given.
  func integer(_ name: Substring, in range: ClosedRange<Int64>) throws -> Int64? {
    guard let text = values[name] else { return nil }
    guard let value = Int64(text), range.contains(value) else {
      let most = range.upperBound == .max ? "2^63-1" : "\(range.upperBound)"
      throw ServiceError(
        .badQuery("\(name) must be a whole number from \(range.lowerBound) to \(most)"))
    }
    return value
  }

  /// Whether a parameter that may only have one value is there.
  func has(_ name: Substring, only value: Substring) throws -> Bool {
    guard let given = values[name] else { return false }
    guard given == value else { throw ServiceError(.badQuery("\(name) may only be \(value)")) }
    return true
  }

  /// The length of a page.
  func limit(_ limits: Limits) throws -> Int {
    try integer("limit", in: 1...Int64(limits.maximumPage)).map(Int.init) ?? limits.defaultPage
  }

  /// What a page of the feed may hold.
  func pageLimits(_ limits: Limits) throws -> FeedStore.PageLimits {
    FeedStore.PageLimits(
      threads: try limit(limits), entries: limits.entriesPerThread, bytes: limits.pageBytes)
  }
}

extension Request {
  /// Reads the whole body as JSON of a type.
  ///
  /// - Throws: 408 for a body that takes too long, 413 for a body over the limit, 415 for another media type, 400 for what is not JSON
  ///   in UTF-8, 422 for what is not of the type.
  func json<Body: Decodable>(_ type: Body.Type, _ limits: Limits) async throws -> Body {
    let body = try await jsonBytes(atMost: limits.bodyBytes, within: limits.bodySeconds)
    return try JSONBody.decode(type, from: Data(body.readableBytesView))
  }

  /// Reads the whole body as vocabulary, with the errors of `json`.
  func vocabulary(_ limits: Limits) async throws -> PutVocabulary {
    let body = try await jsonBytes(atMost: limits.vocabularyBytes, within: limits.bodySeconds)
    return try JSONBody.read(body) { try PutVocabulary(json: $0, limits) }
  }

  /// A body of JSON, not looked into yet.
  private func jsonBytes(atMost limit: Int, within seconds: Int) async throws -> ByteBuffer {
    guard isJSON else { throw ServiceError(.unsupportedMediaType) }
    if let length = headers[.contentLength].flatMap(Int.init), length > limit {
      throw ServiceError(.bodyTooLarge(limit))
    }
    return try await wholeBody(atMost: limit, within: seconds)
  }

  private var isJSON: Bool { mediaType.map { $0 == "application/json" } ?? true }

  /// Whether the body is said to be JSON, a value a line, or nothing is said.
  var isNDJSON: Bool {
    let names = ["application/x-ndjson", "application/ndjson", "application/jsonl"]
    return mediaType.map(names.contains) ?? true
  }

  private var mediaType: String? {
    headers[.contentType]?.split(separator: ";").first?
      .trimmingCharacters(while: \.isWhitespace).lowercased()
  }

  private func wholeBody(atMost limit: Int, within seconds: Int) async throws -> ByteBuffer {
    let deadline = ContinuousClock.now + .seconds(seconds)
    var whole = ByteBuffer()
    for try await var part in body {
      guard whole.readableBytes + part.readableBytes <= limit else {
        throw ServiceError(.bodyTooLarge(limit))
      }
      // A body that stops arriving altogether ends with the connection's idle time.
      guard ContinuousClock.now < deadline else { throw ServiceError(.bodyTooSlow(seconds)) }
      if whole.readableBytes == 0 { whole = part } else { whole.writeBuffer(&part) }
    }
    return whole
  }
}

extension Substring {
  func trimmingCharacters(while condition: (Character) -> Bool) -> Substring {
    var trimmed = drop(while: condition)
    while let last = trimmed.last, condition(last) { trimmed.removeLast() }
    return trimmed
  }
}

/// Decoding with errors that say where and what, and never what was there.
enum JSONBody {
  static func decode<Body: Decodable>(_ type: Body.Type, from data: Data) throws -> Body {
    // The decoder would repair it.
    guard String(validating: data, as: UTF8.self) != nil else {
      throw ServiceError(.malformedJSON("the body is not valid UTF-8"))
    }
    guard data.withUnsafeBytes(isStrict) else { throw ServiceError(.notJSON) }
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch let error as InvalidValue {
      throw ServiceError(error)
    } catch let error as DecodingError {
      throw ServiceError(problem(of: error, in: data))
    }
  }

  /// Reads a body by hand, with the errors of `decode`.
  static func read<Body>(
    _ body: ByteBuffer, _ read: (UnsafeBufferPointer<UInt8>) throws -> Body
  ) throws -> Body {
    do {
      return try body.withUnsafeReadableBytes { bytes in
        try bytes.withMemoryRebound(to: UInt8.self) { try read($0) }
      }
    } catch let error as InvalidValue {
      // What comes behind the wrong place was not looked at.
      _ = try decode(Anything.self, from: Data(body.readableBytesView))
      throw ServiceError(error)
    } catch is MalformedJSON {
      throw ServiceError(.notJSON)
    }
  }

  /// False for what the decoder takes though RFC 8259 does not: a comma before the end of an object
  /// or an array, and UTF-16 and UTF-32, where the signs of JSON have bytes of zero; and for a
  /// control character in a string, which it only finds when it is asked for that string.
  private static func isStrict(_ json: UnsafeRawBufferPointer) -> Bool {
    var isInString = false
    var isEscaped = false
    var followsComma = false
    for byte in json {
      switch byte {
      case 0: return false
      case 1..<0x20 where isInString: return false
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\") where isInString: isEscaped = true
      case UInt8(ascii: "\""):
        isInString.toggle()
        followsComma = false
      case _ where isInString, UInt8(ascii: " "), 0x09, 0x0a, 0x0d: continue
      case UInt8(ascii: "}") where followsComma, UInt8(ascii: "]") where followsComma: return false
      default: followsComma = byte == UInt8(ascii: ",")
      }
    }
    return true
  }

  /// Decodes from any JSON.
  private struct Anything: Decodable { init(from decoder: any Decoder) {} }

  private static func problem(of error: DecodingError, in data: Data) -> Problem {
    switch error {
    case .keyNotFound(let key, let context):
      return .invalid(InvalidValue.pointer(context.codingPath + [key]), "must be there")
    case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
      return .invalid(
        InvalidValue.pointer(context.codingPath), "must be \(Self.name(of: type))")
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      return .invalid(InvalidValue.pointer(context.codingPath), "has a value that is not allowed")
    case .dataCorrupted where (try? JSONDecoder().decode(Anything.self, from: data)) != nil:
      // The decoder does not say where.
      return .invalid(
        "", "has a number that is not whole or out of range, or a string that is not Unicode")
    default: return .notJSON
    }
  }

  private static func name(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Int64.Type, is Int.Type: "a whole number"
    case is Double.Type: "a number"
    case is Bool.Type: "true or false"
    case is [Any].Type: "an array"
    default: "of another type"
    }
  }
}
