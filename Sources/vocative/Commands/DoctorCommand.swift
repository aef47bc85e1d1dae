import ArgumentParser
import EmbeddedPostgres
import Foundation
import Identity
import Postgres
import PostgresWire
import VocativeStorage

/// `vocative doctor`: what is wrong with an installation, and what to do.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Checks database, schema, certificates, keys and limits, and says what to do.",
    discussion: ConfigurationReference.help)

  @Flag(help: "Prints JSON.")
  var json = false

  @Option(help: "A name that clients connect to, which the certificates must cover; repeatable.")
  var host: [String] = []

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let composition = try Composition(options)
    let report = await Doctor(
      configuration: composition.configuration, hosts: host,
      probeDatabase: { try await DatabaseProbe(composition: composition).facts() },
      probeKeySet: { _ in
        let (source, _) = try composition.authentication()
        try await source.refresh()
        return source.status.keyCount
      }
    ).run(now: Composition.now())
    if json {
      print(try report.json())
    } else {
      let color = DoctorReport.wantsColor(
        isTerminal: isatty(STDOUT_FILENO) == 1,
        environment: ProcessInfo.processInfo.environment)
      print(report.text(color: color))
    }
    if report.exitCode != 0 { throw ExitCode(report.exitCode) }
  }
}

/// Asks the database what the doctor wants to know.
private struct DatabaseProbe: Sendable {
  let composition: Composition

  /// Nil where the embedded cluster is not running.
  func facts() async throws -> DatabaseFacts? {
    guard let conninfo = try await conninfo() else { return nil }
    return try await composition.withClient(composition.client(conninfo, leases: 1, onConnect: [:]))
    { client in
      try await facts(client)
    }
  }

  private func conninfo() async throws -> String? {
    if let url = composition.configuration.database.url { return url.value }
    return EmbeddedPostgres.runningConninfo(
      directory: composition.configuration.embeddedDatabaseDirectory, database: "vocative",
      user: "vocative")
  }

  private static let server = Statement(
    name: "doctor_server",
    sql: """
      SELECT current_setting('server_version_num')::int8,
        (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
        pg_is_in_recovery(),
        current_setting('max_connections')::int8
          - current_setting('superuser_reserved_connections')::int8,
        (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
        (SELECT (extract(epoch FROM max(replay_lag)) * 1000000)::int8 FROM pg_stat_replication),
        current_setting('fsync')::bool AND current_setting('synchronous_commit') <> 'off',
        clock_timestamp(),
        ARRAY(SELECT name FROM unnest(
          ARRAY['vocative_owner', 'vocative_service', 'vocative_reporting']) AS name
          WHERE name NOT IN (SELECT rolname FROM pg_roles)),
        to_regclass('vocative.migration') IS NOT NULL
      """,
    columns: [
      .int8, .bool, .bool, .int8, .int8, .int8, .bool, .timestamptz, .textArray, .bool,
    ])
  private static let schema = Statement(
    name: "doctor_schema", sql: "SELECT max(version) FROM vocative.migration", columns: [.int4])

  private func facts(_ client: PostgresClient) async throws -> DatabaseFacts {
    let before = Composition.now()
    let row = try await client.query(Self.server)[0]
    let after = Composition.now()
    let middle = before.timeIntervalSince1970 + after.timeIntervalSince(before) / 2
    let clock = Double(try row.decode(Timestamp.self, at: 7).microseconds) / 1_000_000
    var version: Int32?
    if try row.decode(Bool.self, at: 9) {
      version = try await client.query(Self.schema)[0].decode(Int32?.self, at: 0)
    }
    return DatabaseFacts(
      serverVersion: Int(try row.decode(Int64.self, at: 0)), schemaVersion: version.map(Int.init),
      knownSchemaVersion: Installation.expectedVersion,
      missingRoles: try row.decode([String].self, at: 8),
      isSuperuser: try row.decode(Bool.self, at: 1), isStandby: try row.decode(Bool.self, at: 2),
      availableConnections: Int(try row.decode(Int64.self, at: 3)),
      usedConnections: Int(try row.decode(Int64.self, at: 4)),
      replicationLag: try row.decode(Int64?.self, at: 5).map { .microseconds($0) },
      clockSkew: .microseconds(Int64((clock - middle) * 1_000_000)),
      isDurable: try row.decode(Bool.self, at: 6))
  }
}
