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
  public let vocabulary: VocabularyStore
  public let appVocabulary: AppVocabularyStore
  public let wakeUps: WakeUps

  /// Settings that a database's connections need (`PostgresConfiguration.onConnect`).
  ///
  /// Every statement finds its rows by keys, so the right plan depends neither on its parameters
  /// nor on how much the tables hold. Planned once, it is kept: left to itself PostgreSQL plans
  /// statements with array parameters anew each time, which costs several times what they do. And
  /// it is a plan by index, also where it was made while the tables were small
  /// (docs/decisions/0006-plans-are-fixed.md).
  public static let connectionSettings = [
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
    "jit": "off",
    // A replica that stops in the middle of a transaction must not hold its locks for ever.
    "idle_in_transaction_session_timeout": "5s",
    "tcp_keepalives_idle": "30", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "3",
  ]

  /// - Parameter makeID: makes the ids of entries that the service leaves itself.
  public init(database: any Database, makeID: @escaping @Sendable () -> UUID) {
    wakeUps = WakeUps()
    threads = ThreadStore(database: database, wakeUps: wakeUps, makeID: makeID)
    entries = EntryStore(
      database: database, sends: SendGroups(database: database, wakeUps: wakeUps),
      wakeUps: wakeUps)
    feeds = FeedStore(database: database, wakeUps: wakeUps)
    vocabulary = VocabularyStore(database: database, wakeUps: wakeUps)
    appVocabulary = AppVocabularyStore(database: database)
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
