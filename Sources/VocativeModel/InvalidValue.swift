/// A member of a request that is not what it has to be: a 422 with a pointer to it. It never holds
/// the value itself.
public struct InvalidValue: Error, Hashable, Sendable {
  /// Where it is, as a JSON Pointer (RFC 6901); empty for the whole body.
  public var pointer: String
  /// What it has to be, to follow upon the pointer: "must be a UUID".
  public var reason: String

  public init(_ pointer: String, _ reason: String) {
    self.pointer = pointer
    self.reason = reason
  }

  init(at path: [any CodingKey], _ reason: String) {
    self.init(Self.pointer(path), reason)
  }

  /// The JSON Pointer of a decoder's coding path.
  public static func pointer(_ path: [any CodingKey]) -> String {
    path.map { key in
      let token = key.intValue.map(String.init) ?? key.stringValue
      return "/" + token.replacing("~", with: "~0").replacing("/", with: "~1")
    }.joined()
  }
}

private struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension Decoder {
  /// A container that refuses members that `Key` does not name: a misspelt member is an error that
  /// says so, rather than silently without effect.
  func strictContainer<Key: CodingKey & CaseIterable>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    let known = Key.allCases.map(\.stringValue)
    for key in try container(keyedBy: AnyKey.self).allKeys where !known.contains(key.stringValue) {
      // The name of a field is the client's text, too; it is cut short.
      throw InvalidValue(
        at: codingPath + [AnyKey(stringValue: String(key.stringValue.prefix(64)))],
        "is not a known field; the fields are \(known.joined(separator: ", "))")
    }
    return try container(keyedBy: type)
  }
}
