import Crypto
import FoundationEssentials
import Postgres
public import PostgresWire
public import VocativeModel

/// Entries: sending, editing, deleting, reading by sequence.
public struct EntryStore: Sendable {
  let database: any Database
  let sends: SendGroups
  let wakeUps: WakeUps

  /// What became of one send of a unit.
  public enum SendOutcome: Sendable {
    case created(EntryRecord)
    /// The same send had been stored before; the entry as it is now.
    case replayed(EntryRecord)
    /// There is no such thread, or the sender is not in it.
    case absent
    /// The id is taken by another body or another sender.
    case conflict
    /// Not all recipients are participants, or the thread is not a mail thread.
    case badRecipients
    /// The entry that is replied to does not exist.
    case badReply
    /// Nothing is wrong with this one, but with another one of its unit.
    case refused
  }

  /// Sends entries of one sender to one thread, all or none.
  ///
  /// - Returns: an outcome for each, in order.
  public func send(
    _ entries: [(id: EntryID, entry: SendEntry)], to thread: ThreadID, from sender: UserID
  ) async throws(PostgresError) -> [SendOutcome] {
    try await sends.send(
      SendUnit(
        thread: thread, sender: sender,
        items: entries.map { SendUnit.Item(id: $0.id, entry: $0.entry) }))
  }

  /// An entry that the caller has sent; nil where there is none in a thread that they are in.
  public func sent(
    _ entry: EntryID, to thread: ThreadID, by caller: UserID
  ) async throws(PostgresError) -> EntryRecord? {
    let rows = try await database.query(
      Statements.entrySent, Parameters(thread.uuid, entry.uuid, caller.string))
    return rows.count == 1 ? try EntryRecord(rows[0], from: 0) : nil
  }

  public enum EditOutcome: Sendable {
    case edited(EntryRecord)
    /// It was so already; nothing was written.
    case unchanged(EntryRecord)
    /// There is no such thread or entry for the caller.
    case absent
    /// The caller is not the entry's sender.
    case forbidden
    /// The entry is a tombstone.
    case deleted
    /// The new attachments are not of the entry's kind.
    case invalid
  }

  /// Edits an entry of the caller's own.
  public func edit(
    _ entry: EntryID, in thread: ThreadID, by caller: UserID, _ edit: EditEntry
  ) async throws(PostgresError) -> EditOutcome {
    let rows = try await write(
      to: thread, by: caller,
      (
        Statements.editEntry,
        Parameters(
          thread.uuid, entry.uuid, caller.string, edit.text != nil, edit.text,
          edit.attachments != nil, edit.attachmentsJSON.map(JSONB.init(utf8:)), edit.hasPlaces)
      ))
    let row = rows[0]
    switch try row.decode(String.self, at: 0) {
    case "edited": return .edited(try EntryRecord(row, from: 1))
    case "unchanged": return .unchanged(try EntryRecord(row, from: 1))
    case "absent": return .absent
    case "forbidden": return .forbidden
    case "deleted": return .deleted
    case "invalid": return .invalid
    default: throw .unknownOutcome(Statements.editEntry)
    }
  }

  public enum DeleteOutcome: Sendable {
    /// It is a tombstone now, or was one already.
    case deleted
    /// There is no such thread for the caller.
    case absent
    /// The entry is from before the caller came.
    case invisible
    case forbidden
  }

  /// Leaves a tombstone in place of an entry, or reserves the id of one that has not come yet.
  public func delete(
    _ entry: EntryID, in thread: ThreadID, by caller: UserID
  ) async throws(PostgresError) -> DeleteOutcome {
    let rows = try await write(
      to: thread, by: caller,
      (Statements.deleteEntry, Parameters(thread.uuid, entry.uuid, caller.string)))
    switch try rows[0].decode(String.self, at: 0) {
    case "deleted", "unchanged": return .deleted
    case "absent": return .absent
    case "invisible": return .invisible
    case "forbidden": return .forbidden
    default: throw .unknownOutcome(Statements.deleteEntry)
    }
  }

  /// Entries with a `seq` above `after` and below `before`, ascending.
  ///
  /// - Parameter newestFirst: where there are more than `limit`, whether it is the newest or the
  ///   oldest of them.
  /// - Parameter bytes: the page ends with the entry that reaches them.
  /// - Returns: the entries, and whether there are more; nil where the caller is not in the thread.
  public func page(
    of thread: ThreadID, for caller: UserID, after: Int64?, before: Int64?, newestFirst: Bool,
    limit: Int, bytes: Int
  ) async throws(PostgresError) -> (entries: [EntryRecord], hasMore: Bool)? {
    let rows = try await database.query(
      Statements.entriesPage,
      Parameters(
        thread.uuid, caller.string, after ?? 0, before ?? Int64.max, newestFirst, limit, bytes))
    guard rows.count > 0 else { return nil }
    var entries: [EntryRecord] = []
    entries.reserveCapacity(rows.count)
    for row in rows where !row.isNull(0) { entries.append(try EntryRecord(row, from: 0)) }
    let found = try rows[0].decode(Int64.self, at: EntryRecord.columns.count)
    return (entries, found > entries.count)
  }

  /// One statement between the locks and the counting, as one transaction in one round trip.
  private func write(
    to thread: ThreadID, by caller: UserID, _ step: (Statement, Parameters)
  ) async throws(PostgresError) -> Rows {
    let results = try await database.transaction([
      (Statements.lockThreads, Parameters([thread.uuid], [caller.string])),
      (Statements.lockFeeds, Parameters([String]())),
      step,
      (Statements.threadsAdvance, Parameters([UUID]())),
    ])
    wakeUps.moved(try FeedHead.decode(results[3]))
    return results[2]
  }
}

extension PostgresError {
  /// A statement answered with a word that the code does not know: the two do not match.
  static func unknownOutcome(_ statement: Statement) -> PostgresError {
    PostgresError(.decoding, message: "an outcome is not known", statement: statement.name)
  }
}
