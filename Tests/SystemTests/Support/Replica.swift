import Foundation
import VocativeModel

/// A device's copy of its user's threads, kept by the rules of the contract alone.
struct Replica: Sendable {
  /// One thread of it.
  struct Copy: Equatable, Sendable {
    var state: ThreadState
    var entries: [EntryID: Entry] = [:]
    /// All that the user may see with a `seq` up to this is in `entries`.
    var covered: Int64 = 0

    /// What `unreadCount` has to be, counted by the contract's words.
    func unread(of user: String) -> Int64 {
      Int64(
        entries.values.count {
          $0.senderId.string != user && $0.deleted != true && $0.kind != .system
            && $0.createdSeq > state.readUpTo
        })
    }
  }

  private(set) var threads: [ThreadID: Copy] = [:]
  /// The token behind the last page that was taken in.
  private(set) var token: String?
  /// How often a thread came as removed.
  private(set) var removals = 0
  /// Rules of the contract that the service broke.
  private(set) var violations: [String] = []

  /// What is compared with the service's own view.
  var view: [ThreadID: View] { threads.mapValues { View(state: $0.state, entries: $0.entries) } }

  struct View: Equatable, Sendable {
    var state: ThreadState
    var entries: [EntryID: Entry]
  }

  /// Takes a page in; `client` is for the gaps that it leaves.
  mutating func apply(_ page: ChangesPage, _ client: APIClient) async throws {
    if Set(page.threads.map(\.id)).count != page.threads.count {
      violations.append("a page has a thread twice")
    }
    for changed in page.threads {
      if changed.removed == true {
        if changed.entries != nil || changed.participants != nil {
          violations.append("a removed thread shows more than its id")
        }
        removals += 1
        threads[changed.id] = nil
      } else {
        try await apply(changed, client)
      }
    }
    token = page.next
  }

  private mutating func apply(_ changed: ChangedThread, _ client: APIClient) async throws {
    guard let state = ThreadState(changed), let entries = changed.entries,
      let from = changed.entriesFrom, let to = changed.entriesTo
    else {
      violations.append("a changed thread lacks members")
      return
    }
    check(changed, entries, from: from, to: to, state)
    var copy = threads[changed.id] ?? Copy(state: state)
    var isWhole = true
    if copy.covered < from {
      isWhole = try await fill(&copy, of: changed.id, upTo: from, client)
    }
    for entry in entries { take(entry, into: &copy) }
    // Who left and came again between two pages may see less than before.
    copy.entries = copy.entries.filter { $0.value.createdSeq >= state.visibleFrom }
    copy.state = state
    if isWhole { copy.covered = max(copy.covered, to) }
    threads[changed.id] = copy
  }

  private mutating func take(_ entry: Entry, into copy: inout Copy) {
    if let held = copy.entries[entry.id] {
      if held.seq > entry.seq { violations.append("an entry went back in time") }
      if held.seq == entry.seq, held != entry { violations.append("an entry changed in place") }
      if held.createdSeq != entry.createdSeq { violations.append("a createdSeq changed") }
    }
    copy.entries[entry.id] = entry
  }

  /// Reads what a page does not carry, by sequence.
  ///
  /// - Returns: False where the user has left the thread meanwhile; its end is still to come.
  private mutating func fill(
    _ copy: inout Copy, of thread: ThreadID, upTo last: Int64, _ client: APIClient
  ) async throws -> Bool {
    var after = copy.covered
    while after < last {
      let answer = try await client.call(
        .GET, "/v1/threads/\(thread)/entries?after=\(after)&before=\(last + 1)&limit=7")
      if answer.status == 404 { return false }
      let page = try answer.decode(EntryPage.self)
      for entry in page.entries {
        if entry.seq <= after || entry.seq > last { violations.append("a page is out of range") }
        take(entry, into: &copy)
      }
      guard let next = page.next else { break }
      after = next
    }
    return true
  }

  private mutating func check(
    _ changed: ChangedThread, _ entries: [Entry], from: Int64, to: Int64, _ state: ThreadState
  ) {
    func require(_ holds: Bool, _ rule: String) {
      if !holds { violations.append(rule) }
    }
    require(to == state.seq, "entriesTo is the thread's seq")
    require(entries.count <= 20, "a thread brings at most 20 entries")
    require(entries.map(\.seq) == entries.map(\.seq).sorted(), "entries ascend")
    require(Set(entries.map(\.id)).count == entries.count, "an entry comes once")
    require(entries.allSatisfy { $0.seq > from && $0.seq <= to }, "entries lie in their range")
    require(
      entries.allSatisfy { $0.createdSeq >= state.visibleFrom }, "entries are visible ones")
    require(
      entries.allSatisfy { $0.deleted != true || ($0.text == nil && $0.attachments == nil) },
      "tombstones are empty")
    let named = Set(
      (changed.participants ?? []).map(\.userId) + (changed.formerParticipants ?? []).map(\.userId))
    require(entries.allSatisfy { named.contains($0.senderId) }, "senders are named")
  }
}

/// A thread without its entries, as both `GET threads` and the changes tell it.
struct ThreadState: Equatable, Sendable {
  var kind: ThreadKind
  var subject: String?
  var history: History
  var createdAt: Instant
  var lastActivityAt: Instant
  var seq: Int64
  var unreadCount: Int64
  var readUpTo: Int64
  var visibleFrom: Int64
  var participants: Set<Participant>

  init(_ thread: VocativeModel.Thread) {
    kind = thread.kind
    subject = thread.subject
    history = thread.history
    createdAt = thread.createdAt
    lastActivityAt = thread.lastActivityAt
    seq = thread.seq
    unreadCount = thread.unreadCount
    readUpTo = thread.readUpTo
    visibleFrom = thread.visibleFrom
    participants = Set(thread.participants)
  }

  /// Nil where something is missing.
  init?(_ changed: ChangedThread) {
    guard let kind = changed.kind, let history = changed.history,
      let createdAt = changed.createdAt, let lastActivityAt = changed.lastActivityAt,
      let seq = changed.seq, let unreadCount = changed.unreadCount,
      let readUpTo = changed.readUpTo, let visibleFrom = changed.visibleFrom,
      let participants = changed.participants
    else { return nil }
    self.kind = kind
    subject = changed.subject
    self.history = history
    self.createdAt = createdAt
    self.lastActivityAt = lastActivityAt
    self.seq = seq
    self.unreadCount = unreadCount
    self.readUpTo = readUpTo
    self.visibleFrom = visibleFrom
    self.participants = Set(participants)
  }
}

extension APIClient {
  /// The service's own view of the caller's threads, read by other calls than the changes.
  func view() async throws -> [ThreadID: Replica.View] {
    var view: [ThreadID: Replica.View] = [:]
    var after = ""
    while true {
      let page = try await get("/v1/threads?limit=2\(after)", as: ThreadPage.self)
      for thread in page.threads {
        guard view[thread.id] == nil else { throw ViewIsBroken(reason: "a thread is listed twice") }
        view[thread.id] = Replica.View(
          state: ThreadState(thread), entries: try await entries(of: thread.id))
      }
      guard let next = page.next else { return view }
      after = "&after=\(next)"
    }
  }

  /// All entries of a thread, newest page first.
  func entries(of thread: ThreadID) async throws -> [EntryID: Entry] {
    var entries: [EntryID: Entry] = [:]
    var before = ""
    while true {
      let page = try await get(
        "/v1/threads/\(thread)/entries?limit=9\(before)", as: EntryPage.self)
      for entry in page.entries {
        guard entries.updateValue(entry, forKey: entry.id) == nil else {
          throw ViewIsBroken(reason: "an entry is listed twice")
        }
      }
      guard let next = page.next else { return entries }
      before = "&before=\(next)"
    }
  }
}

struct ViewIsBroken: Error { let reason: String }
