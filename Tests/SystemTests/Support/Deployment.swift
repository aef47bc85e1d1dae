import EmbeddedPostgres
import Foundation
import TestSupport

/// A database of a test's own, migrated by the real command, for any number of replicas.
struct Deployment: Sendable {
  /// As the superuser.
  let conninfo: String
  /// What the replicas have in common: the development issuer, authority and certificate.
  let directory: String

  /// The service's log-in role, as an operator makes it.
  private static let role = "vocative_replica"

  /// As the service connects.
  var serviceConninfo: String { conninfo + " user='\(Self.role)'" }

  private static let template = DatabaseTemplate(name: "deployment") { conninfo in
    let result = try await Binary.run(
      ["migrate", "--mode", "development", "--data-directory", try Scratch.directory()],
      environment: ["DATABASE_URL": conninfo])
    guard result.status == 0 else {
      throw CommandFailed(program: "vocative migrate", output: result.output)
    }
    try await PSQL.run(conninfo, "CREATE ROLE \(role) LOGIN IN ROLE vocative_service")
  }

  static func run(_ body: (Deployment) async throws -> Void) async throws {
    try await TestCluster.shared.withDatabase(template: template) { conninfo in
      try await body(Deployment(conninfo: conninfo, directory: try Scratch.directory()))
    }
  }

  /// A deployment of one replica; it is to stop cleanly when the test is over.
  static func serving(
    _ settings: [String] = [], _ body: (Deployment, RunningService) async throws -> Void
  ) async throws {
    try await run { deployment in
      let service = try await deployment.start(settings)
      do {
        try await body(deployment, service)
      } catch {
        try await service.kill()
        throw error
      }
      let status = try await service.stop()
      // Nothing that a client does may be an error of the service.
      let errors = service.output.lines.filter { $0.contains(" ERROR ") || $0.contains("CRITICAL") }
      guard status == 0, errors.isEmpty else {
        throw CommandFailed(program: "vocative serve", output: errors.joined(separator: "\n"))
      }
    }
  }

  func start(_ settings: [String] = [], port: Int = 0) async throws -> RunningService {
    try await RunningService.start(
      database: serviceConninfo, dataDirectory: directory, settings, port: port)
  }

  /// All that the service stores, in a fixed order, to compare.
  func dump() async throws -> String {
    try await PSQL.run(
      conninfo,
      """
      TABLE vocative.installation;
      SELECT * FROM vocative.thread ORDER BY thread_id;
      SELECT * FROM vocative.participant ORDER BY thread_id, user_id;
      SELECT * FROM vocative.entry ORDER BY thread_id, entry_id;
      SELECT * FROM vocative.feed ORDER BY user_id;
      SELECT * FROM vocative.feed_thread ORDER BY user_id, thread_id;
      SELECT * FROM vocative.vocabulary_set ORDER BY user_id, type;
      SELECT * FROM vocative.vocabulary_string ORDER BY user_id, type, position;
      """)
  }
}
