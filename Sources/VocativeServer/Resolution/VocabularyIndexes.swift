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
/// Each use looks at one row of the user (the head of their feed and the revisions of their
/// vocabulary), so that no answer is older than what was committed before it, on any replica; an
/// index is made anew when what it was made from has changed. The least recently used go when all
/// together take more than the budget.
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
    fileprivate var strings: Int

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
      let now = try await vocabulary.revisions(of: user)
      let stored = scope.types.map { now.byType[$0] ?? 0 }
      if stored[0] >= revision {
        if let current = current(key, head: now.head, revisions: stored) { return current }
        let built = try await build(key)
        // One that was under way may have begun before this caller came.
        if built.head >= now.head { return built }
        continue
      }
      guard ContinuousClock.now < deadline else {
        throw ServiceError(
          .conflict(
            "revision-not-reached", "The vocabulary has not reached this revision",
            "it is at revision \(stored[0])"))
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// What is held, if it is as new as the user's row says.
  private func current(_ key: Key, head: Int64, revisions: [Int64]) -> Indexed? {
    state.withLockedValue { state in
      guard var held = state.held[key], held.indexed.revisions == revisions else { return nil }
      // A feed that moved may have brought names.
      guard held.indexed.head >= head || !key.scope.isFedByThreads else { return nil }
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
    var snapshots: [VocabularyStore.Snapshot] = []
    for type in key.scope.types {
      snapshots.append(try await vocabulary.strings(of: key.user, type))
    }
    let revisions = snapshots.map(\.revision)
    // What one read does not have, the other may; the earlier one counts.
    let head = snapshots.map(\.head).min() ?? 0
    var hasher = Hasher()
    for snapshot in snapshots { hasher.combine(snapshot.strings) }
    let strings = hasher.finalize()
    // Most of what moves a feed gives no name.
    if var held = state.withLockedValue({ $0.held[key]?.indexed }), held.strings == strings {
      held.head = head
      held.revisions = revisions
      hold(held, key)
      return held
    }
    var entries: [NameEntry] = []
    var starts: [Int] = []
    for snapshot in snapshots {
      starts.append(entries.count)
      for record in snapshot.strings {
        entries.append(
          NameEntry(
            record.string.phrase, hint: record.string.pronunciationHint,
            identifier: record.string.identifier, isDerived: record.source != .uploaded))
      }
    }
    let indexed = Indexed(
      resolver: Resolver(NameIndex(entries)), revisions: revisions, starts: starts, head: head,
      strings: strings)
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

  private static func cost(_ indexed: Indexed) -> Int { indexed.resolver.index.bytes + 512 }
}
