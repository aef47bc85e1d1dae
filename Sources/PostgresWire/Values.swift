/// A `timestamptz`: microseconds since the Unix epoch, 1970-01-01T00:00:00Z.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Microseconds since the Unix epoch; negative before it.
  public var microseconds: Int64

  /// A timestamp so many microseconds after the Unix epoch.
  public init(microseconds: Int64) { self.microseconds = microseconds }

  public static func < (a: Timestamp, b: Timestamp) -> Bool { a.microseconds < b.microseconds }

  /// Microseconds from the Unix epoch to PostgreSQL's, 2000-01-01T00:00:00Z.
  static let postgresEpoch: Int64 = 946_684_800_000_000
}

/// A `jsonb` value as UTF-8 JSON text. The server checks that it is valid JSON.
public struct JSONB: Sendable, Hashable {
  /// UTF-8 JSON text.
  public var utf8: [UInt8]

  /// A value from UTF-8 JSON text.
  public init(utf8: [UInt8]) { self.utf8 = utf8 }

  /// A value from JSON text.
  public init(_ json: String) { utf8 = Array(json.utf8) }

  /// The only version of jsonb's binary form that PostgreSQL has.
  static let version: UInt8 = 1
}
