import FoundationEssentials
import Glibc
import Logging
import Testing

@testable import EmbeddedPostgres

/// A directory of its own under /tmp, removed after `body`.
func withScratchDirectory(_ body: (_ path: String) async throws -> Void) async throws {
  var template = Array("/tmp/vocative-scratch-XXXXXX".utf8CString)
  let path = try #require(mkdtemp(&template).map { String(cString: $0) })
  // A cluster that root starts belongs to another user, who must get here.
  chmod(path, 0o755)
  defer { try? FileManager.default.removeItem(atPath: path) }
  try await body(path)
}

func ephemeral(_ directory: String) -> EmbeddedPostgres.Configuration {
  var configuration = EmbeddedPostgres.Configuration(directory: directory)
  configuration.durability = .ephemeral
  configuration.startDeadline = .seconds(60)
  return configuration
}

/// Starts a cluster, hands it to `body` and stops it, also after an error.
func withCluster(
  _ configuration: EmbeddedPostgres.Configuration,
  _ body: (EmbeddedPostgres) async throws -> Void
) async throws {
  let cluster = try await EmbeddedPostgres.start(configuration, logger: quiet)
  do {
    try await body(cluster)
    try await cluster.stop()
  } catch {
    try await cluster.stop(.immediate)
    throw error
  }
}

func expect(
  _ cluster: EmbeddedPostgres, toAnswer expected: String, to sql: String,
  sourceLocation: SourceLocation = #_sourceLocation
) async throws {
  let answer = try await cluster.execute(sql)
  #expect(answer == expected, sourceLocation: sourceLocation)
}

let quiet = {
  var logger = Logger(label: "test")
  logger.logLevel = .critical
  return logger
}()

func permissions(_ path: String) throws -> mode_t {
  var attributes = stat()
  try #require(stat(path, &attributes) == 0)
  return attributes.st_mode & 0o777
}

/// The effective user of a running process.
func userID(of processID: pid_t) throws -> uid_t {
  var attributes = stat()
  try #require(stat("/proc/\(processID)", &attributes) == 0)
  return attributes.st_uid
}
