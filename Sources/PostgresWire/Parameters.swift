public import struct FoundationEssentials.UUID

/// A statement's parameters in PostgreSQL's binary wire form, in one buffer.
public struct Parameters: Sendable {
  /// For each parameter its length as a big-endian Int32 (-1 for NULL), then its bytes.
  package private(set) var buffer: [UInt8] = []
  /// The number of parameters.
  public private(set) var count = 0
  /// Why these parameters cannot be sent; found on `append`, thrown before anything is sent.
  package private(set) var flaw: PostgresError?

  /// No parameters.
  public init() {}

  /// The given values, as `$1`, `$2` …
  public init<each V: PostgresEncodable>(_ value: repeat each V) {
    buffer.reserveCapacity(64)
    repeat append(each value)
  }

  /// Adds the next parameter.
  ///
  /// A value that PostgreSQL cannot hold (text with a NUL byte) makes whatever uses these
  /// parameters throw `.badParameter` before anything is sent.
  public mutating func append(_ value: some PostgresEncodable) {
    count += 1
    guard count <= Int(UInt16.max) else {
      flaw = flaw ?? .badParameter(number: count, "has more than 65535 parameters before it")
      return
    }
    if let problem = buffer.appendField(value) {
      flaw = flaw ?? .badParameter(number: count, problem)
    }
  }

  /// Adds NULL as the next parameter, whatever its type.
  public mutating func appendNull() {
    count += 1
    buffer.append(bigEndian: Int32(-1))
  }
}

/// A Swift value that can be a parameter.
public protocol PostgresEncodable: Sendable {
  /// The type that the value's binary form is of.
  static var postgresType: PostgresType { get }
  /// Whether the value is SQL NULL.
  var isNull: Bool { get }
  /// Appends the value's binary form; returns what is wrong with a value that cannot be sent. The
  /// text never holds the value.
  func encode(into buffer: inout [UInt8]) -> String?
}

extension PostgresEncodable {
  public var isNull: Bool { false }
}

extension [UInt8] {
  mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }

  /// Appends length and bytes; returns what is wrong with a value that cannot be sent.
  mutating func appendField(_ value: some PostgresEncodable) -> String? {
    if value.isNull {
      append(bigEndian: Int32(-1))
      return nil
    }
    let start = count
    append(bigEndian: Int32(0))
    if let problem = value.encode(into: &self) { return problem }
    let length = count - start - 4
    guard let wireLength = Int32(exactly: length), length <= 0x3FFF_FFFF else {
      return "is larger than 1 GiB"
    }
    Swift.withUnsafeBytes(of: wireLength.bigEndian) { bytes in
      for offset in 0..<4 { self[start + offset] = bytes[offset] }
    }
    return nil
  }
}

extension Bool: PostgresEncodable {
  public static var postgresType: PostgresType { .bool }
  public func encode(into buffer: inout [UInt8]) -> String? {
    buffer.append(self ? 1 : 0)
    return nil
  }
}

extension Int16: PostgresEncodable {
  public static var postgresType: PostgresType { .int2 }
  public func encode(into buffer: inout [UInt8]) -> String? {
    buffer.append(bigEndian: self)
    return nil
  }
}

extension Int32: PostgresEncodable {
  public static var postgresType: PostgresType { .int4 }
  public func encode(into buffer: inout [UInt8]) -> String? {
    buffer.append(bigEndian: self)
    return nil
  }
}

extension Int64: PostgresEncodable {
  public static var postgresType: PostgresType { .int8 }
  public func encode(into buffer: inout [UInt8]) -> String? {
    buffer.append(bigEndian: self)
    return nil
  }
}

extension Int: PostgresEncodable {
  public static var postgresType: PostgresType { .int8 }
  public func encode(into buffer: inout [UInt8]) -> String? {
    buffer.append(bigEndian: Int64(self))
    return nil
  }
}

extension Double: PostgresEncodable {
  public static var postgresType: PostgresType { .float8 }
  public func encode(into buffer: inout [UInt8]) -> String? {
    buffer.append(bigEndian: bitPattern)
    return nil
  }
}

extension String: PostgresEncodable {
  public static var postgresType: PostgresType { .text }
  public func encode(into buffer: inout [UInt8]) -> String? {
    let start = buffer.count
    buffer.append(contentsOf: utf8)
    return buffer[start...].contains(0) ? "is text with a NUL byte, which PostgreSQL refuses" : nil
  }
}

extension UUID: PostgresEncodable {
  public static var postgresType: PostgresType { .uuid }
  public func encode(into buffer: inout [UInt8]) -> String? {
    withUnsafeBytes(of: uuid) { buffer.append(contentsOf: $0) }
    return nil
  }
}

extension Timestamp: PostgresEncodable {
  public static var postgresType: PostgresType { .timestamptz }
  public func encode(into buffer: inout [UInt8]) -> String? {
    let (value, overflow) = microseconds.subtractingReportingOverflow(Self.postgresEpoch)
    guard !overflow else { return "is a timestamp outside of PostgreSQL's range" }
    buffer.append(bigEndian: value)
    return nil
  }
}

extension JSONB: PostgresEncodable {
  public static var postgresType: PostgresType { .jsonb }
  public func encode(into buffer: inout [UInt8]) -> String? {
    buffer.append(Self.version)
    buffer.append(contentsOf: utf8)
    return utf8.contains(0) ? "is JSON with a NUL byte, which PostgreSQL refuses" : nil
  }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
  public static var postgresType: PostgresType { Wrapped.postgresType }
  public var isNull: Bool { self?.isNull ?? true }
  public func encode(into buffer: inout [UInt8]) -> String? { self?.encode(into: &buffer) }
}
