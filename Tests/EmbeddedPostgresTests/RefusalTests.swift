import FoundationEssentials
import Glibc
import Testing

@testable import EmbeddedPostgres

@Suite struct RefusalTests {
  @Test func aSecondServiceOnADirectoryIsRefused() async throws {
    try await withScratchDirectory { scratch in
      try await withCluster(ephemeral("\(scratch)/data")) { cluster in
        let error = await #expect(throws: EmbeddedPostgresError.self) {
          try await EmbeddedPostgres.start(ephemeral("\(scratch)/data"), logger: quiet)
        }
        #expect(error?.code == .directoryInUse)
        #expect(error?.message.contains("process \(getpid())") == true)
        try await expect(cluster, toAnswer: "1", to: "SELECT 1")
      }
    }
  }

  @Test func missingBinariesNameThePackage() async throws {
    try await withScratchDirectory { scratch in
      var configuration = ephemeral("\(scratch)/data")
      configuration.installationsDirectory = "\(scratch)/nowhere"
      let error = await #expect(throws: EmbeddedPostgresError.self) {
        try await EmbeddedPostgres.start(configuration, logger: quiet)
      }
      #expect(error?.code == .binariesMissing)
      #expect(error?.message.contains("apt-get install postgresql") == true)
    }
  }

  @Test func aClusterOfAnotherVersionIsLeftAlone() async throws {
    try await withScratchDirectory { scratch in
      try await withCluster(ephemeral("\(scratch)/data")) { _ in }
      let version = "\(scratch)/data/cluster/PG_VERSION"
      try Data("12\n".utf8).write(to: URL(filePath: version))
      let error = await #expect(throws: EmbeddedPostgresError.self) {
        try await EmbeddedPostgres.start(ephemeral("\(scratch)/data"), logger: quiet)
      }
      #expect(error?.code == .binariesMissing)
      #expect(error?.message.contains("postgresql-12") == true)
    }
  }

  @Test func aDirectoryThatIsNoClusterIsLeftAlone() async throws {
    try await withScratchDirectory { scratch in
      try FileManager.default.createDirectory(
        atPath: "\(scratch)/data/cluster", withIntermediateDirectories: true)
      try Data().write(to: URL(filePath: "\(scratch)/data/lock"))
      let error = await #expect(throws: EmbeddedPostgresError.self) {
        try await EmbeddedPostgres.start(ephemeral("\(scratch)/data"), logger: quiet)
      }
      #expect(error?.code == .directoryUnusable)
    }
  }

  @Test func aDirectoryOfSomethingElseIsLeftAsItIs() async throws {
    try await withScratchDirectory { scratch in
      try Data().write(to: URL(filePath: "\(scratch)/letter.txt"))
      let before = try permissions(scratch)
      let error = await #expect(throws: EmbeddedPostgresError.self) {
        try await EmbeddedPostgres.start(ephemeral(scratch), logger: quiet)
      }
      #expect(error?.code == .directoryUnusable)
      #expect(try permissions(scratch) == before)
    }
  }

  @Test func aServerThatCannotStartSaysWhyAndLeavesNothing() async throws {
    try await withScratchDirectory { scratch in
      var configuration = ephemeral("\(scratch)/data")
      configuration.settings = ["shared_buffers": "nonsense"]
      let error = await #expect(throws: EmbeddedPostgresError.self) {
        try await EmbeddedPostgres.start(configuration, logger: quiet)
      }
      #expect(error?.code == .startFailed)
      #expect(error?.message.contains("shared_buffers") == true)
      try await withCluster(ephemeral("\(scratch)/data")) { _ in }
    }
  }

  @Test(.enabled(if: geteuid() == 0)) func aClosedParentDirectoryIsNamed() async throws {
    try await withScratchDirectory { scratch in
      try FileManager.default.createDirectory(
        atPath: "\(scratch)/closed", withIntermediateDirectories: true)
      chmod("\(scratch)/closed", 0o700)
      let error = await #expect(throws: EmbeddedPostgresError.self) {
        try await EmbeddedPostgres.start(ephemeral("\(scratch)/closed/data"), logger: quiet)
      }
      #expect(error?.code == .directoryUnusable)
      #expect(error?.message.contains("\(scratch)/closed is closed") == true)
    }
  }

  @Test func aStatementThatFailsTellsTheServersReason() async throws {
    try await withScratchDirectory { scratch in
      try await withCluster(ephemeral("\(scratch)/data")) { cluster in
        let error = await #expect(throws: EmbeddedPostgresError.self) {
          try await cluster.execute("SELECT nonsense")
        }
        #expect(error?.code == .statementFailed)
        #expect(error?.message.contains("nonsense") == true)
      }
    }
  }
}
