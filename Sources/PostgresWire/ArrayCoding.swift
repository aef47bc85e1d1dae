public import struct FoundationEssentials.UUID

// Arrays in binary form (`array_send` in the server's arrayfuncs.c): the number of dimensions, a
// flag for NULLs, the element type, then length and lower bound of each dimension, then the
// elements, each with its length. `[UInt8]` is the exception: it is bytea, never an array.

/// A type whose arrays PostgreSQL knows under an OID of their own.
public protocol PostgresArrayElement: PostgresEncodable, PostgresDecodable {
  /// The type of an array of it.
  static var postgresArrayType: PostgresType { get }
}

extension Bool: PostgresArrayElement {
  public static var postgresArrayType: PostgresType { .boolArray }
}
extension Int16: PostgresArrayElement {
  public static var postgresArrayType: PostgresType { .int2Array }
}
extension Int32: PostgresArrayElement {
  public static var postgresArrayType: PostgresType { .int4Array }
}
extension Int64: PostgresArrayElement {
  public static var postgresArrayType: PostgresType { .int8Array }
}
extension Int: PostgresArrayElement {
  public static var postgresArrayType: PostgresType { .int8Array }
}
extension Double: PostgresArrayElement {
  public static var postgresArrayType: PostgresType { .float8Array }
}
extension String: PostgresArrayElement {
  public static var postgresArrayType: PostgresType { .textArray }
}
extension UUID: PostgresArrayElement {
  public static var postgresArrayType: PostgresType { .uuidArray }
}
extension Timestamp: PostgresArrayElement {
  public static var postgresArrayType: PostgresType { .timestamptzArray }
}
extension JSONB: PostgresArrayElement {
  public static var postgresArrayType: PostgresType { .jsonbArray }
}
extension Optional: PostgresArrayElement where Wrapped: PostgresArrayElement {
  public static var postgresArrayType: PostgresType { Wrapped.postgresArrayType }
}

/// A byte: an array of it is a `bytea`. It is no parameter or column of its own.
extension UInt8: PostgresArrayElement {
  public static var postgresType: PostgresType { .bytea }
  public static var postgresArrayType: PostgresType { .bytea }
  public func encode(into buffer: inout [UInt8]) -> String? {
    buffer.append(self)
    return nil
  }
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> UInt8 {
    guard type == .bytea, bytes.count == 1 else { throw mismatch(bytes, type) }
    return bytes[0]
  }
}

/// An array of bytea has `[UInt8]` as its element.
extension Array: PostgresArrayElement where Element: PostgresArrayElement {
  public static var postgresArrayType: PostgresType {
    Element.self == UInt8.self ? .byteaArray : .unknown
  }
}

extension Array: PostgresEncodable where Element: PostgresArrayElement {
  public static var postgresType: PostgresType { Element.postgresArrayType }

  public func encode(into buffer: inout [UInt8]) -> String? {
    // Not `as?` alone: an empty array is an array of anything.
    if Element.self == UInt8.self, let bytes = self as? [UInt8] {
      buffer.append(contentsOf: bytes)
      return nil
    }
    guard Self.postgresType != .unknown else { return "is an array of arrays" }
    guard let length = Int32(exactly: count) else { return "has too many elements" }
    buffer.append(bigEndian: Int32(isEmpty ? 0 : 1))
    buffer.append(bigEndian: Int32(contains { $0.isNull } ? 1 : 0))
    buffer.append(bigEndian: Element.postgresType.rawValue)
    if isEmpty { return nil }
    buffer.append(bigEndian: length)
    buffer.append(bigEndian: Int32(1))
    for element in self {
      if let problem = buffer.appendField(element) { return problem }
    }
    return nil
  }
}

extension Array: PostgresDecodable where Element: PostgresArrayElement {
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, type: PostgresType
  ) throws(PostgresError) -> [Element] {
    if Element.self == UInt8.self {
      guard type == .bytea else { throw mismatch(bytes, type) }
      return unsafeBitCast(Array<UInt8>(bytes), to: [Element].self)
    }
    guard bytes.count >= 12 else { throw mismatch(bytes, type) }
    let dimensions = bytes.bigEndian(Int32.self)
    let elementType = PostgresType(rawValue: bytes.bigEndian(UInt32.self, at: 8))
    if dimensions == 0 { return [] }
    guard dimensions == 1, bytes.count >= 20 else { throw mismatch(bytes, type) }
    let length = Int(bytes.bigEndian(Int32.self, at: 12))
    // Every element takes four bytes at least: a length beyond that is a lie.
    guard length >= 0, length <= (bytes.count - 20) / 4 else { throw mismatch(bytes, type) }
    var elements: [Element] = []
    elements.reserveCapacity(length)
    var offset = 20
    for _ in 0..<length {
      guard offset + 4 <= bytes.count else { throw mismatch(bytes, type) }
      let size = Int(bytes.bigEndian(Int32.self, at: offset))
      offset += 4
      if size == -1 {
        elements.append(try Element.decodeNull())
        continue
      }
      guard size >= 0, size <= bytes.count - offset else { throw mismatch(bytes, type) }
      let element = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + size])
      elements.append(try Element.decode(element, type: elementType))
      offset += size
    }
    guard offset == bytes.count else { throw mismatch(bytes, type) }
    return elements
  }
}
