import EmbeddedPostgres
import Foundation
import Identity
import Logging
import Postgres
import Subprocess
import VocativeStorage

/// What a benchmark runs on: a durable private cluster with two databases (the service's, and one
/// for the driver alone), and the release binary serving TLS from it.
struct Stage: Sendable {
  /// A temporary directory for all that belongs to the run.
  let directory: String
  let cluster: EmbeddedPostgres
  let service: ServiceProcess
  /// Makes the tokens that the service accepts.
  let issuer: DevelopmentIssuer
  let installation: Installation
  /// The process id of the database server.
  let postmasterID: Int32

  static let database = "vocative"
  static let serviceRole = "vocative"

  /// How the service and pgbench connect.
  var conninfo: String { cluster.conninfo(database: Self.database, user: Self.serviceRole) }

  /// Sets the stage, and clears it away when `body` ends or the task is cancelled.
  static func run<Result: Sendable>(
    _ body: (Stage) async throws -> Result
  ) async throws -> Result {
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "vocative-bench-\(UUID().uuidString.lowercased())").path
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o755])
    defer { try? FileManager.default.removeItem(atPath: directory) }
    // The settings of the embedded default, which flush every commit.
    var settings = EmbeddedPostgres.Configuration(directory: directory + "/postgres")
    settings.maxConnections = 200
    let cluster = try await EmbeddedPostgres.start(settings, logger: .bench)
    do {
      let installation = try await prepare(cluster)
      guard let postmasterID = await cluster.processID else {
        throw BenchmarkError("the database server has ended")
      }
      let result = try await ServiceProcess.run(
        dataDirectory: directory + "/service",
        database: cluster.conninfo(database: database, user: serviceRole)
      ) { service in
        let issuer = try DevelopmentIssuer(
          directory: directory + "/service/identity", mode: .development, now: { Date() })
        return try await body(
          Stage(
            directory: directory, cluster: cluster, service: service, issuer: issuer,
            installation: installation, postmasterID: postmasterID))
      }
      try await cluster.stop()
      return result
    } catch {
      try? await cluster.stop()
      throw error
    }
  }

  private static func prepare(_ cluster: EmbeddedPostgres) async throws -> Installation {
    try await cluster.createDatabase(database)
    let client = PostgresClient(
      configuration: PostgresConfiguration(
        connectionString: cluster.conninfo(database: database)), logger: .bench)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await client.run() }
      _ = try await Migrator(client: client, logger: .bench).migrate()
      let installation = try await Installation.load(from: client)
      try await cluster.execute("CREATE ROLE \(serviceRole) LOGIN IN ROLE vocative_service")
      group.cancelAll()
      try await group.waitForAll()
      return installation
    }
  }

  /// Writes a file into the stage's directory; returns its path.
  func file(_ name: String, _ text: String) throws -> String {
    let path = directory + "/" + name
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  func measureDriver(_ seconds: Int, _ report: inout Report) async throws {
    try await cluster.createDatabase("driver")
    let measurements = try await PostgresBenchmark.run(
      conninfo: cluster.conninfo(database: "driver"), seconds: max(1, seconds / 2))
    for line in measurements {
      report.add(
        Comparison(
          "driver, \(line.operation)", clients: line.callers,
          ours: Load(perSecond: line.ours.perSecond),
          peer: Load(perSecond: line.pgbench.perSecond), mark: line.callers == 128 ? 1 : nil))
    }
  }

  // MARK: Rounds

  private static let rounds = 3

  /// Runs both sides in rounds, each going first in turn, and adds the best of each to the report.
  ///
  /// - Parameters:
  ///   - ours: a round of so many seconds.
  ///   - peer: a round of so many seconds.
  func compare(
    _ name: String, clients: Int, mark: Double?, seconds: Int, _ report: inout Report,
    ours: (Int) async throws -> Load, peer: (Int) async throws -> Load
  ) async throws {
    let length = max(1, (seconds + Self.rounds / 2) / Self.rounds)
    var best = (ours: Load(), peer: Load())
    for round in 0..<Self.rounds {
      if round.isMultiple(of: 2) { best.ours.improve(with: try await ours(length)) }
      best.peer.improve(with: try await peer(length))
      if !round.isMultiple(of: 2) { best.ours.improve(with: try await ours(length)) }
    }
    report.add(
      Comparison(name, clients: clients, ours: best.ours, peer: best.peer, mark: mark))
  }
}
