import Postgres
import PostgresWire
import Testing

import struct FoundationEssentials.UUID

@Suite struct Client {
  @Test func everyTypeGoesThroughTheServer() async throws {
    try await withClient { client in
      func same<T: PostgresEncodable & PostgresDecodable & Equatable>(
        _ values: [T], sourceLocation: SourceLocation = #_sourceLocation
      ) async throws {
        let echo = statement("SELECT $1 AS \"\(T.postgresType)\"", [T.postgresType])
        for value in values {
          let rows = try await client.query(echo, Parameters(value))
          let back = try rows[0].decode(T.self, at: 0)
          #expect(back == value, sourceLocation: sourceLocation)
          #expect(rows.columns[0].type == T.postgresType, sourceLocation: sourceLocation)
        }
      }
      try await same([true, false])
      try await same([Int16.min, .max])
      try await same([Int32.min, .max])
      try await same([Int.min, 0, .max])
      try await same([0.1, -.infinity])
      try await same(["", "日本語", "a'b\\c"])
      try await same([[UInt8](), [0, 255]])
      try await same([UUID()])
      try await same([Timestamp(microseconds: 1_700_000_000_123_456), .init(microseconds: -1)])
      try await same([JSONB("{\"a\": [1, null]}")])
      try await same([String?.none, "x"])
      try await same([[1, 2], [], [Int.min]])
      try await same([["a", nil, ""]])
      try await same([[UUID(), UUID()]])
      try await same([[[UInt8]([1]), []]])
      try await same([[true, false]])
      try await same([[Int16(1)]])
      try await same([[Int32(1), nil]])
      try await same([[JSONB("1")]])
      try await same([[Timestamp(microseconds: 5)]])
    }
  }

  @Test func errorsTellWhatFailedAndNeverAValue() async throws {
    try await withClient { client in
      try await client.script(
        "CREATE TABLE private_things (id int8 CONSTRAINT my_key PRIMARY KEY, note text)")
      let insert = statement("INSERT INTO private_things VALUES ($1, $2)", [.int8, .text])
      _ = try await client.write(insert, Parameters(77_777, "s3cret"))
      let duplicate = try #require(
        await capture { try await client.write(insert, Parameters(77_777, "s3cret")) })
      #expect(duplicate.code == .server && duplicate.sqlState == "23505")
      #expect(duplicate.constraint == "my_key" && duplicate.table == "private_things")
      #expect(duplicate.statement == insert.name)
      #expect(!"\(duplicate)".contains("77777") && !"\(duplicate)".contains("s3cret"))
      let invalid = try #require(
        await capture {
          try await client.query(statement("SELECT $1::int8", [.text]), Parameters("s3cret"))
        })
      #expect(invalid.sqlState == "22P02" && !"\(invalid)".contains("s3cret"))
      let syntax = try #require(
        await capture { try await client.query(statement("SELECT 1 +")) })
      #expect(syntax.sqlState == "42601" && syntax.position == 11 && syntax.message != nil)
      let readOnly = try #require(
        await capture { try await client.query(insert, Parameters(1, "x")) })
      #expect(readOnly.sqlState == "25006", "reads cannot write")
      let type = await capture {
        try await client.query(statement("SELECT 1::int8"))[0].decode(String.self, at: 0)
      }
      #expect(type?.code == .decoding)
      let null = await capture {
        try await client.query(statement("SELECT NULL::int8"))[0].decode(Int.self, at: 0)
      }
      #expect(null?.code == .decoding)
    }
  }

  @Test func isolationAndRetries() async throws {
    try await withClient { client in
      let level = try await client.transaction(
        [(statement("SELECT current_setting('transaction_isolation')"), Parameters())],
        isolation: .serializable)
      #expect(level.count == 1)
      #expect(try level[0][0].decode(String.self, at: 0) == "serializable")
      // A failure leaves the connection usable, though an explicit transaction was open.
      let error = await capture {
        try await client.transaction(
          [(statement("SELECT 1/0"), Parameters())], isolation: .repeatableRead)
      }
      #expect(error?.sqlState == "22012")
      try await client.script("CREATE TABLE counter (n int8); INSERT INTO counter VALUES (0)")
      // Read, then write what was read plus one: serializable conflicts, so it takes retries.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask {
            try await client.withTransaction(isolation: .serializable, retries: 1000) { c in
              let n = try await c.query(statement("SELECT n FROM counter"))[0].decode(
                Int.self, at: 0)
              try await c.query(statement("UPDATE counter SET n = $1", [.int8]), Parameters(n + 1))
            }
          }
        }
        try await group.waitForAll()
      }
      let n = try await client.int("SELECT n FROM counter")
      #expect(n == 8)
    }
  }

  @Test func aFailingCommitFailsItsOwnCallerOnly() async throws {
    try await withClient(change: { $0.writeConnections = 1 }) { client in
      try await client.script(
        "CREATE TABLE deferred (id int8, UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)")
      let insert = statement("INSERT INTO deferred VALUES ($1)", [.int8])
      let failures = await withTaskGroup(of: PostgresError?.self) { group in
        for id in [1, 2, 3, 3, 4, 5] {
          group.addTask { await capture { try await client.write(insert, Parameters(id)) } }
        }
        return await group.reduce(into: []) { $0 += [$1].compactMap { $0 } }
      }
      #expect(failures.map(\.sqlState) == ["23505"])
      let count = try await client.int("SELECT count(*) FROM deferred")
      #expect(count == 5)
    }
  }

  @Test func schemaChangesUnderPreparedStatements() async throws {
    try await withClient { client in
      try await client.script("CREATE TABLE changing (a int8); INSERT INTO changing VALUES (1)")
      let all = statement("SELECT * FROM changing")
      let before = try await client.query(all).columnCount
      try await client.script("ALTER TABLE changing ADD b text")
      let after = try await client.query(all).columnCount
      #expect([before, after] == [1, 2])
    }
  }

  // MARK: Deadlines and cancellation

  @Test func deadlinesFreeTheConnection() async throws {
    try await withClient(change: { $0.readConnections = 1 }) { client in
      try await client.ready()
      let start = monotonic()
      let slow = await capture {
        try await client.query(
          statement("SELECT pg_sleep(20)"), deadline: .milliseconds(100))
      }
      #expect(slow?.code == .deadlineExceeded)
      // The server was told to stop, so the only connection is free long before 20 s.
      let one = try await client.int("SELECT 1::int8")
      #expect(one == 1 && monotonic() - start < 5)
      let write = await capture {
        try await client.write(
          statement("SELECT pg_sleep(20), 'w'"), deadline: .milliseconds(100))
      }
      #expect(write?.code == .outcomeUnknown)
    }
  }

  @Test func cancelledCallersReturnAtOnce() async throws {
    try await withClient { client in
      try await client.ready()
      let start = monotonic()
      let sleep = statement("SELECT pg_sleep(2)")
      let read = Task { await capture { try await client.query(sleep) } }
      let write = Task { await capture { try await client.write(sleep) } }
      try await eventually("both are sent") {
        client.health.reads.inFlight == 1 && client.health.writes.inFlight == 1
      }
      read.cancel()
      write.cancel()
      let codes = await [read.value?.code, write.value?.code]
      #expect(codes == [.cancelled, .outcomeUnknown])
      #expect(monotonic() - start < 1.5)
      let before = Task { await capture { try await client.query(sleep) } }
      before.cancel()
      #expect(await before.value?.code == .cancelled)
    }
  }

  // MARK: Leases

  @Test func aCancelledLeaseDoesNotPoisonThePool() async throws {
    try await withClient(change: { $0.leaseConnections = 1 }) { client in
      try await client.script("CREATE TABLE poison (id int8)")
      let holder = Task {
        try await client.withTransaction { connection in
          try await connection.query(
            statement("INSERT INTO poison VALUES ($1)", [.int8]), Parameters(1))
          try await connection.query(statement("SELECT pg_sleep(20)"))
        }
      }
      try await eventually("it is held") { client.health.leases.inFlight == 1 }
      try await Task.sleep(for: .milliseconds(50))
      holder.cancel()
      _ = await holder.result
      let start = monotonic()
      try await client.withConnection { connection in
        let status = try await connection.query(
          statement("SELECT pg_current_xact_id_if_assigned() IS NULL"))
        #expect(try status[0].decode(Bool.self, at: 0), "no transaction is open")
      }
      #expect(monotonic() - start < 5)
      let count = try await client.int("SELECT count(*) FROM poison")
      #expect(count == 0)
    }
  }

  @Test func leasesTimeOut() async throws {
    try await withClient(change: {
      $0.leaseConnections = 1
      $0.leaseWait = .milliseconds(100)
    }) { client in
      try await client.ready()
      let outer = await capture {
        try await client.withConnection(deadline: .milliseconds(400)) { connection in
          let inner = await capture { try await client.withConnection { _ in } }
          #expect(inner?.code == .leaseTimeout)
          try await connection.query(statement("SELECT pg_sleep(20)"))
        }
      }
      #expect(outer?.code == .outcomeUnknown)
      try await client.ready()
    }
  }

  @Test func runsOnceAndEndsWithItsTask() async throws {
    let client = try await withClient { client in
      try await client.ready()
      let again = await capture { try await client.run() }
      #expect(again?.code == .misuse)
      return client
    }
    #expect(await capture { try await client.ready() }?.code == .poolShutDown)
    let bad = PostgresClient(
      configuration: PostgresConfiguration(connectionString: "host=a,b port=1,2,3 password=s3cret"),
      logger: .init(label: "test"))
    let flaw = await capture { try await bad.run() }
    #expect(flaw?.code == .configuration)
    #expect(flaw.map { "\($0)".contains("s3cret") } == false)
  }
}
