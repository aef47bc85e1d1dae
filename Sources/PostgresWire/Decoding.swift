public import struct FoundationEssentials.UUID

/// A Swift value that can be made from a column in PostgreSQL's binary form.
public protocol PostgresDecodable {
  /// The value of a non-NULL column.
  ///
  /// - Parameters:
  ///   - bytes: the column in binary form, valid during the call only.
  ///   - type: the column's type.
  /// - Throws: `.decoding` when type or bytes do not fit.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> Self

  /// The value of a NULL column. Throws `.decoding` unless the type is an Optional.
  static func decodeNull() throws(PostgresError) -> Self
}

extension PostgresDecodable {
  public static func decodeNull() throws(PostgresError) -> Self {
    throw PostgresError(.decoding, message: "NULL where \(Self.self) is asked for")
  }

  static func mismatch(
    _ bytes: UnsafeRawBufferPointer, _ type: PostgresType
  ) -> PostgresError {
    PostgresError(
      .decoding, message: "\(type) of \(bytes.count) bytes is not a valid \(Self.self)")
  }
}

extension UnsafeRawBufferPointer {
  /// The big-endian integer at an offset that has been checked to be within bounds.
  func bigEndian<T: FixedWidthInteger>(_: T.Type, at offset: Int = 0) -> T {
    T(bigEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }
}

extension Bool: PostgresDecodable {
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> Bool {
    guard type == .bool, bytes.count == 1, bytes[0] <= 1 else { throw mismatch(bytes, type) }
    return bytes[0] == 1
  }
}

extension FixedWidthInteger where Self: PostgresDecodable {
  /// An integer column of any width whose value fits.
  static func decodeInteger(
    _ bytes: UnsafeRawBufferPointer, _ type: PostgresType
  ) throws(PostgresError) -> Self {
    let value: Self? =
      switch (type, bytes.count) {
      case (.int8, 8): Self(exactly: bytes.bigEndian(Int64.self))
      case (.int4, 4): Self(exactly: bytes.bigEndian(Int32.self))
      case (.int2, 2): Self(exactly: bytes.bigEndian(Int16.self))
      case (.oid, 4): Self(exactly: bytes.bigEndian(UInt32.self))
      default: nil
      }
    guard let value else { throw mismatch(bytes, type) }
    return value
  }
}

extension Int: PostgresDecodable {
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> Int { try decodeInteger(bytes, type) }
}

extension Int64: PostgresDecodable {
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> Int64 { try decodeInteger(bytes, type) }
}

extension Int32: PostgresDecodable {
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> Int32 { try decodeInteger(bytes, type) }
}

extension Int16: PostgresDecodable {
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> Int16 { try decodeInteger(bytes, type) }
}

extension Double: PostgresDecodable {
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> Double {
    switch (type, bytes.count) {
    case (.float8, 8): return Double(bitPattern: bytes.bigEndian(UInt64.self))
    case (.float4, 4): return Double(Float(bitPattern: bytes.bigEndian(UInt32.self)))
    default: throw mismatch(bytes, type)
    }
  }
}

extension String: PostgresDecodable {
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> String {
    switch type {
    case .text, .varchar, .bpchar, .name, .unknown, .json: break
    default: throw mismatch(bytes, type)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw mismatch(bytes, type) }
    return text
  }
}

extension UUID: PostgresDecodable {
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> UUID {
    guard type == .uuid, bytes.count == 16 else { throw mismatch(bytes, type) }
    let b = bytes
    return UUID(
      uuid: (
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7],
        b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
      ))
  }
}

extension Timestamp: PostgresDecodable {
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> Timestamp {
    guard type == .timestamptz, bytes.count == 8 else { throw mismatch(bytes, type) }
    let (value, overflow) = bytes.bigEndian(Int64.self)
      .addingReportingOverflow(postgresEpoch)
    guard !overflow else {
      throw PostgresError(.decoding, message: "an infinite timestamptz is not a valid Timestamp")
    }
    return Timestamp(microseconds: value)
  }
}

extension JSONB: PostgresDecodable {
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> JSONB {
    if type == .json { return JSONB(utf8: Array(bytes)) }
    guard type == .jsonb, bytes.first == version else { throw mismatch(bytes, type) }
    return JSONB(utf8: Array(bytes.dropFirst()))
  }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> Wrapped? { try Wrapped.decode(bytes, type: type) }

  public static func decodeNull() throws(PostgresError) -> Wrapped? { nil }
}
