public import Logging
import NIOConcurrencyHelpers
public import Postgres
import PostgresWire
import ServiceLifecycle
public import VocativeModel

/// Tells those who follow feeds at this replica that they moved, here or at another replica.
///
/// A wake-up is a hint and no more. It goes out after the commit; those of other replicas travel
/// by NOTIFY, many users in one; and behind them the heads of all followed feeds are read every few
/// seconds, so that a lost hint only costs that delay.
public final class WakeUps: Sendable {
  private struct Follower {
    var user: UserID
    /// The highest head that was heard of.
    var known: Int64 = 0
    /// The feed may have moved, nobody knows where to.
    var isStale = false
    var continuation: AsyncStream<Void>.Continuation
  }
  private struct State {
    var followers: [UInt64: [UInt64: Follower]] = [:]
    var count = 0
    var nextID: UInt64 = 0
    /// Users to tell the other replicas about.
    var outgoing: Set<UInt64> = []
  }

  private let state = NIOLockedValueBox(State())
  private let pending: AsyncStream<Void>
  private let hint: AsyncStream<Void>.Continuation

  public init() {
    (pending, hint) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  // MARK: Following

  /// A follower of one feed; it ends when it is cancelled or thrown away.
  public final class Subscription: Sendable {
    /// Yields when the feed may have moved, and with each beat of the heart; what is not taken in
    /// time is merged into one. Ends with the subscription.
    public let signals: AsyncStream<Void>
    private let moved: @Sendable (Int64) -> Bool
    private let end: @Sendable () -> Void

    fileprivate init(
      signals: AsyncStream<Void>, moved: @escaping @Sendable (Int64) -> Bool,
      end: @escaping @Sendable () -> Void
    ) {
      self.signals = signals
      self.moved = moved
      self.end = end
    }

    deinit { end() }

    /// Whether there may be something above this place of the feed.
    public func hasMoved(beyond place: Int64) -> Bool { moved(place) }

    /// Ends `signals`.
    public func cancel() { end() }
  }

  /// Follows a user's feed from now on; nil where `limit` followers of this user are there already.
  public func follow(_ user: UserID, limit: Int) -> Subscription? {
    let key = Self.key(of: user)
    let (signals, continuation) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id: UInt64? = state.withLockedValue { state in
      let present = state.followers[key]?.values.count { $0.user == user } ?? 0
      guard present < limit else { return nil }
      state.nextID += 1
      state.count += 1
      state.followers[key, default: [:]][state.nextID] = Follower(
        user: user, continuation: continuation)
      return state.nextID
    }
    guard let id else { return nil }
    return Subscription(
      signals: signals,
      moved: { [weak self] place in self?.hasMoved(key, id, beyond: place) ?? false },
      end: { [weak self] in
        self?.forget(key, id)
        continuation.finish()
      })
  }

  private func hasMoved(_ key: UInt64, _ id: UInt64, beyond place: Int64) -> Bool {
    state.withLockedValue { state in
      guard let follower = state.followers[key]?[id] else { return false }
      state.followers[key]?[id]?.isStale = false
      return follower.isStale || follower.known > place
    }
  }

  /// Followers at this replica.
  public var followers: Int { state.withLockedValue { $0.count } }

  private func forget(_ key: UInt64, _ id: UInt64) {
    state.withLockedValue { state in
      guard state.followers[key]?.removeValue(forKey: id) != nil else { return }
      state.count -= 1
      if state.followers[key]?.isEmpty == true { state.followers[key] = nil }
    }
  }

  // MARK: Waking

  /// A transaction of this replica has moved these feeds, and is committed.
  func moved(_ heads: [FeedHead]) {
    guard !heads.isEmpty else { return }
    wake(heads)
    let first = state.withLockedValue { state in
      defer { for head in heads { state.outgoing.insert(Self.key(of: head.user)) } }
      return state.outgoing.isEmpty
    }
    if first { hint.yield() }
  }

  private func wake(_ heads: [FeedHead]) {
    var woken: [AsyncStream<Void>.Continuation] = []
    state.withLockedValue { state in
      for head in heads {
        let key = Self.key(of: head.user)
        guard let followers = state.followers[key] else { continue }
        for (id, follower) in followers
        where follower.user == head.user && follower.known < head.seq {
          state.followers[key]?[id]?.known = head.seq
          woken.append(follower.continuation)
        }
      }
    }
    for continuation in woken { continuation.yield() }
  }

  private func wake(keys: [UInt64]) {
    let woken = state.withLockedValue { state in
      var woken: [AsyncStream<Void>.Continuation] = []
      for key in keys {
        guard let followers = state.followers[key] else { continue }
        for (id, follower) in followers {
          state.followers[key]?[id]?.isStale = true
          woken.append(follower.continuation)
        }
      }
      return woken
    }
    for continuation in woken { continuation.yield() }
  }

  /// One beat of the heart for a part of the followers, so that not all write at the same time.
  private func beat(_ slot: UInt64) {
    let due = state.withLockedValue { state in
      state.followers.values.flatMap { followers in
        followers.filter { $0.key % Self.heartSlots == slot }.map(\.value.continuation)
      }
    }
    for continuation in due { continuation.yield() }
  }

  // MARK: Other replicas

  private static let channel = "vocative_wake"
  /// NOTIFY takes payloads of less than 8,000 bytes: 8 for the replica, 16 for each user.
  private static let usersPerNotification = 480
  /// The first after a quiet time goes out at once; behind it one at a time, this long apart.
  private static let pauseAfterAnnouncement = Duration.milliseconds(5)
  /// Parts that the followers are split into for the heart to beat in turn.
  private static let heartSlots: UInt64 = 16

  /// Exchanges wake-ups with the other replicas and polls the heads, until graceful shutdown.
  ///
  /// - Parameters:
  ///   - replica: what this replica is told by from others, 8 characters.
  ///   - heartbeat: how often each subscription gives a signal even if nothing moves.
  ///   - poll: how often the heads of all followed feeds are read.
  public func run(
    _ client: PostgresClient, replica: String, heartbeat: Duration, poll: Duration, logger: Logger
  ) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.announce(client, replica, logger) }
      group.addTask { await self.hear(client, replica, logger) }
      group.addTask { await self.pollHeads(client, every: poll, logger) }
      group.addTask { await self.keepBeating(heartbeat) }
      // One watch for all: to watch in each loop costs more than what the loops do.
      group.addTask { try? await gracefulShutdown() }
      await group.next()
      group.cancelAll()
    }
  }

  private func announce(_ client: PostgresClient, _ replica: String, _ logger: Logger) async {
    for await _ in pending {
      var users = state.withLockedValue { state in
        defer { state.outgoing = [] }
        return Array(state.outgoing)
      }[...]
      while !users.isEmpty {
        let payload =
          replica + users.prefix(Self.usersPerNotification).map(Self.hexadecimal).joined()
        users = users.dropFirst(Self.usersPerNotification)
        do {
          _ = try await client.write(Statements.wake, Parameters(payload))
        } catch {
          // The poll makes up for it.
          logger.debug("a wake-up was not sent", metadata: ["error": "\(error)"])
        }
      }
      // What moves meanwhile is told together: a notification wakes every replica.
      guard await Self.pause(Self.pauseAfterAnnouncement) else { return }
    }
  }

  private func hear(_ client: PostgresClient, _ replica: String, _ logger: Logger) async {
    for await event in client.listen(Self.channel) {
      switch event {
      case .reconnected: await readHeads(client, logger)
      case .notification(let notification):
        guard !notification.payload.hasPrefix(replica) else { continue }
        wake(keys: Self.keys(in: notification.payload))
      }
    }
  }

  private func keepBeating(_ interval: Duration) async {
    var slot: UInt64 = 0
    while await Self.pause(interval / Int(Self.heartSlots)) {
      beat(slot)
      slot = (slot + 1) % Self.heartSlots
    }
  }

  /// False where the service is to stop.
  private static func pause(_ duration: Duration) async -> Bool {
    do {
      try await Task.sleep(for: duration)
      return true
    } catch {
      return false
    }
  }

  private func pollHeads(
    _ client: PostgresClient, every interval: Duration, _ logger: Logger
  ) async {
    while await Self.pause(interval) { await readHeads(client, logger) }
  }

  /// Wakes those whose feeds have moved, as the database has it.
  private func readHeads(_ client: PostgresClient, _ logger: Logger) async {
    var users = Array(
      state.withLockedValue { state in
        Set(state.followers.values.flatMap { $0.values.map(\.user.string) })
      })[...]
    while !users.isEmpty {
      do {
        let rows = try await client.query(
          Statements.feedHeads, Parameters(Array(users.prefix(1000))))
        wake(try FeedHead.decode(rows))
      } catch {
        logger.debug("the feeds' heads were not read", metadata: ["error": "\(error)"])
      }
      users = users.dropFirst(1000)
    }
  }

  // MARK: Keys

  /// FNV-1a, 64 bits: the same at every replica. Users whose keys collide wake each other in vain.
  private static func key(of user: UserID) -> UInt64 {
    user.string.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  private static func hexadecimal(_ key: UInt64) -> String {
    let digits = String(key, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func keys(in payload: String) -> [UInt64] {
    var rest = Array(payload.utf8.dropFirst(8))[...]
    var keys: [UInt64] = []
    while rest.count >= 16 {
      if let key = UInt64(String(decoding: rest.prefix(16), as: UTF8.self), radix: 16) {
        keys.append(key)
      }
      rest = rest.dropFirst(16)
    }
    return keys
  }
}
