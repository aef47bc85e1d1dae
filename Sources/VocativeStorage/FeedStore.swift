import FoundationEssentials
import Postgres
public import PostgresWire
public import VocativeModel

/// Feeds: what changed for a user since a token, and their read markers.
public struct FeedStore: Sendable {
  let database: any Database
  let wakeUps: WakeUps

  /// One page of a feed.
  public struct Page: Sendable {
    public var threads: [ChangedThreadRecord]
    /// Where the follower is behind this page.
    public var next: FeedToken
    public var hasMore: Bool
    /// The revisions of the user's vocabulary, as JSON; nil where there never was any.
    public var vocabulary: [UInt8]?
  }

  /// A thread in a page, with its newest entries.
  public struct ChangedThreadRecord: Sendable {
    public var thread: ThreadRecord
    /// The user is no longer in it; nothing of it but the id is theirs to see.
    public var removed: Bool
    public var formerParticipants: [ParticipantRecord] = []
    /// Ascending by `seq`.
    public var entries: [EntryRecord] = []
    /// `entries` are all that the user may see with a `seq` above this.
    public var entriesFrom: Int64
  }

  /// How much a page holds, at most.
  public struct PageLimits: Sendable {
    public var threads: Int
    /// Entries a thread.
    public var entries: Int
    /// The page ends with the thread that reaches so many bytes, roughly as they are on the wire.
    public var bytes: Int

    public init(threads: Int, entries: Int, bytes: Int) {
      self.threads = threads
      self.entries = entries
      self.bytes = bytes
    }
  }

  public enum ChangesOutcome: Sendable {
    case page(Page)
    /// The token is of another epoch, or ahead of the feed: the database was restored.
    case expired
  }

  /// What changed after a token, oldest first; without one the initial sync, newest first.
  public func changes(
    for user: UserID, since token: FeedToken?, limits: PageLimits
  ) async throws(PostgresError) -> ChangesOutcome {
    let rows = try await database.query(
      Statements.changesPage,
      Parameters(
        user.string, token?.base, token?.cursor, token == nil ? Int64.max : token?.bound,
        limits.threads, limits.entries, limits.bytes))
    let page = rows[0]
    let epoch = try page.decode(UUID.self, at: 3)
    let head = try page.decode(Int64.self, at: 4)
    if let token, token.epoch != epoch || token.cursor > head || token.base > head {
      return .expired
    }
    let more = (
      forward: try page.decode(Bool.self, at: 17), backward: try page.decode(Bool.self, at: 18)
    )
    var reader = ChangesReader(user: user, entriesPerThread: limits.entries)
    for index in 1..<max(rows.count, 1) { try reader.read(rows[index]) }
    let next = reader.next(
      behind: token ?? FeedToken(epoch: epoch, base: head, cursor: head, bound: .max), head: head,
      more: more)
    return .page(
      Page(
        threads: reader.finish(), next: next, hasMore: more.forward || more.backward,
        vocabulary: try page.decode(JSONB?.self, at: 14)?.utf8))
  }

  /// The page of a follower to whom nothing is new; nil where something is. Costs a tenth of what
  /// `changes` does.
  public func nothingNew(
    since token: FeedToken, for user: UserID
  ) async throws(PostgresError) -> Page? {
    guard token.bound == nil, token.base == token.cursor else { return nil }
    let rows = try await database.query(Statements.feedHead, Parameters(user.string))
    let epoch = try rows[0].decode(UUID.self, at: 0)
    let head = try rows[0].decode(Int64.self, at: 1)
    guard epoch == token.epoch, head == token.cursor else { return nil }
    // The place stays what it is, and so does its token.
    return Page(
      threads: [], next: token, hasMore: false,
      vocabulary: try rows[0].decode(JSONB?.self, at: 2)?.utf8)
  }

  /// Moves the caller's read marker; nil where they are not in the thread.
  public func mark(
    _ mark: MarkRead, in thread: ThreadID, by caller: UserID
  ) async throws(PostgresError) -> ReadState? {
    var upTo: Int64?
    var unreadFrom: Int64?
    switch mark {
    case .upTo(let seq): upTo = seq
    case .unreadFrom(let seq): unreadFrom = seq
    }
    let results = try await database.transaction([
      (Statements.lockFeed, Parameters(caller.string)),
      (Statements.markRead, Parameters(caller.string, thread.uuid, upTo, unreadFrom)),
    ])
    guard results[1].count == 1 else { return nil }
    let row = results[1][0]
    if try row.decode(Bool.self, at: 3) {
      wakeUps.moved([FeedHead(user: caller, seq: try row.decode(Int64.self, at: 2))])
    }
    return ReadState(
      readUpTo: try row.decode(Int64.self, at: 0), unreadCount: try row.decode(Int64.self, at: 1))
  }
}

/// Puts the rows of `changes_page` together.
private struct ChangesReader {
  let user: UserID
  let entriesPerThread: Int
  private var threads: [FeedStore.ChangedThreadRecord] = []
  private var places: [Int64] = []

  init(user: UserID, entriesPerThread: Int) {
    self.user = user
    self.entriesPerThread = entriesPerThread
  }

  mutating func read(_ row: Row) throws(PostgresError) {
    switch try row.decode(Int16.self, at: 0) {
    case 1: try readThread(row)
    case 2:
      let participant = ParticipantRecord(
        userID: UserID(trusted: try row.decode(String.self, at: 6)),
        role: try row.decode(String.self, at: 7), name: try row.decode(JSONB?.self, at: 14)?.utf8)
      if row.isNull(12) {
        threads[threads.count - 1].thread.participants.append(participant)
      } else {
        threads[threads.count - 1].formerParticipants.append(participant)
      }
    default: threads[threads.count - 1].entries.append(try EntryRecord(row, from: 2))
    }
  }

  private mutating func readThread(_ row: Row) throws(PostgresError) {
    places.append(try row.decode(Int64.self, at: 20))
    threads.append(
      FeedStore.ChangedThreadRecord(
        thread: ThreadRecord(
          id: ThreadID(try row.decode(UUID.self, at: 3)), kind: try row.decode(String.self, at: 7),
          history: try row.decode(String.self, at: 19),
          subject: try row.decode(String?.self, at: 8),
          createdAt: Instant(try row.decode(Timestamp.self, at: 9)),
          lastActivityAt: Instant(try row.decode(Timestamp.self, at: 10)),
          seq: try row.decode(Int64.self, at: 4),
          unreadCount: try row.decode(Int64.self, at: 23),
          readUpTo: try row.decode(Int64.self, at: 22),
          visibleFrom: try row.decode(Int64.self, at: 21)),
        removed: try row.decode(Bool.self, at: 17),
        entriesFrom: try row.decode(Int64.self, at: 24)))
  }

  /// The token behind the page. The follower's base stays until it is up to date: a thread that
  /// moved behind the cursor before it was served has changes from before the cursor, too.
  func next(
    behind token: FeedToken, head: Int64, more: (forward: Bool, backward: Bool)
  ) -> FeedToken {
    let forward = places.filter { $0 > token.cursor }
    let backward = places.filter { $0 <= token.cursor }
    var next = token
    next.cursor = more.forward ? forward.last ?? token.cursor : head
    if more.backward {
      next.bound = backward.last ?? token.bound
    } else if !more.forward {
      next.bound = nil
      next.base = head
    }
    return next
  }

  /// The threads. The query gives one entry more than asked for where there are older ones.
  func finish() -> [FeedStore.ChangedThreadRecord] {
    threads.map { changed in
      var changed = changed
      if changed.entries.count > entriesPerThread {
        changed.entriesFrom = changed.entries.removeFirst().seq
      }
      return changed
    }
  }
}
