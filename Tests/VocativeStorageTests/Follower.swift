import Crypto
import FoundationEssentials
import Testing
import VocativeModel
import VocativeStorage

/// A client's replica of its user's threads, kept by the rules of the contract alone.
struct Follower {
  struct Thread: Equatable {
    var seq: Int64
    var unreadCount: Int64
    var readUpTo: Int64
    var participants: [String: String] = [:]
    var entries: [EntryID: Entry] = [:]
    /// All visible entries up to this `seq` are here.
    var covered: Int64
  }
  struct Entry: Equatable {
    var seq: Int64
    var createdSeq: Int64
    var text: String?
    var deleted: Bool
  }

  let user: UserID
  var threads: [ThreadID: Thread] = [:]
  var token: FeedToken?
  /// Tokens that were handed out before, for replays.
  var oldTokens: [FeedToken] = []

  init(_ user: UserID) { self.user = user }

  /// One page; returns whether there is more.
  mutating func pull(
    _ storage: Storage, _ limits: FeedStore.PageLimits
  ) async throws -> Bool {
    guard
      case .page(let page) = try await storage.feeds.changes(
        for: user, since: token, limits: limits)
    else {
      Issue.record("a token of this epoch must be good")
      return false
    }
    #expect(page.threads.count <= limits.threads)
    // A page that has more to come is not empty, or nobody would get on.
    #expect(!page.hasMore || !page.threads.isEmpty)
    for changed in page.threads {
      try await apply(changed, storage, entries: limits.entries)
    }
    if let token { oldTokens.append(token) }
    token = page.next
    return page.hasMore
  }

  private mutating func apply(
    _ changed: FeedStore.ChangedThreadRecord, _ storage: Storage, entries limit: Int
  ) async throws {
    let id = changed.thread.id
    if changed.removed {
      threads[id] = nil
      return
    }
    #expect(changed.entries.count <= limit)
    for entry in changed.entries {
      #expect(entry.seq > changed.entriesFrom && entry.seq <= changed.thread.seq)
      #expect(entry.createdSeq >= changed.thread.visibleFrom)
    }
    #expect(changed.entries.map(\.seq) == changed.entries.map(\.seq).sorted())
    // A page is closed under references: who is named is there.
    let named = Set(
      (changed.thread.participants + changed.formerParticipants).map(\.userID))
    #expect(changed.entries.allSatisfy { named.contains($0.senderID) })

    // Coverage is exact in any case; a gap is for those only who lack more than a page brings.
    if let known = threads[id], changed.entries.count < limit,
      changed.entriesFrom >= changed.thread.visibleFrom
    {
      #expect(known.covered >= changed.entriesFrom)
    }
    var thread =
      threads[id] ?? Thread(seq: 0, unreadCount: 0, readUpTo: 0, covered: 0)
    if thread.covered < changed.entriesFrom {
      // A gap: filled by sequence.
      var after = thread.covered
      while true {
        let page = try await storage.entries.page(
          of: id, for: user, after: after, before: changed.entriesFrom + 1, newestFirst: false,
          limit: 7, bytes: 150)
        guard let (entries, hasMore) = page, let last = entries.last else { break }
        for entry in entries { thread.entries[entry.id] = Entry(entry) }
        after = last.seq
        guard hasMore else { break }
      }
    }
    for entry in changed.entries { thread.entries[entry.id] = Entry(entry) }
    // Who left and came again between two pulls may see less than before.
    thread.entries = thread.entries.filter { $0.value.createdSeq >= changed.thread.visibleFrom }
    thread.seq = changed.thread.seq
    thread.unreadCount = changed.thread.unreadCount
    thread.readUpTo = changed.thread.readUpTo
    thread.participants = Dictionary(
      uniqueKeysWithValues: changed.thread.participants.map { ($0.userID.string, $0.role) })
    thread.covered = max(thread.covered, changed.thread.seq)
    threads[id] = thread
  }

  /// Pulls until there is nothing more.
  mutating func catchUp(
    _ storage: Storage,
    _ limits: FeedStore.PageLimits = .init(threads: 3, entries: 5, bytes: 6000)
  ) async throws {
    while try await pull(storage, limits) {}
  }

  /// The server's view, read through the other calls.
  static func serverView(
    of user: UserID, _ storage: Storage
  ) async throws -> [ThreadID: Thread] {
    var view: [ThreadID: Thread] = [:]
    var cursor: ThreadStore.Cursor?
    while true {
      let page = try await storage.threads.threads(of: user, after: cursor, limit: 4)
      guard let last = page.last else { break }
      for record in page {
        var thread = Thread(
          seq: record.seq, unreadCount: record.unreadCount, readUpTo: record.readUpTo,
          participants: Dictionary(
            uniqueKeysWithValues: record.participants.map { ($0.userID.string, $0.role) }),
          covered: record.seq)
        var before: Int64?
        while true {
          let (entries, hasMore) = try #require(
            try await storage.entries.page(
              of: record.id, for: user, after: nil, before: before, newestFirst: true, limit: 9,
              bytes: 1000))
          guard let first = entries.first else { break }
          for entry in entries { thread.entries[entry.id] = Entry(entry) }
          before = first.seq
          guard hasMore else { break }
        }
        #expect(view.updateValue(thread, forKey: record.id) == nil)
      }
      cursor = ThreadStore.Cursor(activityAt: last.lastActivityAt, thread: last.id)
    }
    return view
  }
}

extension Follower.Entry {
  init(_ record: EntryRecord) {
    self.init(
      seq: record.seq, createdSeq: record.createdSeq, text: record.text, deleted: record.deleted)
  }
}
