import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import EmbeddedPostgres

@Suite struct LifecycleTests {
  @Test func freshStartMakesAPrivateDurableCluster() async throws {
    try await withScratchDirectory { scratch in
      let directory = "\(scratch)/a b'c/data"
      try await withCluster(.init(directory: directory)) { cluster in
        let settings = try await cluster.execute(
          """
          SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings WHERE name
          IN ('fsync', 'synchronous_commit', 'data_checksums', 'server_encoding', 'lc_collate',
          'listen_addresses', 'TimeZone')
          """)
        #expect(
          settings == """
            TimeZone=UTC data_checksums=on fsync=on lc_collate=C listen_addresses= \
            server_encoding=UTF8 synchronous_commit=on
            """)
        #expect(try permissions(directory) == 0o700)
        #expect(try permissions(cluster.socketDirectory) == 0o700)
        #expect(try await cluster.execute("SELECT current_user") == EmbeddedPostgres.superuser)
      }
    }
  }

  @Test func runsAsAnOrdinaryUser() async throws {
    try await withScratchDirectory { scratch in
      try await withCluster(ephemeral("\(scratch)/data")) { cluster in
        let processID = try #require(await cluster.processID)
        let expected = try SystemUser.toRunAs("postgres")?.userID ?? geteuid()
        #expect(try userID(of: processID) == expected)
        #expect(expected != 0)
        #expect(getsid(processID) != getsid(0), "a terminal's Ctrl-C must not reach it")
      }
    }
  }

  @Test func aSecondStartFindsTheData() async throws {
    try await withScratchDirectory { scratch in
      try await withCluster(ephemeral("\(scratch)/data")) { cluster in
        try await cluster.createDatabase("it's \"ours\"")
        try await cluster.execute("CREATE TABLE kept AS SELECT 42 AS n", database: "it's \"ours\"")
      }
      try await withCluster(ephemeral("\(scratch)/data")) { cluster in
        #expect(try await cluster.databaseExists("it's \"ours\""))
        #expect(try await cluster.execute("SELECT n FROM kept", database: "it's \"ours\"") == "42")
        try await cluster.dropDatabase("it's \"ours\"")
        #expect(try await !cluster.databaseExists("it's \"ours\""))
      }
    }
  }

  @Test func aCleanStopLeavesNoProcessAndNoSocket() async throws {
    try await withScratchDirectory { scratch in
      let cluster = try await EmbeddedPostgres.start(ephemeral("\(scratch)/data"), logger: quiet)
      let socket = "\(cluster.socketDirectory)/.s.PGSQL.5432"
      #expect(FileManager.default.fileExists(atPath: socket))
      try await cluster.stop()
      #expect(!FileManager.default.fileExists(atPath: socket))
      #expect(ClusterProcesses(cluster: "\(scratch)/data/cluster").running().isEmpty)
      #expect(await cluster.processID == nil)
      try await cluster.stop()
    }
  }

  @Test func aFastStopEndsOpenSessions() async throws {
    try await withScratchDirectory { scratch in
      let cluster = try await EmbeddedPostgres.start(ephemeral("\(scratch)/data"), logger: quiet)
      let session = Task { try await cluster.execute("SELECT pg_sleep(600)") }
      try await eventually {
        try await cluster.execute(
          "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(6%'") == "1"
      }
      try await cluster.stop()
      await #expect(throws: EmbeddedPostgresError.self) { try await session.value }
    }
  }

  @Test func restartKeepsTheConninfoAndTheData() async throws {
    try await withScratchDirectory { scratch in
      try await withCluster(ephemeral("\(scratch)/data")) { cluster in
        try await cluster.execute("CREATE TABLE kept AS SELECT 1 AS n")
        let before = await cluster.processID
        try await cluster.restart()
        #expect(await cluster.processID != before)
        try await expect(cluster, toAnswer: "1", to: "SELECT n FROM kept")
      }
    }
  }

  @Test func listensOnALoopbackPortWhenAsked() async throws {
    try await withScratchDirectory { scratch in
      var configuration = ephemeral("\(scratch)/data")
      let port = try freeLoopbackPort()
      configuration.loopbackPort = port
      try await withCluster(configuration) { cluster in
        let setting = try await cluster.execute("SHOW listen_addresses")
        #expect(setting == "127.0.0.1")
        #expect(cluster.loopbackConninfo(database: "x")?.contains("port=\(port)") == true)
        #expect(throws: (any Error).self) { try bindLoopback(port) }
      }
    }
  }

  @Test func aLongPathHasItsSocketInAShortOne() async throws {
    try await withScratchDirectory { scratch in
      let directory = "\(scratch)/\(String(repeating: "long/", count: 20))data"
      try await withCluster(ephemeral(directory)) { cluster in
        #expect(cluster.socketDirectory.hasPrefix("/tmp/vocative-"))
        #expect(try permissions(cluster.socketDirectory) == 0o700)
        try await expect(cluster, toAnswer: "1", to: "SELECT 1")
        let socketDirectory = cluster.socketDirectory
        try await cluster.stop()
        try FileManager.default.removeItem(atPath: socketDirectory)
      }
    }
  }

  private func bindLoopback(_ port: Int) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw SystemCallFailed(call: "bind", number: errno) }
  }
}
