import FoundationEssentials
import Postgres
public import PostgresWire
public import VocativeModel

/// Finding the one conversation that is meant by the people in it.
extension ThreadStore {
  /// The conversation of the caller with exactly these people; where there are several, one
  /// without a subject before one with, then the one of the latest activity.
  ///
  /// - Parameter others: without the caller, who may be alone.
  public func conversation(
    of caller: UserID, with others: Set<UserID>
  ) async throws(PostgresError) -> ThreadID? {
    let rows = try await database.query(
      Statements.threadBetween, Parameters(caller.string, others.map(\.string).sorted()))
    return rows.count == 1 ? ThreadID(try rows[0].decode(UUID.self, at: 0)) : nil
  }

  /// Which of these are conversations (threads of kind `message`) that the caller is in.
  public func conversations(
    of caller: UserID, among threads: [ThreadID]
  ) async throws(PostgresError) -> Set<ThreadID> {
    guard !threads.isEmpty else { return [] }
    return try Self.ids(
      try await database.query(
        Statements.threadsJoined, Parameters(caller.string, threads.map(\.uuid))))
  }

  /// Which of these ids are taken by threads, whoever is in them.
  ///
  /// For ids that nobody else can know: what it tells is nobody's business.
  public func taken(_ threads: [ThreadID]) async throws(PostgresError) -> Set<ThreadID> {
    try Self.ids(
      try await database.query(Statements.threadsTaken, Parameters(threads.map(\.uuid))))
  }

  private static func ids(_ rows: Rows) throws(PostgresError) -> Set<ThreadID> {
    var ids: Set<ThreadID> = []
    for row in rows { ids.insert(ThreadID(try row.decode(UUID.self, at: 0))) }
    return ids
  }
}

extension VocabularyStore {
  /// When the caller's threads last moved in which these people are, and these threads themselves.
  ///
  /// - Parameter identifiers: of people and of threads.
  /// - Returns: times by identifier; nothing of those that the caller has nothing to do with.
  public func recency(
    of identifiers: Set<String>, for caller: UserID
  ) async throws(PostgresError) -> [String: Instant] {
    let threads = identifiers.compactMap { ThreadID($0)?.uuid }
    let rows = try await database.query(
      Statements.vocabularyRecency, Parameters(caller.string, identifiers.sorted(), threads))
    var times: [String: Instant] = [:]
    for row in rows {
      times[try row.decode(String.self, at: 0)] = Instant(try row.decode(Timestamp.self, at: 1))
    }
    return times
  }
}
