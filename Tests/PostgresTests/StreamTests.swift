import Postgres
import PostgresWire
import Testing

@Suite struct Streams {
  @Test func copyBothWays() async throws {
    try await withClient { client in
      let rows = 120_000
      try await client.script("CREATE TABLE copied (id int8, text text)")
      // Chunks that split rows anywhere.
      let text = (0..<rows).map { "\($0)\ttext of \($0) – ä\n" }.joined()
      let bytes = Array(text.utf8)
      let chunks = AsyncStream<[UInt8]> { continuation in
        for start in stride(from: 0, to: bytes.count, by: 10_007) {
          continuation.yield(Array(bytes[start..<min(start + 10_007, bytes.count)]))
        }
        continuation.finish()
      }
      let copied = try await client.withConnection { connection in
        try await connection.copyIn("COPY copied FROM STDIN", chunks)
      }
      #expect(copied == rows)
      let (back, count) = try await client.withConnection { connection in
        var back: [UInt8] = []
        var count = 0
        for try await chunk in try await connection.copyOut(
          "COPY (SELECT * FROM copied ORDER BY id) TO STDOUT")
        {
          back += chunk
          count += 1
        }
        // The connection is good for statements again.
        try await connection.query(statement("SELECT 1"))
        return (back, count)
      }
      #expect(back == bytes)
      #expect(count > 10)
      let losses = client.health.losses
      #expect(losses == 0)
    }
  }

  @Test func copyThatFails() async throws {
    try await withClient(change: { $0.leaseConnections = 1 }) { client in
      try await client.script("CREATE TABLE copy_fails (id int8)")
      let bad = AsyncStream<[UInt8]> { continuation in
        continuation.yield(Array("1\nnot a number\n".utf8))
        continuation.finish()
      }
      let refused = await capture {
        try await client.withConnection { try await $0.copyIn("COPY copy_fails FROM STDIN", bad) }
      }
      #expect(refused?.sqlState == "22P02")
      let broken = AsyncThrowingStream<[UInt8], any Error> { continuation in
        continuation.yield(Array("1\n".utf8))
        continuation.finish(throwing: Failure("source"))
      }
      await #expect(throws: Failure.self) {
        try await client.withConnection {
          try await $0.copyIn("COPY copy_fails FROM STDIN", broken)
        }
      }
      let unknown = await capture {
        try await client.withConnection { try await $0.copyOut("COPY no_such_table TO STDOUT") }
      }
      #expect(unknown?.sqlState == "42P01")
      let misused = await capture {
        try await client.withConnection { try await $0.copyOut("SELECT 1") }
      }
      #expect(misused != nil)
      // A COPY that is not read to its end costs its connection, nothing more.
      try await client.withConnection { connection in
        for try await _ in try await connection.copyOut(
          "COPY (SELECT generate_series(1, 1000000)) TO STDOUT")
        {
          break
        }
      }
      let count = try await client.int("SELECT count(*) FROM copy_fails")
      #expect(count == 0)
      try await client.ready()
    }
  }

  @Test func listenAcrossReconnects() async throws {
    try await withClient(change: { $0.applicationName = "listener" }) { client in
      let notify = statement("SELECT pg_notify($1, $2)", [.text, .text])
      var events = client.listen("a \"channel\"").makeAsyncIterator()
      #expect(await events.next() == .reconnected)
      _ = try await client.write(notify, Parameters("a \"channel\"", "first"))
      guard case .notification(let first) = await events.next() else {
        Issue.record("no notification")
        return
      }
      #expect(first.channel == "a \"channel\"" && first.payload == "first")
      // A second listener of the same channel is told that it is being heard.
      var second = client.listen("a \"channel\"").makeAsyncIterator()
      #expect(await second.next() == .reconnected)
      #expect(await events.next() == .reconnected)
      _ = try await Cluster.count(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
          + " WHERE application_name = 'listener' AND query LIKE 'LISTEN%'")
      #expect(await events.next() == .reconnected)
      _ = try await client.write(notify, Parameters("a \"channel\"", "second"))
      guard case .notification(let again) = await events.next() else {
        Issue.record("no notification")
        return
      }
      #expect(again.payload == "second")
    }
  }

  @Test func scripts() async throws {
    try await withClient { client in
      try await client.withConnection { connection in
        try await connection.execute(
          "CREATE TABLE s (a int8); INSERT INTO s VALUES (1), (2); SELECT 1")
        let error = await capture {
          try await connection.execute("INSERT INTO s VALUES (3); SELECT 1/0")
        }
        #expect(error?.sqlState == "22012")
        try await connection.execute("")
      }
      let count = try await client.int("SELECT count(*) FROM s")
      #expect(count == 2, "a script is one transaction")
    }
  }
}
