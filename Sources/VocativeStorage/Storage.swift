public import Crypto
public import FoundationEssentials
import Postgres
public import PostgresWire
import VocativeSQL

/// All stores over one database.
public struct Storage: Sendable {
  public let threads: ThreadStore
  public let entries: EntryStore
  public let feeds: FeedStore
  public let wakeUps: WakeUps

  /// - Parameter makeID: makes the ids of entries that the service leaves itself.
  public init(database: any Database, makeID: @escaping @Sendable () -> UUID) {
    wakeUps = WakeUps()
    threads = ThreadStore(database: database, wakeUps: wakeUps, makeID: makeID)
    entries = EntryStore(
      database: database, sends: SendGroups(database: database, wakeUps: wakeUps),
      wakeUps: wakeUps)
    feeds = FeedStore(database: database, wakeUps: wakeUps)
  }
}

/// What a database holds once for all that use it.
public struct Installation: Sendable {
  public var epoch: UUID
  /// Signs the feed tokens.
  public var tokenKey: SymmetricKey
  /// The version of the schema.
  public var version: Int

  /// The version that this build was made for.
  public static var expectedVersion: Int { SQL.migrations.count }

  /// Reads it.
  ///
  /// - Throws: `PostgresError`; with `sqlState` 3F000 or 42P01 where nothing was migrated yet.
  public static func load(from database: any Database) async throws(PostgresError) -> Installation {
    let rows = try await database.query(Statements.installation, Parameters())
    guard rows.count == 1 else {
      throw PostgresError(.decoding, message: "vocative.installation must have one row")
    }
    return Installation(
      epoch: try rows[0].decode(UUID.self, at: 0),
      tokenKey: SymmetricKey(data: try rows[0].decode([UInt8].self, at: 1)),
      version: Int(try rows[0].decode(Int32.self, at: 2)))
  }
}
