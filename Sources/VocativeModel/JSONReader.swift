/// Reads JSON (RFC 8259) straight from bytes, value by value: the counterpart of `JSONWriter`, for
/// bodies of many thousand strings, where a `Decoder` takes most of the time. As strict as RFC 8259:
/// whole UTF-8 only, no trailing commas, no control characters in strings, no name twice.
struct JSONReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var index = 0

  /// Why a document cannot be read.
  enum Failure: Error, Hashable {
    /// It is not JSON.
    case malformed
    /// A value is not what it has to be. The rest may still be malformed.
    case invalid(InvalidValue)
  }

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// The kinds of value, by their first byte.
  enum Kind { case object, array, string, number, literal }

  /// The kind of the value that comes next.
  mutating func kind() throws(Failure) -> Kind {
    guard let byte = next() else { throw .malformed }
    switch byte {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): return .literal
    default: throw .malformed
    }
  }

  /// Reads an object; `member` is called behind each name and must read its value.
  mutating func object(
    _ pointer: @autoclosure () -> String,
    _ member: (inout JSONReader, _ name: String) throws(Failure) -> Void
  ) throws(Failure) {
    guard try kind() == .object else { throw Self.invalid(pointer(), "must be an object") }
    index += 1
    if take(UInt8(ascii: "}")) { return }
    repeat {
      guard next() == UInt8(ascii: "\"") else { throw .malformed }
      let name = try string(pointer())
      guard take(UInt8(ascii: ":")) else { throw .malformed }
      try member(&self, name)
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw .malformed }
  }

  /// Reads an array; `element` is called before each value, with its index, and must read it.
  mutating func array(
    _ pointer: @autoclosure () -> String,
    _ element: (inout JSONReader, _ index: Int) throws(Failure) -> Void
  ) throws(Failure) {
    guard try kind() == .array else { throw Self.invalid(pointer(), "must be an array") }
    index += 1
    if take(UInt8(ascii: "]")) { return }
    var count = 0
    repeat {
      try element(&self, count)
      count += 1
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw .malformed }
  }

  /// Reads a string.
  mutating func string(_ pointer: @autoclosure () -> String) throws(Failure) -> String {
    guard try kind() == .string else { throw Self.invalid(pointer(), "must be a string") }
    index += 1
    let start = index
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        let text = UnsafeBufferPointer(rebasing: bytes[start..<index])
        index += 1
        guard let string = String(validating: text, as: UTF8.self) else { throw .malformed }
        return string
      case UInt8(ascii: "\\"): return try escapedString(from: start, pointer())
      case 0..<0x20: throw .malformed
      default: index += 1
      }
    }
    throw .malformed
  }

  /// Reads a whole number.
  mutating func integer(_ pointer: @autoclosure () -> String) throws(Failure) -> Int64 {
    guard try kind() == .number else { throw Self.invalid(pointer(), "must be a whole number") }
    let start = index
    while index < bytes.count, Self.isNumeric(bytes[index]) { index += 1 }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    guard let value = Int64(text), String(value) == text else {
      throw Self.invalid(pointer(), "must be a whole number")
    }
    return value
  }

  /// Reads null, if that comes next.
  mutating func isNull() -> Bool {
    guard next() == UInt8(ascii: "n"), bytes[index...].starts(with: "null".utf8) else {
      return false
    }
    index += 4
    return true
  }

  /// Throws unless the document is over.
  mutating func end() throws(Failure) {
    guard next() == nil else { throw .malformed }
  }

  static func invalid(_ pointer: String, _ reason: String) -> Failure {
    .invalid(InvalidValue(pointer, reason))
  }

  // MARK: Pieces

  private static func isNumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
      UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  /// The next byte that is not white space; nil at the end.
  private mutating func next() -> UInt8? {
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: " "), 0x09, 0x0a, 0x0d: index += 1
      default: return bytes[index]
      }
    }
    return nil
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next() == byte else { return false }
    index += 1
    return true
  }

  /// A string with escapes; `index` is at the first.
  private mutating func escapedString(
    from start: Int, _ pointer: String
  ) throws(Failure) -> String {
    var text = Array(bytes[start..<index])
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let string = String(validating: text, as: UTF8.self) else { throw .malformed }
        return string
      case UInt8(ascii: "\\"): try escape(into: &text, pointer)
      case 0..<0x20: throw .malformed
      default: text.append(byte)
      }
    }
    throw .malformed
  }

  private mutating func escape(into text: inout [UInt8], _ pointer: String) throws(Failure) {
    guard index < bytes.count else { throw .malformed }
    index += 1
    switch bytes[index - 1] {
    case UInt8(ascii: "\""): text.append(UInt8(ascii: "\""))
    case UInt8(ascii: "\\"): text.append(UInt8(ascii: "\\"))
    case UInt8(ascii: "/"): text.append(UInt8(ascii: "/"))
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0c)
    case UInt8(ascii: "n"): text.append(0x0a)
    case UInt8(ascii: "r"): text.append(0x0d)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      guard let scalar = try scalar() else {
        throw Self.invalid(pointer, "has a surrogate that is not one of a pair")
      }
      text.append(contentsOf: UTF8.encode(scalar)!)
    default: throw .malformed
    }
  }

  /// What follows upon `\u`: four digits, or with a surrogate a pair of them; nil where it is alone.
  private mutating func scalar() throws(Failure) -> Unicode.Scalar? {
    let first = try codeUnit()
    guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
    guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
      bytes[index + 1] == UInt8(ascii: "u")
    else { return nil }
    index += 2
    let second = try codeUnit()
    guard UTF16.isTrailSurrogate(second) else { return nil }
    return UTF16.decode(UTF16.EncodedScalar([first, second]))
  }

  private mutating func codeUnit() throws(Failure) -> UInt16 {
    guard index + 4 <= bytes.count else { throw .malformed }
    var value: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue else {
        throw .malformed
      }
      value = value << 4 | UInt16(digit)
      index += 1
    }
    return value
  }
}
