import Postgres
import PostgresWire
import Testing

@Suite struct Basics {
  @Test func reads() async throws {
    try await withClient { client in
      let rows = try await client.query(
        statement("SELECT $1 + 1, $2", [.int8, .text]), Parameters(41, "héllo"))
      #expect(rows.count == 1)
      #expect(try rows[0].decode(Int.self, at: 0) == 42)
      #expect(try rows[0].decode(String.self, at: 1) == "héllo")
    }
  }

  @Test func writesAndTransactions() async throws {
    try await withClient { client in
      try await client.script("CREATE TABLE basics (id int8 PRIMARY KEY, text text)")
      let insert = statement(
        "INSERT INTO basics VALUES ($1, $2) RETURNING id", [.int8, .text], [.int8])
      let row = try await client.write(insert, Parameters(1, "one"))
      #expect(row.affected == 1)
      let results = try await client.transaction([
        (insert, Parameters(2, "two")), (insert, Parameters(3, "three")),
      ])
      #expect(try results.map { try $0[0].decode(Int.self, at: 0) } == [2, 3])
      await #expect(throws: PostgresError.self) {
        try await client.transaction([
          (insert, Parameters(4, "four")), (insert, Parameters(3, "three")),
        ])
      }
      #expect(try await client.int("SELECT count(*) FROM basics") == 3)
    }
  }
}
