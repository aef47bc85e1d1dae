import FoundationEssentials
import Glibc
import Subprocess
import TestSupport
import Testing

@testable import EmbeddedPostgres

@Suite struct RecoveryTests {
  @Test func aKilledServerComesBackWithWhatWasCommitted() async throws {
    try await withScratchDirectory { scratch in
      try await withCluster(.init(directory: "\(scratch)/data")) { cluster in
        try await cluster.execute("CREATE TABLE kept AS SELECT 7 AS n")
        let before = await cluster.processID
        await cluster.kill()
        try await eventually {
          let now = await cluster.processID
          return now != nil && now != before
        }
        try await expect(cluster, toAnswer: "7", to: "SELECT n FROM kept")
      }
    }
  }

  @Test func aKilledServerStaysDownWhenAskedToUntilRestarted() async throws {
    try await withScratchDirectory { scratch in
      var configuration = ephemeral("\(scratch)/data")
      configuration.restartsAfterCrash = false
      try await withCluster(configuration) { cluster in
        await cluster.kill()
        #expect(await cluster.processID == nil)
        await #expect(throws: EmbeddedPostgresError.self) { try await cluster.execute("SELECT 1") }
        try await cluster.restart()
        try await expect(cluster, toAnswer: "1", to: "SELECT 1")
      }
    }
  }

  /// The service is a process of its own here, and dies of SIGKILL.
  @Test func afterAKilledServiceTheServerEndsAndTheDataIsThere() async throws {
    try await withScratchDirectory { scratch in
      let directory = "\(scratch)/data"
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [directory = directory as String] in
        let cluster = try await EmbeddedPostgres.start(.init(directory: directory), logger: quiet)
        try await cluster.execute("CREATE TABLE kept AS SELECT 8 AS n")
        Glibc.kill(getpid(), SIGKILL)
      }
      let processes = ClusterProcesses(cluster: "\(directory)/cluster")
      try await eventually { processes.running().isEmpty }
      try await withCluster(.init(directory: directory)) { cluster in
        try await expect(cluster, toAnswer: "8", to: "SELECT n FROM kept")
      }
    }
  }

  @Test func aServerThatIsStillRunningIsStoppedFirst() async throws {
    try await withScratchDirectory { scratch in
      let directory = "\(scratch)/data"
      try await withCluster(ephemeral(directory)) { _ in }
      let orphan = try await startWithoutAService(directory)
      try await withCluster(ephemeral(directory)) { cluster in
        #expect(await cluster.processID != orphan)
        try await expect(cluster, toAnswer: "1", to: "SELECT 1")
        #expect(!FileManager.default.fileExists(atPath: "/proc/\(orphan)/cwd"))
      }
    }
  }

  @Test func aStaleStatusFileThatNamesALivingProcessDoesNotStopAStart() async throws {
    try await withScratchDirectory { scratch in
      let directory = "\(scratch)/data"
      try await withCluster(ephemeral(directory)) { _ in }
      // As after a reboot: the dead server's id belongs to another process of the same user.
      let bystander = try await startBystander(directory)
      defer { Glibc.kill(bystander, SIGKILL) }
      let stale = "\(bystander)\n\(directory)/cluster\n1\n5432\n\(directory)/socket\n\n1 1\nready\n"
      try Data(stale.utf8).write(to: URL(filePath: "\(directory)/cluster/postmaster.pid"))
      try Data(stale.utf8).write(to: URL(filePath: "\(directory)/socket/.s.PGSQL.5432.lock"))
      try await withCluster(ephemeral(directory)) { cluster in
        try await expect(cluster, toAnswer: "1", to: "SELECT 1")
      }
      #expect(Glibc.kill(bystander, 0) == 0, "a stranger must be left alone")
    }
  }

  @Test func aHalfMadeClusterIsMadeAnew() async throws {
    try await withScratchDirectory { scratch in
      let directory = "\(scratch)/data"
      let unfinished = "\(directory)/cluster.unfinished"
      try FileManager.default.createDirectory(
        atPath: unfinished, withIntermediateDirectories: true)
      try Data().write(to: URL(filePath: "\(directory)/lock"))
      try Data("15".utf8).write(to: URL(filePath: "\(unfinished)/PG_VERSION"))
      try await withCluster(ephemeral(directory)) { cluster in
        try await expect(cluster, toAnswer: "1", to: "SELECT 1")
        #expect(!FileManager.default.fileExists(atPath: unfinished))
      }
    }
  }

  /// Starts the cluster's server with `pg_ctl`, so that no service is responsible for it.
  private func startWithoutAService(_ directory: String) async throws -> pid_t {
    let installation = try Installation.find(in: "/usr/lib/postgresql", clusterVersion: nil)
    try await run(
      asTheClustersUser: [
        installation.path("pg_ctl"), "start", "-w", "-D", "\(directory)/cluster",
        "-l", "\(directory)/orphan.log",
        "-o", "-c listen_addresses= -c unix_socket_directories='\(directory)/socket'",
      ])
    let status = PostmasterStatus(file: "\(directory)/cluster/postmaster.pid")
    return try #require(status).processID
  }

  private func startBystander(_ directory: String) async throws -> pid_t {
    let file = "\(directory)/bystander.pid"
    try await run(
      asTheClustersUser: [
        "/bin/sh", "-c", "sleep 600 </dev/null >/dev/null 2>&1 & echo $! > \(file)",
      ])
    let text = try String(contentsOfFile: file, encoding: .utf8)
    return try #require(pid_t(text.prefix { $0.isNumber }))
  }

  private func run(asTheClustersUser words: [String]) async throws {
    var arguments = words
    if let user = try SystemUser.toRunAs("postgres") {
      arguments =
        ["/usr/bin/setpriv", "--reuid", user.name, "--regid", "\(user.groupID)", "--clear-groups"]
        + words
    }
    let result = try await Subprocess.run(
      .path("/usr/bin/env"), arguments: Arguments(arguments), output: .discarded,
      error: .discarded)
    #expect(result.terminationStatus.isSuccess)
  }
}
