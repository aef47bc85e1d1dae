import Crypto
import FoundationEssentials
public import Logging
public import Postgres
import PostgresWire
import VocativeSQL

/// Applies `sql/migrations` in order; psql applies the same files to the same effect.
public struct Migrator: Sendable {
  private let client: PostgresClient
  private let logger: Logger

  public init(client: PostgresClient, logger: Logger) {
    self.client = client
    self.logger = logger
  }

  /// Why a database is not migrated.
  public struct Refusal: Error, CustomStringConvertible {
    public let description: String
  }

  /// What the database has, and what it lacks.
  public struct Status: Sendable, Hashable {
    /// The names of what was applied, ascending.
    public var applied: [String]
    /// The names of what is still to be applied, ascending.
    public var pending: [String]
  }

  /// Compares the database with this build; writes nothing.
  ///
  /// - Throws: `Refusal` where the database is newer than this build or has been given another
  ///   file under the same name.
  public func status() async throws -> Status {
    try await client.withConnection { connection in try await status(connection) }
  }

  /// Applies what is missing. Of several that run at the same time one does it, and the others wait.
  ///
  /// - Returns: the names of what was applied now.
  /// - Throws: `Refusal`, or `PostgresError` of a file that failed; that file left nothing behind,
  ///   those before it stay.
  public func migrate() async throws -> [String] {
    try await client.withConnection(deadline: .seconds(3600)) { connection in
      // A session's lock, since each file is a transaction of its own; it ends with the session.
      connection.discard()
      _ = try await connection.execute("SELECT pg_advisory_lock(7246291046)")
      let pending = try await status(connection).pending
      for file in SQL.migrations where pending.contains(file.name) {
        logger.info("applying a migration", metadata: ["name": "\(file.name)"])
        _ = try await connection.execute(file.text)
      }
      try await recordChecksums(connection)
      return pending
    }
  }

  private static let exists = Statement(
    name: "migration_exists", sql: "SELECT to_regclass('vocative.migration') IS NOT NULL",
    columns: [.bool])
  private static let list = Statement(
    name: "migration_list",
    sql: "SELECT version, name, checksum FROM vocative.migration ORDER BY version",
    columns: [.int4, .text, .text])
  private static let record = Statement(
    name: "migration_record",
    sql: "UPDATE vocative.migration SET checksum = $2 WHERE name = $1 AND checksum IS NULL",
    parameters: [.text, .text])

  private func status(_ connection: PostgresConnection) async throws -> Status {
    let known = SQL.migrations
    guard try await connection.query(Self.exists)[0].decode(Bool.self, at: 0) else {
      return Status(applied: [], pending: known.map(\.name))
    }
    var applied: [String] = []
    for row in try await connection.query(Self.list) {
      let version = Int(try row.decode(Int32.self, at: 0))
      let name = try row.decode(String.self, at: 1)
      guard version <= known.count else {
        throw Refusal(
          description: "the database has migration \(name), which this build does not know; "
            + "run a build that is at least as new as the database")
      }
      let file = known[version - 1]
      let checksum = try row.decode(String?.self, at: 2)
      guard file.name == name, checksum == nil || checksum == Self.checksum(of: file) else {
        throw Refusal(
          description: "migration \(name) in the database is not the file that this build has")
      }
      applied.append(name)
    }
    return Status(applied: applied, pending: known.dropFirst(applied.count).map(\.name))
  }

  private func recordChecksums(_ connection: PostgresConnection) async throws {
    _ = try await connection.execute("SET ROLE vocative_owner")
    for file in SQL.migrations {
      _ = try await connection.query(
        Self.record, Parameters(file.name, Self.checksum(of: file)))
    }
  }

  private static func checksum(of file: SQLFile) -> String {
    SHA256.hash(data: Array(file.text.utf8)).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}
