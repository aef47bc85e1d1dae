import EmbeddedPostgres
import TestSupport
import Testing

@Suite struct TestClusterTests {
  @Test func databasesAreSeparateAndGoneAfterwards() async throws {
    let template = DatabaseTemplate(name: "greeting") { conninfo in
      let postgres = try await TestCluster.shared.postgres()
      #expect(conninfo.contains("template_greeting"))
      try await postgres.execute("CREATE TABLE t (n int)", database: "template_greeting")
    }
    let postgres = try await TestCluster.shared.postgres()
    let names = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 1...4 {
        group.addTask {
          try await TestCluster.shared.withDatabase(template: template) { conninfo in
            let name = try #require(conninfo.firstMatch(of: /dbname='([a-z0-9_]+)'/)).1
            try await postgres.execute("INSERT INTO t VALUES (1)", database: String(name))
            let count = try await postgres.execute("SELECT count(*) FROM t", database: String(name))
            #expect(count == "1")
            return String(name)
          }
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(names.count == 4)
    for name in names { #expect(try await !postgres.databaseExists(name)) }
  }

  @Test func generatorsReplayFromTheirSeed() {
    var one = SeededGenerator(seed: 5)
    var two = SeededGenerator(seed: one.seed)
    #expect((1...10).map { _ in one.next() } == (1...10).map { _ in two.next() })
    // The first outputs for seed 1234567 of the reference implementation
    // (prng.di.unimi.it/splitmix64.c).
    var reference = SeededGenerator(seed: 1_234_567)
    #expect(reference.next() == 6_457_827_717_110_365_317)
    #expect(reference.next() == 3_203_168_211_198_807_973)
  }

  @Test func eventuallyGivesUpAtItsDeadline() async throws {
    var attempts = 0
    try await eventually {
      attempts += 1
      return attempts == 3
    }
    #expect(attempts == 3)
    await #expect(throws: ConditionNotMet.self) {
      try await eventually(within: .milliseconds(20)) { false }
    }
  }
}
