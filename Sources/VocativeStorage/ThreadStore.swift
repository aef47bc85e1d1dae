import Crypto
import FoundationEssentials
import Postgres
public import PostgresWire
public import VocativeModel

/// Threads and who is in them.
public struct ThreadStore: Sendable {
  let database: any Database
  let wakeUps: WakeUps
  /// Makes the ids of system entries.
  let makeID: @Sendable () -> UUID

  public enum CreateOutcome: Sendable {
    case created(ThreadRecord)
    /// The same request had made it before; the thread as it is now.
    case replayed(ThreadRecord)
    /// The caller is in a thread of this id that another request made.
    case conflict
    /// The id belongs to a thread that the caller is not in.
    case absent
  }

  /// Makes a thread; its creator comes in as an owner.
  public func create(
    _ thread: ThreadID, by creator: UserID, _ request: CreateThread
  ) async throws -> CreateOutcome {
    var drafts = request.participants
    if let index = drafts.firstIndex(where: { $0.userId == creator }) {
      drafts[index].role = .owner
    } else {
      drafts.append(CreateThread.Draft(userId: creator, role: .owner))
    }
    let people = drafts
    let hash = Array(SHA256.hash(data: request.normalized))
    let outcome = try await database.withTransaction { connection in
      let made = try await connection.query(
        Statements.createThread,
        Parameters(
          thread.uuid, request.kind.rawValue, request.history.rawValue, request.subject,
          creator.string, hash))
      if made.count == 1 {
        let heads = try await put(people, into: thread, visibleFrom: 1, readUpTo: 0, connection)
        return (made: true, record: nil as (ThreadRecord, [UInt8])?, heads: heads)
      }
      return (false, try await state(of: thread, for: creator, connection), [])
    }
    wakeUps.moved(outcome.heads)
    if outcome.made {
      guard let record = try await self.thread(thread, for: creator) else { return .absent }
      return .created(record)
    }
    guard let (_, createHash) = outcome.record else { return .absent }
    guard createHash == hash, let record = try await self.thread(thread, for: creator) else {
      return .conflict
    }
    return .replayed(record)
  }

  /// A thread as the caller sees it; nil where they are not in it.
  public func thread(
    _ thread: ThreadID, for caller: UserID
  ) async throws(PostgresError) -> ThreadRecord? {
    let rows = try await database.query(
      Statements.threadState, Parameters(thread.uuid, caller.string))
    guard rows.count == 1 else { return nil }
    var records = [try ThreadRecord(rows[0])]
    try await addParticipants(to: &records, for: caller)
    return records.first
  }

  /// Where a page of threads begins: behind the last thread of the page before.
  public struct Cursor: Sendable, Hashable {
    public var activityAt: Instant
    public var thread: ThreadID
    public init(activityAt: Instant, thread: ThreadID) {
      self.activityAt = activityAt
      self.thread = thread
    }
  }

  /// The caller's threads, newest activity first.
  public func threads(
    of caller: UserID, after cursor: Cursor?, limit: Int
  ) async throws(PostgresError) -> [ThreadRecord] {
    let last =
      cursor
      ?? Cursor(
        activityAt: Instant(milliseconds: .max),
        thread: ThreadID(
          UUID(
            uuid: (
              255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
              255, 255, 255
            ))))
    let rows = try await database.query(
      Statements.threadsPage,
      Parameters(caller.string, last.activityAt.timestamp, last.thread.uuid, limit))
    var records: [ThreadRecord] = []
    for row in rows { records.append(try ThreadRecord(row)) }
    try await addParticipants(to: &records, for: caller)
    return records
  }

  public enum ParticipantOutcome: Sendable {
    /// The participant as they are now.
    case joined(ParticipantRecord)
    case changed(ParticipantRecord)
    case unchanged(ParticipantRecord)
    case removed
    /// There is no such thread for the caller, or nobody of this id in it.
    case absent
    /// The caller's role does not allow it.
    case forbidden
    /// The thread has as many participants as it may have.
    case full
    /// The last owner cannot be made less.
    case lastOwner
  }

  /// Puts somebody into a thread, or changes their role or name.
  ///
  /// Owners and admins may; anyone may change their own name. Only owners make owners or change
  /// them.
  public func put(
    _ user: UserID, into thread: ThreadID, by caller: UserID, _ request: PutParticipant,
    limit: Int
  ) async throws -> ParticipantOutcome {
    let (outcome, heads) = try await database.withTransaction { connection in
      guard try await lock(thread, for: caller, connection),
        let (record, _) = try await state(of: thread, for: caller, connection)
      else { return (ParticipantOutcome.absent, [FeedHead]()) }
      let present = try await participants(of: thread, for: caller, connection)
      let before = present.first { $0.userID == user }
      let role = request.role?.rawValue ?? before?.role ?? Role.member.rawValue
      if let refusal = Self.refusal(
        caller: caller, user, before: before, role: role, present: present)
      {
        return (refusal, [])
      }
      if before == nil, present.count >= limit { return (.full, []) }
      let name = request.name.map(Self.json(of:)) ?? before?.name
      let after = ParticipantRecord(userID: user, role: role, name: name)
      if let before, before.role == role, Self.same(before.name, request.name) {
        return (.unchanged(before), [])
      }
      // Not before all refusals: a refused call must not leave a feed behind.
      try await lockFeeds(and: user, ensuring: true, connection)
      let sees = record.history == History.full.rawValue ? 1 : record.seq + 1
      var heads = try FeedHead.decode(
        try await connection.query(
          Statements.putParticipants,
          Parameters(
            thread.uuid, [user.string], [role], [name.map(JSONB.init(utf8:))], sees,
            // What was there before they came is not unread to them.
            record.seq)))
      if before == nil {
        try await leaveSystemEntry(.joined, user, in: thread, by: caller, connection)
      }
      heads += try await advance(thread, touching: before != nil, connection)
      return (before == nil ? .joined(after) : .changed(after), heads)
    }
    wakeUps.moved(heads)
    return outcome
  }

  /// Takes somebody out of a thread. Owners and admins may; anyone may go themselves.
  public func remove(
    _ user: UserID, from thread: ThreadID, by caller: UserID
  ) async throws -> ParticipantOutcome {
    let (outcome, heads) = try await database.withTransaction { connection in
      guard try await lock(thread, for: caller, connection) else {
        return (ParticipantOutcome.absent, [FeedHead]())
      }
      let present = try await participants(of: thread, for: caller, connection)
      let mine = present.first { $0.userID == caller }?.role
      guard let target = present.first(where: { $0.userID == user }) else {
        let isFormer =
          try await connection.query(
            Statements.formerParticipant, Parameters(thread.uuid, user.string)
          ).count == 1
        // Asked again for what is done already, since the answer was lost.
        return (isFormer && mine != Role.member.rawValue ? .removed : .absent, [])
      }
      if user != caller {
        guard mine == Role.owner.rawValue || mine == Role.admin.rawValue,
          mine == Role.owner.rawValue || target.role != Role.owner.rawValue
        else { return (.forbidden, []) }
      }
      try await lockFeeds(and: user, ensuring: false, connection)
      var heads = try FeedHead.decode(
        try await connection.query(
          Statements.removeParticipant, Parameters(thread.uuid, user.string)))
      try await leaveSystemEntry(
        user == caller ? .left : .removed, user, in: thread, by: caller, connection)
      heads += try await advance(thread, touching: true, connection)
      return (.removed, heads)
    }
    wakeUps.moved(heads)
    return outcome
  }

  // MARK: Rules

  private static func refusal(
    caller: UserID, _ user: UserID, before: ParticipantRecord?, role: String,
    present: [ParticipantRecord]
  ) -> ParticipantOutcome? {
    let mine = present.first { $0.userID == caller }?.role
    let changesRole = before?.role != role
    if mine != Role.owner.rawValue {
      if changesRole, before?.role == Role.owner.rawValue || role == Role.owner.rawValue {
        return .forbidden
      }
      let ownName = user == caller && !changesRole
      if mine != Role.admin.rawValue, !ownName { return .forbidden }
    }
    let owners = present.count { $0.role == Role.owner.rawValue }
    if changesRole, before?.role == Role.owner.rawValue, owners == 1 { return .lastOwner }
    return nil
  }

  private static func json(of name: PersonName) -> [UInt8] {
    var json = JSONWriter()
    name.write(to: &json)
    return json.utf8
  }

  private static func same(_ stored: [UInt8]?, _ given: PersonName?) -> Bool {
    guard let given else { return true }
    guard let stored else { return false }
    return (try? JSONDecoder().decode(PersonName.self, from: Data(stored))) == given
  }

  // MARK: Steps

  /// Who is in a thread changes only under this lock; false where the caller is not in it.
  private func lock(
    _ thread: ThreadID, for caller: UserID, _ connection: PostgresConnection
  ) async throws -> Bool {
    let locked = try await connection.query(
      Statements.lockThreads, Parameters([thread.uuid], [caller.string]))
    return try locked[0].decode(String.self, at: 0) != "{}"
  }

  private func lockFeeds(
    and user: UserID, ensuring: Bool, _ connection: PostgresConnection
  ) async throws {
    let users = [user.string]
    if ensuring { _ = try await connection.query(Statements.ensureFeeds, Parameters(users)) }
    _ = try await connection.query(Statements.lockFeeds, Parameters(users))
  }

  /// Puts people into a thread that has just been made.
  private func put(
    _ people: [CreateThread.Draft], into thread: ThreadID, visibleFrom: Int64, readUpTo: Int64,
    _ connection: PostgresConnection
  ) async throws -> [FeedHead] {
    let users = people.map(\.userId.string)
    _ = try await connection.query(Statements.ensureFeeds, Parameters(users))
    _ = try await connection.query(Statements.lockFeeds, Parameters(users))
    return try FeedHead.decode(
      try await connection.query(
        Statements.putParticipants,
        Parameters(
          thread.uuid, users, people.map(\.role.rawValue),
          people.map { $0.name.map { JSONB(utf8: Self.json(of: $0)) } }, visibleFrom, readUpTo)))
  }

  private func leaveSystemEntry(
    _ event: SystemEvent.Kind, _ user: UserID, in thread: ThreadID, by caller: UserID,
    _ connection: PostgresConnection
  ) async throws {
    var json = JSONWriter()
    SystemEvent(event, user).write(to: &json)
    _ = try await connection.query(
      Statements.systemEntries,
      Parameters(thread.uuid, [makeID()], [caller.string], [JSONB(utf8: json.utf8)]))
  }

  private func advance(
    _ thread: ThreadID, touching: Bool, _ connection: PostgresConnection
  ) async throws -> [FeedHead] {
    try FeedHead.decode(
      try await connection.query(
        Statements.threadsAdvance,
        Parameters(touching ? [thread.uuid] : [UUID]())))
  }

  // MARK: Reading

  private func state(
    of thread: ThreadID, for caller: UserID, _ connection: PostgresConnection
  ) async throws -> (ThreadRecord, createHash: [UInt8])? {
    let rows = try await connection.query(
      Statements.threadState, Parameters(thread.uuid, caller.string))
    guard rows.count == 1 else { return nil }
    return (try ThreadRecord(rows[0]), try rows[0].decode([UInt8].self, at: 5))
  }

  private func participants(
    of thread: ThreadID, for caller: UserID, _ connection: PostgresConnection
  ) async throws -> [ParticipantRecord] {
    let rows = try await connection.query(
      Statements.threadParticipants, Parameters([thread.uuid], caller.string))
    return try rows.map { try ParticipantRecord(participant: $0) }
  }

  private func addParticipants(
    to records: inout [ThreadRecord], for caller: UserID
  ) async throws(PostgresError) {
    let rows = try await database.query(
      Statements.threadParticipants, Parameters(records.map(\.id.uuid), caller.string))
    var participants: [ThreadID: [ParticipantRecord]] = [:]
    for row in rows {
      participants[ThreadID(try row.decode(UUID.self, at: 0)), default: []].append(
        try ParticipantRecord(participant: row))
    }
    for index in records.indices {
      records[index].participants = participants[records[index].id] ?? []
    }
    // Who was removed between the two statements sees the thread no longer.
    records.removeAll { $0.participants.isEmpty }
  }
}

extension ThreadRecord {
  /// A row of `thread_state` or `threads_page`.
  init(_ row: Row) throws(PostgresError) {
    id = ThreadID(try row.decode(UUID.self, at: 0))
    kind = try row.decode(String.self, at: 1)
    history = try row.decode(String.self, at: 2)
    subject = try row.decode(String?.self, at: 3)
    createdAt = Instant(try row.decode(Timestamp.self, at: 6))
    lastActivityAt = Instant(try row.decode(Timestamp.self, at: 7))
    seq = try row.decode(Int64.self, at: 8)
    unreadCount = try row.decode(Int64.self, at: 9)
    readUpTo = try row.decode(Int64.self, at: 10)
    visibleFrom = try row.decode(Int64.self, at: 11)
  }
}

extension ParticipantRecord {
  /// A row of `thread_participants`.
  init(participant row: Row) throws(PostgresError) {
    userID = UserID(trusted: try row.decode(String.self, at: 1))
    role = try row.decode(String.self, at: 2)
    name = try row.decode(JSONB?.self, at: 3)?.utf8
  }
}
