import Postgres
import PostgresWire
import Testing
import TestSupport

private let sleepy = statement("SELECT pg_sleep($1)", [.float8])

/// A real server that is killed, restarted, silenced and cut off.
@Suite(.serialized) struct Faults {
  @Test func killedAndRestartedMidStatement() async throws {
    let cluster = try Cluster()
    defer { cluster.remove() }
    try await withClient(cluster.socketURI) { client in
      try await client.script("CREATE TABLE log (id int8 PRIMARY KEY)")
      let slowWrite = statement(
        "INSERT INTO log SELECT $1 FROM pg_sleep(30)", [.int8])
      async let write = capture { try await client.write(slowWrite, Parameters(1)) }
      async let transaction = capture {
        try await client.transaction([(slowWrite, Parameters(2))])
      }
      async let read = capture { try await client.query(sleepy, Parameters(0.5)) }
      try await eventually("statements run") {
        try await client.int(
          "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(%'") >= 3
      }
      cluster.kill9()
      let codes = await [write?.code, transaction?.code]
      #expect(codes == [.outcomeUnknown, .outcomeUnknown])
      try cluster.start()
      let readError = await read
      #expect(readError == nil, "a read is run again")
      try await client.ready()
      #expect(try await client.int("SELECT count(*) FROM log") == 0)
      _ = try await client.write(
        statement("INSERT INTO log VALUES ($1)", [.int8]), Parameters(3))
      #expect(client.health.losses >= 3)
    }
  }

  @Test func cutOffBeforeTheAnswerToACommit() async throws {
    let proxy = try Proxy(to: Cluster.shared.port)
    defer { proxy.stop() }
    try await withClient(proxy.uri) { client in
      try await client.script("CREATE TABLE cut_commit (id int8 PRIMARY KEY)")
      let insert = statement("INSERT INTO cut_commit VALUES ($1)", [.int8])
      try await client.ready()
      // The server commits each, the client cannot know.
      proxy.cutAnswers(true)
      let write = await capture { try await client.write(insert, Parameters(1)) }
      let transaction = await capture { try await client.transaction([(insert, Parameters(2))]) }
      proxy.cutAnswers(false)
      let commit = await capture {
        try await client.withTransaction { connection in
          try await connection.query(insert, Parameters(3))
          proxy.cutAnswers(true)
        }
      }
      proxy.cutAnswers(false)
      let inside = await capture {
        try await client.withTransaction { connection in
          proxy.cutAnswers(true)
          try await connection.query(insert, Parameters(4))
        }
      }
      proxy.cutAnswers(false)
      #expect(write?.code == .outcomeUnknown)
      #expect(transaction?.code == .outcomeUnknown)
      #expect(commit?.code == .outcomeUnknown)
      #expect(inside?.code == .connectionLost)
      let sum = try await client.int("SELECT coalesce(sum(id), 0)::int8 FROM cut_commit")
      #expect(sum == 1 + 2 + 3)
    }
  }

  @Test func terminatedBackends() async throws {
    try await withClient(change: { $0.applicationName = "terminated" }) { client in
      try await client.ready()
      let read = Task { await capture { try await client.query(sleepy, Parameters(1.0)) } }
      let write = Task {
        await capture {
          try await client.write(
            statement("WITH t AS (SELECT pg_sleep($1)) SELECT count(*) FROM t", [.float8]),
            Parameters(1.0))
        }
      }
      try await eventually("both run") {
        try await Cluster.count(
          "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'terminated'"
            + " AND query LIKE '%pg_sleep(%' AND state = 'active'") == 2
      }
      _ = try await Cluster.count(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
          + " WHERE application_name = 'terminated'")
      // The server says FATAL before the commit, so both are known to be undone, and run again.
      let outcomes = [await read.value, await write.value].compactMap { $0?.description }
      #expect(outcomes == [])
    }
  }

  @Test func aReconnectStormBacksOff() async throws {
    let proxy = try Proxy(to: Cluster.shared.port)
    defer { proxy.stop() }
    try await withClient(proxy.uri) { client in
      try await client.ready()
      proxy.refuse(true)
      proxy.cut()
      let before = proxy.accepted
      let error = await capture {
        try await client.query(statement("SELECT 1::int8"), deadline: .seconds(1))
      }
      #expect(error?.code == .deadlineExceeded)
      #expect(error?.message?.contains("cannot connect") == true)
      // 8 connections, a pause of 50 to 100 ms at the end.
      #expect((16...200).contains(proxy.accepted - before))
      proxy.refuse(false)
      try await client.ready()
    }
  }

  @Test func aSilentServerIsGivenUp() async throws {
    let proxy = try Proxy(to: Cluster.shared.port)
    defer { proxy.stop() }
    try await withClient(
      proxy.uri,
      change: {
        $0.readConnections = 1
        $0.cleanUpTimeout = .milliseconds(300)
      }
    ) { client in
      try await client.ready()
      proxy.silence(true)
      let error = await capture {
        try await client.query(statement("SELECT 1::int8"), deadline: .milliseconds(200))
      }
      #expect(error?.code == .deadlineExceeded)
      proxy.silence(false)
      #expect(try await client.int("SELECT 7::int8") == 7)
    }
  }

  @Test func failsOverToTheWritableHost() async throws {
    let standby = try Cluster(settings: ["default_transaction_read_only=on"])
    let primary = try Cluster()
    defer {
      standby.remove()
      primary.remove()
    }
    let hosts = "host=127.0.0.1,localhost port=\(standby.port),\(primary.port)"
    let rest = "user=postgres dbname=postgres"
    let port = "SELECT current_setting('port')::int8"
    try await withClient("\(hosts) \(rest) target_session_attrs=read-write") { client in
      try await client.ready()
      let only = try await client.int(port)
      #expect(only == Int(primary.port))
    }
    try await withClient("\(hosts) \(rest) target_session_attrs=any") { client in
      let first = try await client.int(port)
      standby.kill9()
      #expect(first == Int(standby.port))
      // The killed server's sessions may answer for a moment longer.
      try await eventually { try await client.int(port) == Int(primary.port) }
    }
  }
}

/// The error of a call; nil when it succeeds.
func capture(_ call: () async throws -> some Any) async -> PostgresError? {
  do {
    _ = try await call()
    return nil
  } catch {
    return error as? PostgresError ?? PostgresError(.misuse, message: "\(error)")
  }
}
