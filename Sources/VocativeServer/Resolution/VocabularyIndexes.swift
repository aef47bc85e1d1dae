import NIOConcurrencyHelpers
import NameMatching
import VocativeModel
import VocativeStorage

/// Indexes of users' vocabularies, made from PostgreSQL on first use and shared by all callers.
///
/// Each use looks at one row of the user (the head of their feed and the revision of the type), so
/// that no answer is older than what was committed before it, on any replica. Where the feed has
/// moved, it looks at the threads that moved, for most of what moves a feed gives no name; an index
/// is made anew when what it was made from has changed. The least recently used go when all together
/// take more than the budget.
///
/// What threads give stands in the order of activity in which it was when the index was made.
final class VocabularyIndexes: Sendable {
  /// An index, and what it was made from.
  struct Indexed: Sendable {
    var resolver: Resolver
    var revision: Int64
    /// The head of the user's feed when it was known to be current.
    var head: Int64
    /// A fingerprint of the names in each of the user's threads; nil where they were too many to
    /// have all of them in the index, so that activity alone may bring others in.
    fileprivate var names: [ThreadID: Int64]?
  }

  private struct Key: Hashable {
    var user: UserID
    var type: VocabularyType
  }
  private struct Held {
    var indexed: Indexed
    var lastUse: UInt64
  }
  private struct State {
    var held: [Key: Held] = [:]
    var building: [Key: Task<Indexed, any Error>] = [:]
    var bytes = 0
    var uses: UInt64 = 0
  }

  private let vocabulary: VocabularyStore
  private let budget: Int
  private let state = NIOLockedValueBox(State())

  /// - Parameter budget: bytes that all indexes may take.
  init(vocabulary: VocabularyStore, budget: Int) {
    self.vocabulary = vocabulary
    self.budget = budget
  }

  /// What all indexes take now, in bytes.
  var bytes: Int { state.withLockedValue(\.bytes) }

  /// How long a revision may take to arrive that the caller says is stored.
  private static let patience = Duration.seconds(2)

  /// The index of a user's strings of a type, as they are now.
  ///
  /// - Parameter revision: what the vocabulary's revision is at least.
  /// - Throws: 409 `revision-not-reached`; `PostgresError`.
  func index(
    for user: UserID, _ type: VocabularyType, atLeast revision: Int64
  ) async throws -> Indexed {
    let key = Key(user: user, type: type)
    let deadline = ContinuousClock.now + Self.patience
    while true {
      let now = try await vocabulary.head(of: user, type)
      if now.revision >= revision {
        if let current = try await current(key, now) { return current }
        let built = try await build(key)
        // One that was under way may have begun before this caller came.
        if built.head >= now.feed { return built }
        continue
      }
      guard ContinuousClock.now < deadline else {
        throw ServiceError(
          .conflict(
            "revision-not-reached", "The vocabulary has not reached this revision",
            "it is at revision \(now.revision)"))
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// What is held, if it is as new as the user's row says.
  private func current(_ key: Key, _ now: VocabularyStore.Head) async throws -> Indexed? {
    guard let held = use(key), held.revision == now.revision else { return nil }
    if held.head >= now.feed || !key.type.hasDerivedNames { return held }
    guard let names = held.names else { return nil }
    let moved = try await vocabulary.names(of: key.user, since: held.head)
    guard moved.allSatisfy({ thread, fingerprint in names[thread] == fingerprint }) else {
      return nil
    }
    state.withLockedValue { state in
      // Unless another has come meanwhile, about which nothing is known.
      if state.held[key]?.indexed.head == held.head {
        state.held[key]?.indexed.head = now.feed
      }
    }
    return held
  }

  private func use(_ key: Key) -> Indexed? {
    state.withLockedValue { state in
      guard var held = state.held[key] else { return nil }
      state.uses += 1
      held.lastUse = state.uses
      state.held[key] = held
      return held.indexed
    }
  }

  private func build(_ key: Key) async throws -> Indexed {
    let task = state.withLockedValue { state in
      if let task = state.building[key] { return task }
      // Not of this caller alone, and too long for an event loop.
      let task = Task.detached { try await self.make(key) }
      state.building[key] = task
      return task
    }
    return try await task.value
  }

  private func make(_ key: Key) async throws -> Indexed {
    defer { state.withLockedValue { $0.building[key] = nil } }
    // In this order: each is at least as new as the one before it.
    let now = try await vocabulary.head(of: key.user, key.type)
    let names =
      key.type.hasDerivedNames ? try await vocabulary.names(of: key.user, since: -1) : [:]
    let snapshot = try await vocabulary.strings(of: key.user, key.type)
    let index = NameIndex(
      snapshot.strings.map { record in
        NameEntry(
          record.string.phrase, hint: record.string.pronunciationHint,
          identifier: record.string.identifier, isDerived: record.source != .uploaded)
      })
    let indexed = Indexed(
      resolver: Resolver(index), revision: snapshot.revision, head: now.feed,
      names: snapshot.isWhole ? names.compactMapValues { $0 } : nil)
    hold(indexed, key)
    return indexed
  }

  private func hold(_ indexed: Indexed, _ key: Key) {
    state.withLockedValue { state in
      state.uses += 1
      if let old = state.held[key] { state.bytes -= Self.cost(old.indexed) }
      state.held[key] = Held(indexed: indexed, lastUse: state.uses)
      state.bytes += Self.cost(indexed)
      guard state.bytes > budget else { return }
      // Somewhat below the budget, so that not each further index looks at all of them.
      for (key, held) in state.held.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
        guard state.bytes > budget / 10 * 9, state.held.count > 1 else { break }
        state.held[key] = nil
        state.bytes -= Self.cost(held.indexed)
      }
    }
  }

  private static func cost(_ indexed: Indexed) -> Int {
    // A dictionary has room for as many again.
    indexed.resolver.index.bytes + 512 + 48 * (indexed.names?.count ?? 0)
  }
}

extension VocabularyType {
  /// Whether a user's threads give names to it.
  fileprivate var hasDerivedNames: Bool { self == .contactName || self == .contactGroupName }
}
