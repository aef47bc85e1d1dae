import Postgres
@testable import PostgresWire
import Testing

/// Many callers with random statements, some of which fail: each failing only its own caller.
@Suite struct Concurrency {
  @Test(arguments: [UInt64.random(in: 1...1_000_000)])
  func everyFailureIsItsOwnCallers(seed: UInt64) async throws {
    let table = "concurrent_\(seed)"
    let insert = statement("INSERT INTO \(table) VALUES ($1, $2)", [.int8, .int8])
    let one = statement("SELECT $1 * 2", [.int8])
    let divide = statement("SELECT 10 / $1", [.int8])
    try await withClient { client in
      try await client.script("CREATE TABLE \(table) (id int8 PRIMARY KEY, n int8 CHECK (n > 0))")
      let expected = try await withThrowingTaskGroup(of: [Int].self) { group in
        for caller in 0..<128 {
          group.addTask {
            var random = SeededRandom(seed: seed &+ UInt64(caller))
            var committed: [Int] = []
            for round in 0..<25 {
              let id = caller * 1000 + round * 10
              let fails = Int.random(in: 0..<5, using: &random) == 0
              switch Int.random(in: 0..<6, using: &random) {
              case 0, 1:
                let rows = try await client.query(one, Parameters(id))
                #expect(try rows[0].decode(Int.self, at: 0) == id * 2)
              case 2:
                let error = await capture {
                  try await client.query(divide, Parameters(fails ? 0 : 5))
                }
                #expect(error?.sqlState == (fails ? "22012" : nil))
              case 3, 4:
                let error = await capture {
                  try await client.write(insert, Parameters(id, fails ? 0 : 1))
                }
                #expect(error?.sqlState == (fails ? "23514" : nil))
                if !fails { committed.append(id) }
              default:
                let error = await capture {
                  try await client.transaction(
                    [(insert, Parameters(id, 1)), (insert, Parameters(id + 1, fails ? 0 : 1))],
                    grouped: Bool.random(using: &random))
                }
                #expect(error?.sqlState == (fails ? "23514" : nil))
                if !fails { committed += [id, id + 1] }
              }
            }
            return committed
          }
        }
        return try await group.reduce(into: Set<Int>()) { $0.formUnion($1) }
      }
      let rows = try await client.query(statement("SELECT id FROM \(table)"))
      let stored = try Set(rows.map { try $0.decode(Int.self, at: 0) })
      #expect(stored == expected, "seed \(seed)")
      let losses = client.health.losses
      #expect(losses == 0)
    }
  }
}
