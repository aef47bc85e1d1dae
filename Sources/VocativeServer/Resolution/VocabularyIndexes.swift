import NIOConcurrencyHelpers
import NameMatching
import VocativeModel
import VocativeStorage

/// Types of vocabulary that are resolved together.
struct VocabularyScope: Hashable, Sendable {
  /// At least one; where strings are equally good, those of the first come first.
  let types: [VocabularyType]

  init(_ types: VocabularyType...) { self.types = types }

  /// Whom one writes to and calls: people, and groups of them.
  static let recipients = VocabularyScope(.contactName, .contactGroupName)
  /// What lists are called.
  static let lists = VocabularyScope(.notebookItemTitle, .notebookItemGroupName)

  /// Whether "all" may mean all strings.
  var allowsAll: Bool { types.allSatisfy(\.allowsAll) }
  /// Whether threads give names to it.
  var isFedByThreads: Bool {
    types.contains(.contactName) || types.contains(.contactGroupName)
  }
}

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
    /// Of each type of the scope.
    var revisions: [Int64]
    /// Where the strings of each type begin.
    fileprivate var starts: [Int]
    /// The head of the user's feed when it was known to be current.
    var head: Int64
    /// A fingerprint of the names in each of the user's threads; nil where they were too many to
    /// have all of them in the index, so that activity alone may bring others in.
    fileprivate var names: [ThreadID: Int64]?

    /// Which of the scope's types the string at a position is of, by number.
    func type(at position: Int) -> Int { (starts.lastIndex { $0 <= position }) ?? 0 }
  }

  private struct Key: Hashable {
    var user: UserID
    var scope: VocabularyScope
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

  /// The index of a user's strings of a scope, as they are now.
  ///
  /// - Parameter revision: what the revision of the scope's first type is at least.
  /// - Throws: 409 `revision-not-reached`; `PostgresError`.
  func index(
    for user: UserID, _ scope: VocabularyScope, atLeast revision: Int64 = 0
  ) async throws -> Indexed {
    let key = Key(user: user, scope: scope)
    let deadline = ContinuousClock.now + Self.patience
    while true {
      let now = try await head(of: user, scope)
      if now.revisions[0] >= revision {
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
            "it is at revision \(now.revisions[0])"))
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Where a user's feed is, and the revisions of a scope's types.
  private struct Head {
    var feed: Int64
    var revisions: [Int64]
  }

  private func head(of user: UserID, _ scope: VocabularyScope) async throws -> Head {
    var head = Head(feed: .max, revisions: [])
    for type in scope.types {
      let one = try await vocabulary.head(of: user, type)
      // The earlier one counts: what it does not have, the later may.
      head.feed = min(head.feed, one.feed)
      head.revisions.append(one.revision)
    }
    return head
  }

  /// What is held, if it is as new as the user's row says.
  private func current(_ key: Key, _ now: Head) async throws -> Indexed? {
    guard let held = use(key), held.revisions == now.revisions else { return nil }
    if held.head >= now.feed || !key.scope.isFedByThreads { return held }
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
    let now = try await head(of: key.user, key.scope)
    let names =
      key.scope.isFedByThreads ? try await vocabulary.names(of: key.user, since: -1) : [:]
    var entries: [NameEntry] = []
    var starts: [Int] = []
    var revisions: [Int64] = []
    var isWhole = true
    for type in key.scope.types {
      let snapshot = try await vocabulary.strings(of: key.user, type)
      revisions.append(snapshot.revision)
      isWhole = isWhole && snapshot.isWhole
      starts.append(entries.count)
      for record in snapshot.strings {
        entries.append(
          NameEntry(
            record.string.phrase, hint: record.string.pronunciationHint,
            identifier: record.string.identifier, isDerived: record.source != .uploaded))
      }
    }
    let indexed = Indexed(
      resolver: Resolver(NameIndex(entries)), revisions: revisions, starts: starts,
      head: now.feed, names: isWhole ? names.compactMapValues { $0 } : nil)
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
