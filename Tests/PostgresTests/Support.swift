import Logging
import Postgres
import PostgresWire
import Testing

/// Runs a client for the time of `body`, against the shared cluster unless told otherwise.
func withClient<R: Sendable>(
  _ connectionString: String? = nil,
  change: (inout PostgresConfiguration) -> Void = { _ in },
  _ body: @Sendable (PostgresClient) async throws -> R
) async throws -> R {
  var configuration = PostgresConfiguration(
    connectionString: connectionString ?? Cluster.shared.socketURI)
  configuration.drainTimeout = .seconds(2)
  // The machine that runs the tests may be busy; those about time-outs set their own.
  configuration.leaseWait = .seconds(60)
  configuration.deadline = .seconds(60)
  configuration.backoff = .milliseconds(5)...(.milliseconds(100))
  change(&configuration)
  var logger = Logger(label: "test")
  logger.logLevel = .critical
  let client = PostgresClient(configuration: configuration, logger: logger)
  return try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await client.run() }
    let result = try await body(client)
    group.cancelAll()
    try await group.waitForAll()
    return result
  }
}

/// Waits for a condition; fails the test when it does not come true in time.
func eventually(
  within seconds: Double = 10, _ what: String, _ condition: () async throws -> Bool
) async throws {
  let deadline = monotonic() + seconds
  while try await !condition() {
    guard monotonic() < deadline else { throw Failure("not within \(seconds) s: \(what)") }
    try await Task.sleep(for: .milliseconds(5))
  }
}

func statement(
  _ sql: String, _ parameters: [PostgresType] = [], _ columns: [PostgresType] = []
) -> Statement {
  // The name of a test's statement is its text, shortened to what PostgreSQL keeps of a name.
  var hash: UInt64 = 0xcbf2_9ce4_8422_2325
  for byte in sql.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
  return Statement(
    name: "test_\(String(hash, radix: 16))_\(parameters.count)", sql: sql, parameters: parameters,
    columns: columns)
}

extension PostgresClient {
  func script(_ sql: String) async throws {
    try await withConnection { connection in _ = try await connection.execute(sql) }
  }

  func int(_ sql: String) async throws -> Int {
    try await query(statement(sql, [], [.int8]))[0].decode(Int.self, at: 0)
  }
}
