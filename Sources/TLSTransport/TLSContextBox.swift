import NIOConcurrencyHelpers

/// The context that new connections use. Connections keep the one that they began with.
public final class TLSContextBox: Sendable {
  private let box: NIOLockedValueBox<TLSContext>

  public init(_ context: TLSContext) { box = NIOLockedValueBox(context) }

  /// The context for a new connection.
  public var current: TLSContext { box.withLockedValue { $0 } }

  /// Swaps the context for connections from now on.
  public func replace(with context: TLSContext) { box.withLockedValue { $0 = context } }
}
