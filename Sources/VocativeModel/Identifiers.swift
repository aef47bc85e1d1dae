public import FoundationEssentials

/// A person with an account: the `sub` of their tokens. 1 to 128 bytes of UTF-8 without control
/// characters; compared byte by byte.
public struct UserID: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The id as the product's identity provider gave it.
  public let string: String

  /// Nil unless `string` is 1 to 128 bytes long and free of control characters.
  public init?(_ string: String) {
    guard (1...128).contains(string.utf8.count),
      string.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { return nil }
    self.string = string
  }

  /// An id that has been checked before, such as one read from the database.
  public init(trusted string: String) { self.string = string }

  public var description: String { string }

  /// The order of the bytes, which is also that of the database (collation "C").
  public static func < (left: UserID, right: UserID) -> Bool {
    left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
  }

  // Swift's strings compare by canonical equivalence; ids are bytes.
  public static func == (left: UserID, right: UserID) -> Bool {
    left.string.utf8.elementsEqual(right.string.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in string.utf8 { hasher.combine(byte) }
    hasher.combine(0xff as UInt8)
  }
}

/// The id of a thread, chosen by the client that makes it.
public struct ThreadID: Hashable, Sendable, CustomStringConvertible {
  public let uuid: UUID
  public init(_ uuid: UUID) { self.uuid = uuid }

  /// Nil unless `string` is a UUID in its usual form of 36 characters (RFC 9562).
  public init?(_ string: some StringProtocol) {
    guard let uuid = UUID(uuidString: String(string)) else { return nil }
    self.uuid = uuid
  }

  /// The UUID in lower case, as RFC 9562 asks writers to do.
  public var description: String { uuid.uuidString.lowercased() }
}

/// The id of an entry, chosen by the client that sends it and unique in its thread for ever: it is
/// the send's idempotency key.
public struct EntryID: Hashable, Sendable, CustomStringConvertible {
  public let uuid: UUID
  public init(_ uuid: UUID) { self.uuid = uuid }

  /// Nil unless `string` is a UUID in its usual form of 36 characters (RFC 9562).
  public init?(_ string: some StringProtocol) {
    guard let uuid = UUID(uuidString: String(string)) else { return nil }
    self.uuid = uuid
  }

  /// The UUID in lower case, as RFC 9562 asks writers to do.
  public var description: String { uuid.uuidString.lowercased() }
}

extension UserID: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = UserID(try container.decode(String.self)) else {
      throw InvalidValue(
        at: decoder.codingPath,
        "must be a user id: 1 to 128 bytes of UTF-8 without control characters")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(string)
  }
}

extension ThreadID: Codable {
  public init(from decoder: any Decoder) throws {
    guard let id = ThreadID(try decoder.singleValueContainer().decode(String.self)) else {
      throw InvalidValue(at: decoder.codingPath, "must be a UUID")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension EntryID: Codable {
  public init(from decoder: any Decoder) throws {
    guard let id = EntryID(try decoder.singleValueContainer().decode(String.self)) else {
      throw InvalidValue(at: decoder.codingPath, "must be a UUID")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
