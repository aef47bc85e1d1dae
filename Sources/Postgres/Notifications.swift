import NIOConcurrencyHelpers
public import PostgresWire

/// What a listener gets.
public enum NotificationEvent: Sendable, Hashable {
  /// Listening has begun, or has begun again: earlier notifications may have been missed.
  case reconnected
  /// A notification.
  case notification(Notification)
}

/// The notifications of one channel. Ends when the client shuts down.
///
/// At most 1,024 wait for a slow reader; beyond it the oldest are dropped.
public typealias Notifications = AsyncStream<NotificationEvent>

/// Who listens to what.
final class Subscriptions: Sendable {
  private struct State {
    var next = 0
    var continuations: [String: [Int: Notifications.Continuation]] = [:]
    var closed = false
  }
  private let state = NIOLockedValueBox(State())

  func subscribe(to channel: String, reactor: Reactor) -> Notifications {
    let (stream, continuation) = Notifications.makeStream(bufferingPolicy: .bufferingNewest(1024))
    let id: Int? = state.withLockedValue { state in
      guard !state.closed else { return nil }
      state.next += 1
      state.continuations[channel, default: [:]][state.next] = continuation
      return state.next
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self, weak reactor] _ in
      guard let self, let reactor else { return }
      if self.remove(id, from: channel) { reactor.listen(announcing: nil) }
    }
    reactor.listen(announcing: channel)
    return stream
  }

  /// The channels that somebody listens to.
  var channels: Set<String> { state.withLockedValue { Set($0.continuations.keys) } }

  /// Whether this was the last listener of its channel.
  private func remove(_ id: Int, from channel: String) -> Bool {
    state.withLockedValue { state in
      state.continuations[channel]?[id] = nil
      guard state.continuations[channel]?.isEmpty == true else { return false }
      state.continuations[channel] = nil
      return true
    }
  }

  func yield(_ event: NotificationEvent, on channel: String) {
    let continuations = state.withLockedValue { state in
      state.continuations[channel].map { Array($0.values) } ?? []
    }
    for continuation in continuations { continuation.yield(event) }
  }

  func finish() {
    let continuations = state.withLockedValue { state in
      state.closed = true
      defer { state.continuations = [:] }
      return state.continuations.values.flatMap(\.values)
    }
    for continuation in continuations { continuation.finish() }
  }
}
