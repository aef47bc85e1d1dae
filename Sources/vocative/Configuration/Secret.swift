/// A value that shows itself to nobody who prints, interpolates or dumps it.
struct Secret<Value: Sendable & Equatable>: Sendable, Equatable {
  /// The value itself. Whoever takes it out answers for where it goes.
  let value: Value

  init(_ value: Value) { self.value = value }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  var description: String { "<redacted>" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: []) }
}
