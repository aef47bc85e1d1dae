import NIOConcurrencyHelpers

/// Something that becomes true once.
final class Flag: Sendable {
  private let value = NIOLockedValueBox(false)
  var isSet: Bool { value.withLockedValue { $0 } }
  func set() { value.withLockedValue { $0 = true } }
}
