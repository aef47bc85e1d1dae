import EmbeddedPostgres
import FoundationEssentials
import Logging
import Postgres
import PostgresWire
import ServiceLifecycle
import TestSupport
import VocativeModel
import VocativeStorage

/// A migrated database of a test's own, and clients of it with the rights of the service.
struct StorageFixture: Sendable {
  let conninfo: String
  /// As the service's role.
  let client: PostgresClient
  let storage: Storage

  static let template = DatabaseTemplate(name: "vocative") { conninfo in
    try await withClient(conninfo) { client in
      _ = try await Migrator(client: client, logger: quiet).migrate()
    }
  }

  static let quiet: Logger = {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return logger
  }()

  /// Hands `body` a fresh database.
  static func run(_ body: @Sendable (StorageFixture) async throws -> Void) async throws {
    try await TestCluster.shared.withDatabase(template: template) { conninfo in
      try await withClient(conninfo, role: "vocative_service") { client in
        try await body(
          StorageFixture(
            conninfo: conninfo, client: client,
            storage: Storage(database: client, makeID: { UUID() })))
      }
    }
  }

  /// Another replica of the service on the same database.
  func withReplica(_ body: @Sendable (StorageFixture) async throws -> Void) async throws {
    try await Self.withClient(conninfo, role: "vocative_service") { client in
      try await body(
        StorageFixture(
          conninfo: conninfo, client: client,
          storage: Storage(database: client, makeID: { UUID() })))
    }
  }

  static func withClient(
    _ conninfo: String, role: String? = nil,
    _ body: @Sendable (PostgresClient) async throws -> Void
  ) async throws {
    var configuration = PostgresConfiguration(connectionString: conninfo)
    configuration.onConnect = Storage.connectionSettings
    if let role { configuration.onConnect["role"] = role }
    let client = PostgresClient(configuration: configuration, logger: quiet)
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(services: [client], logger: quiet))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      do {
        try await body(client)
      } catch {
        await group.triggerGracefulShutdown()
        try? await tasks.waitForAll()
        throw error
      }
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
  }

  /// What the test's owner may look at: all tables, as the superuser.
  func numbers(_ sql: String) async throws -> [Int64] {
    var result: [Int64] = []
    let box = Box()
    try await Self.withClient(conninfo) { client in
      let rows = try await client.query(
        Statement(name: "test", sql: sql, columns: [.int8]), Parameters())
      box.values = try rows.map { try $0.decode(Int64.self, at: 0) }
    }
    result = box.values
    return result
  }

  private final class Box: @unchecked Sendable { var values: [Int64] = [] }
}

extension UserID {
  init(number: Int) { self.init(trusted: "user-\(number)") }
}
