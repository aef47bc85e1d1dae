import EmbeddedPostgres
import FoundationEssentials
import Postgres
import PostgresWire
import Testing
import TestSupport
import VocativeSQL
import VocativeStorage

@Suite struct MigrationTests {
  @Test func theCommandAndPsqlMakeTheSameSchema() async throws {
    let ours = try await TestCluster.shared.withDatabase { conninfo in
      try await StorageFixture.withClient(conninfo) { client in
        let migrator = Migrator(client: client, logger: StorageFixture.quiet)
        let first = try await migrator.migrate()
        #expect(first == SQL.migrations.map(\.name))
        let second = try await migrator.migrate()
        #expect(second.isEmpty)
      }
      return try await Shell.run("pg_dump", ["--schema-only", "-d", conninfo])
    }
    let theirs = try await TestCluster.shared.withDatabase { conninfo in
      for file in SQL.migrations {
        try await Shell.run(
          "psql", ["-qX", "-v", "ON_ERROR_STOP=1", "-d", conninfo, "-f", "-"], input: file.text)
      }
      let dump = try await Shell.run("pg_dump", ["--schema-only", "-d", conninfo])
      // What psql has applied, the command accepts, and completes with checksums.
      try await StorageFixture.withClient(conninfo) { client in
        let migrator = Migrator(client: client, logger: StorageFixture.quiet)
        #expect(try await migrator.migrate() == [])
        let missing = try await client.query(
          Statement(
            name: "missing", sql: "SELECT count(*) FROM vocative.migration WHERE checksum IS NULL",
            columns: [.int8]))
        #expect(try missing[0].decode(Int64.self, at: 0) == 0)
      }
      return dump
    }
    #expect(ours.contains("CREATE TABLE vocative.entry"))
    // pg_dump may guard its output with a random key of its own.
    func comparable(_ dump: String) -> [Substring] {
      dump.split(separator: "\n").filter { !$0.contains("restrict ") }
    }
    #expect(comparable(ours) == comparable(theirs))
  }

  @Test func severalAtTheSameTimeApplyEachFileOnce() async throws {
    try await TestCluster.shared.withDatabase { conninfo in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            try await StorageFixture.withClient(conninfo) { client in
              _ = try await Migrator(client: client, logger: StorageFixture.quiet).migrate()
            }
          }
        }
        try await group.waitForAll()
      }
      try await StorageFixture.withClient(conninfo) { client in
        let status = try await Migrator(client: client, logger: StorageFixture.quiet).status()
        #expect(status.applied == SQL.migrations.map(\.name) && status.pending.isEmpty)
      }
    }
  }

  @Test func aNewerOrOtherDatabaseIsRefused() async throws {
    for change in [
      "INSERT INTO vocative.migration (version, name) VALUES (999, '0999_future')",
      "UPDATE vocative.migration SET checksum = 'another' WHERE version = 1",
    ] {
      try await TestCluster.shared.withDatabase(template: StorageFixture.template) { conninfo in
        try await StorageFixture.withClient(conninfo) { client in
          try await client.withConnection { connection in
            _ = try await connection.execute(change)
          }
          await #expect(throws: Migrator.Refusal.self) {
            try await Migrator(client: client, logger: StorageFixture.quiet).migrate()
          }
        }
      }
    }
  }

  @Test func theServiceMayDoOnlyWhatItNeeds() async throws {
    try await StorageFixture.run { fixture in
      for forbidden in [
        "DELETE FROM vocative.entry", "UPDATE vocative.entry SET sender_id = 'x'",
        "UPDATE vocative.installation SET epoch = gen_random_uuid()",
        "INSERT INTO vocative.migration VALUES (7, 'x')", "CREATE TABLE vocative.mine (a int)",
        "TRUNCATE vocative.thread", "DROP TABLE vocative.entry",
      ] {
        let error = await #expect(throws: PostgresError.self) {
          try await fixture.client.withConnection { connection in
            _ = try await connection.execute(forbidden)
          }
        }
        #expect(error?.sqlState == "42501", "\(forbidden)")
      }
    }
  }
}
