import FoundationEssentials
import Testing
import TestSupport
import VocativeModel
import VocativeStorage

/// Random histories against the invariants of sync; a failure replays from its printed seed.
@Suite struct SyncPropertyTests {
  private static let users = (0..<5).map(UserID.init(number:))

  @Test(arguments: 0..<6) func followersEndEqualToTheServersView(_ round: Int) async throws {
    let announced = SeededGenerator.announced("followersEndEqualToTheServersView(\(round))")
    let seed = announced.seed &+ UInt64(round) &* 0x9E37_79B9
    try await StorageFixture.run { fixture in
      var history = History(storage: fixture.storage, random: SeededGenerator(seed: seed))
      var followers = Self.users.flatMap { [Follower($0), Follower($0)] }
      for step in 0..<220 {
        try await history.act()
        if step % 5 == 0 {
          let index = Int.random(in: followers.indices, using: &history.random)
          _ = try await followers[index].pull(
            fixture.storage,
            FeedStore.PageLimits(
              threads: Int.random(in: 1...4, using: &history.random),
              entries: Int.random(in: 1...6, using: &history.random),
              bytes: Int.random(in: 1...8000, using: &history.random)))
        }
        // A device that comes back with an old token must end up the same.
        if step % 23 == 0, let index = followers.indices.randomElement(using: &history.random),
          let old = followers[index].oldTokens.randomElement(using: &history.random)
        {
          followers[index].token = old
        }
      }
      for index in followers.indices {
        try await followers[index].catchUp(fixture.storage)
        let view = try await Follower.serverView(of: followers[index].user, fixture.storage)
        #expect(followers[index].threads == view, "seed \(announced.seed)")
        guard let token = followers[index].token else { continue }
        let page = try await fixture.storage.feeds.nothingNew(
          since: token, for: followers[index].user)
        #expect(page != nil)
      }
      try await Self.checkTables(fixture)
    }
  }

  @Test func concurrentSendersAtTwoReplicasLoseAndDoubleNothing() async throws {
    try await StorageFixture.run { first in
      try await first.withReplica { second in
        let threads = (0..<4).map { _ in ThreadID(UUID()) }
        for thread in threads {
          _ = try await first.storage.threads.create(
            thread, by: Self.users[0],
            CreateThread(kind: .message, participants: Self.users.map { .init(userId: $0) }))
        }
        let replicas = [first.storage, second.storage]
        try await withThrowingTaskGroup(of: Void.self) { group in
          for (number, user) in Self.users.enumerated() {
            for lane in 0..<4 {
              group.addTask {
                for round in 0..<40 {
                  let storage = replicas[(round + lane) % 2]
                  let thread = threads[(round + number) % threads.count]
                  let entry = (EntryID(UUID()), SendEntry(text: "\(number) \(lane) \(round)"))
                  for replica in [storage, round % 10 == 0 ? replicas[lane % 2] : storage] {
                    let outcome = try await replica.entries.send([entry], to: thread, from: user)
                    switch outcome[0] {
                    case .created, .replayed: break
                    default: Issue.record("a send was not accepted")
                    }
                  }
                  if round % 7 == 0 {
                    _ = try await storage.feeds.mark(.upTo(Int64(round)), in: thread, by: user)
                  }
                  if round % 9 == 0 {
                    _ = try await storage.entries.delete(entry.0, in: thread, by: user)
                  }
                }
              }
            }
          }
          try await group.waitForAll()
        }
        let sent = Int64(Self.users.count * 4 * 40)
        #expect(try await first.numbers("SELECT count(*) FROM vocative.entry") == [sent])
        try await Self.checkTables(first)
        for user in Self.users {
          var follower = Follower(user)
          try await follower.catchUp(second.storage)
          #expect(
            try await follower.threads == Follower.serverView(of: user, first.storage))
        }
      }
    }
  }

  /// A client need not wait for its thread to be there before it sends to it. What is sent too
  /// early is refused as a whole, and never written without the locks that order it.
  @Test func sendsThatRaceTheCreationOfTheirThread() async throws {
    try await StorageFixture.run { first in
      try await first.withReplica { second in
        // A thread that all share: its sends keep the feeds busy, so that locks are waited for.
        let shared = ThreadID(UUID())
        let people = Self.users.map { CreateThread.Draft(userId: $0) }
        _ = try await first.storage.threads.create(
          shared, by: Self.users[0], CreateThread(kind: .message, participants: people))
        try await withThrowingTaskGroup(of: Void.self) { group in
          for lane in 0..<8 {
            group.addTask {
              let user = Self.users[lane % Self.users.count]
              for round in 0..<30 {
                let thread = ThreadID(UUID())
                async let created = first.storage.threads.create(
                  thread, by: user, CreateThread(kind: .message, participants: people))
                async let busy = second.storage.entries.send(
                  [(EntryID(UUID()), SendEntry(text: "busy"))], to: shared, from: user)
                async let early = second.storage.entries.send(
                  (0..<3).map { _ in (EntryID(UUID()), SendEntry(text: "\(round)")) }, to: thread,
                  from: user)
                _ = try await (created, busy, early)
              }
            }
          }
          try await group.waitForAll()
        }
        try await Self.checkTables(first)
        for user in Self.users {
          var follower = Follower(user)
          try await follower.catchUp(second.storage)
          #expect(
            try await follower.threads == Follower.serverView(of: user, first.storage))
        }
      }
    }
  }

  /// What must hold of the tables at rest, by SQL that shares nothing with the service's.
  static func checkTables(_ fixture: StorageFixture) async throws {
    let drift = """
      SELECT count(*) FROM vocative.feed_thread ft
      WHERE NOT removed AND unread_count <> (
        SELECT count(*) FROM vocative.entry e
        WHERE e.thread_id = ft.thread_id AND e.sender_id <> ft.user_id AND e.kind <> 'system'
          AND e.deleted_at IS NULL AND e.created_seq > ft.read_up_to)
      """
    #expect(try await fixture.numbers(drift) == [0], "unread is not what a recount says")
    let gaps = """
      SELECT count(*) FROM vocative.thread t
      WHERE seq <> (SELECT coalesce(max(e.seq), 0) FROM vocative.entry e
        WHERE e.thread_id = t.thread_id)
      """
    #expect(try await fixture.numbers(gaps) == [0], "a thread's counter is not its highest entry")
    let twice = """
      SELECT count(*) - count(DISTINCT (thread_id, created_seq)) FROM vocative.entry
      """
    #expect(try await fixture.numbers(twice) == [0], "two entries were created at one place")
    let ahead = """
      SELECT count(*) FROM vocative.feed_thread ft JOIN vocative.feed f USING (user_id)
      WHERE ft.place > f.seq
      """
    #expect(try await fixture.numbers(ahead) == [0], "a place was not counted")
    let members = """
      SELECT count(*) FROM vocative.feed_thread ft
      FULL JOIN vocative.participant p USING (user_id, thread_id)
      WHERE (p.left_at IS NULL) <> (NOT ft.removed) OR p.user_id IS NULL OR ft.user_id IS NULL
      """
    #expect(try await fixture.numbers(members) == [0], "feeds and participants do not agree")
  }
}

/// Random writes of random users; what is refused is part of the game.
private struct History {
  let storage: Storage
  var random: SeededGenerator
  private var threads: [ThreadID] = []
  private var entries: [(thread: ThreadID, id: EntryID, sender: UserID, text: String)] = []
  private static let users = (0..<5).map(UserID.init(number:))

  init(storage: Storage, random: SeededGenerator) {
    self.storage = storage
    self.random = random
  }

  private mutating func uuid() -> UUID {
    let (high, low) = (random.next(), random.next())
    var raw = UUID().uuid
    withUnsafeMutableBytes(of: &raw) { bytes in
      bytes.storeBytes(of: high, as: UInt64.self)
      bytes.storeBytes(of: low, toByteOffset: 8, as: UInt64.self)
    }
    return UUID(uuid: raw)
  }

  mutating func act() async throws {
    let user = Self.users.randomElement(using: &random)!
    guard let thread = threads.randomElement(using: &random) else { return try await create(user) }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<5: try await create(user)
    case 5..<45: try await send(user, thread)
    case 45..<52: try await replay()
    case 52..<62: try await edit(user)
    case 62..<72: try await delete(user, thread)
    case 72..<84:
      let seq = Int64.random(in: 1...30, using: &random)
      let mark = Bool.random(using: &random) ? MarkRead.upTo(seq) : .unreadFrom(seq)
      _ = try await storage.feeds.mark(mark, in: thread, by: user)
    case 84..<94:
      let role = Role.allCases.randomElement(using: &random)
      _ = try await storage.threads.put(
        Self.users.randomElement(using: &random)!, into: thread, by: user,
        PutParticipant(role: Bool.random(using: &random) ? role : nil), limit: 5)
    default:
      _ = try await storage.threads.remove(
        Self.users.randomElement(using: &random)!, from: thread, by: user)
    }
  }

  private mutating func create(_ user: UserID) async throws {
    let id = ThreadID(uuid())
    let others = Self.users.filter { _ in Bool.random(using: &random) }
    let history: VocativeModel.History = Bool.random(using: &random) ? .join : .full
    _ = try await storage.threads.create(
      id, by: user,
      CreateThread(
        kind: .message, history: history,
        participants: others.map {
          .init(userId: $0, role: Role.allCases.randomElement(using: &random)!)
        }))
    threads.append(id)
  }

  private mutating func send(_ user: UserID, _ thread: ThreadID) async throws {
    let count = Int.random(in: 1...4, using: &random)
    let batch = (0..<count).map { _ in (EntryID(uuid()), "\(random.next())") }
    _ = try await storage.entries.send(
      batch.map { ($0.0, SendEntry(text: $0.1)) }, to: thread, from: user)
    entries += batch.map { (thread, $0.0, user, $0.1) }
  }

  private mutating func replay() async throws {
    guard let entry = entries.randomElement(using: &random) else { return }
    let conflicts = Bool.random(using: &random)
    let outcome = try await storage.entries.send(
      [(entry.id, SendEntry(text: conflicts ? "another" : entry.text))], to: entry.thread,
      from: entry.sender)
    if conflicts, case .created = outcome[0] {
      // Its first send was refused, so that this one was the first.
      entries.append((entry.thread, entry.id, entry.sender, "another"))
    }
  }

  private mutating func edit(_ user: UserID) async throws {
    guard let entry = entries.randomElement(using: &random) else { return }
    let editor = Int.random(in: 0..<4, using: &random) == 0 ? user : entry.sender
    _ = try await storage.entries.edit(
      entry.id, in: entry.thread, by: editor, EditEntry(text: "\(random.next())"))
  }

  private mutating func delete(_ user: UserID, _ thread: ThreadID) async throws {
    if Int.random(in: 0..<5, using: &random) == 0 {
      let id = EntryID(uuid())
      _ = try await storage.entries.delete(id, in: thread, by: user)
      entries.append((thread, id, user, "\(random.next())"))
    } else if let entry = entries.randomElement(using: &random) {
      let by = Int.random(in: 0..<4, using: &random) == 0 ? user : entry.sender
      _ = try await storage.entries.delete(entry.id, in: entry.thread, by: by)
    }
  }
}
