public import Postgres
public import PostgresWire
public import VocativeModel

/// What the stores need of PostgreSQL.
public protocol Database: Sendable {
  /// Runs one statement that reads.
  func query(
    _ statement: Statement, _ parameters: Parameters
  ) async throws(PostgresError) -> Rows

  /// Runs statements as one transaction in one round trip. Deadlocks and serialization failures
  /// are tried again.
  func transaction(
    _ steps: [(Statement, Parameters)]
  ) async throws(PostgresError) -> [Rows]

  /// Runs `body` in a transaction of its own connection, and commits unless it throws.
  func withTransaction<Result: Sendable>(
    _ body: @Sendable (PostgresConnection) async throws -> Result
  ) async throws -> Result
}

extension PostgresClient: Database {
  public func query(
    _ statement: Statement, _ parameters: Parameters
  ) async throws(PostgresError) -> Rows {
    try await query(statement, parameters, deadline: nil)
  }

  public func transaction(
    _ steps: [(Statement, Parameters)]
  ) async throws(PostgresError) -> [Rows] {
    try await transaction(steps, retries: 3)
  }

  public func withTransaction<Result: Sendable>(
    _ body: @Sendable (PostgresConnection) async throws -> Result
  ) async throws -> Result {
    try await withTransaction(isolation: .readCommitted, retries: 3, body)
  }
}

/// The highest place that was given out in a user's feed.
public struct FeedHead: Sendable, Hashable {
  public var user: UserID
  public var seq: Int64

  static func decode(_ rows: Rows) throws(PostgresError) -> [FeedHead] {
    var heads: [FeedHead] = []
    heads.reserveCapacity(rows.count)
    for row in rows {
      heads.append(
        FeedHead(
          user: UserID(trusted: try row.decode(String.self, at: 0)),
          seq: try row.decode(Int64.self, at: 1)))
    }
    return heads
  }
}
