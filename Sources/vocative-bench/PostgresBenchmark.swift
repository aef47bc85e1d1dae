import Glibc
import Logging
import Postgres
import PostgresWire

/// Selects by key and durable single-row inserts through ``PostgresClient``, against pgbench with
/// the same prepared statements, as many callers and the same unix socket, in the same run.
struct PostgresBenchmark {
  /// One line of the table.
  struct Measurement: Sendable {
    /// `select` or `insert`.
    var operation: String
    /// Concurrent callers; pgbench has as many connections.
    var callers: Int
    /// Through the client.
    var ours: Rate
    /// Of pgbench.
    var pgbench: Rate
    /// How many times pgbench's operations a second.
    var ratio: Double { ours.perSecond / pgbench.perSecond }
  }

  /// How fast, and at what cost.
  struct Rate: Sendable {
    /// Operations a second.
    var perSecond: Double
    /// Microseconds of processor time an operation, of client and server together.
    var processorMicroseconds: Double
  }

  private static let rows = 100_000
  private static let select = Statement(
    name: "bench_select", sql: "SELECT value FROM vocative_bench WHERE id = $1",
    parameters: [.int4], columns: [.text])
  private static let insert = Statement(
    name: "bench_insert", sql: "INSERT INTO vocative_bench_log (value) VALUES ($1)",
    parameters: [.text])

  /// Measures at 1, 16 and 128 callers and prints a table.
  ///
  /// Makes and drops the tables `vocative_bench` and `vocative_bench_log`.
  ///
  /// - Parameters:
  ///   - conninfo: of a database on a unix socket; `pgbench` has to be installed.
  ///   - seconds: how long each of the twelve measurements takes, at least 1.
  ///   - readConnections: connections that the reads share.
  ///   - writeConnections: connections that the writes share.
  /// - Returns: the measurements.
  @discardableResult
  static func run(
    conninfo: String, seconds: Int, readConnections: Int = 2, writeConnections: Int = 2
  ) async throws -> [Measurement] {
    var configuration = PostgresConfiguration(connectionString: conninfo)
    configuration.readConnections = readConnections
    configuration.writeConnections = writeConnections
    let client = PostgresClient(configuration: configuration, logger: Logger(label: "bench"))
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await client.run() }
      let measurements = try await measure(client, conninfo, seconds)
      group.cancelAll()
      try await group.waitForAll()
      print(table(measurements))
      return measurements
    }
  }

  private static func measure(
    _ client: PostgresClient, _ conninfo: String, _ seconds: Int
  ) async throws -> [Measurement] {
    try await prepare(client)
    let server = try await client.query(
      Statement(name: "bench_pid", sql: "SELECT pg_backend_pid()"))[0].decode(Int32.self, at: 0)
    guard let time = ProcessorTime(serverProcess: server) else {
      throw BenchmarkError("the server is not on this machine")
    }
    var measurements: [Measurement] = []
    for callers in [1, 16, 128] {
      let ours = try await rate(callers, seconds, time) { random in
        let rows = try await client.query(
          select, Parameters(Int32.random(in: 1...Int32(rows), using: &random)))
        guard rows.count == 1 else { throw BenchmarkError("a row is missing") }
      }
      let theirs = try pgbench(
        conninfo, callers, seconds, time,
        "\\set id random(1, \(rows))\nSELECT value FROM vocative_bench WHERE id = :id;\n")
      measurements.append(
        Measurement(operation: "select", callers: callers, ours: ours, pgbench: theirs))
    }
    for callers in [1, 16, 128] {
      let ours = try await rate(callers, seconds, time) { _ in
        _ = try await client.write(insert, Parameters("a value of some twenty"))
      }
      let theirs = try pgbench(
        conninfo, callers, seconds, time,
        "INSERT INTO vocative_bench_log (value) VALUES ('a value of some twenty');\n")
      measurements.append(
        Measurement(operation: "insert", callers: callers, ours: ours, pgbench: theirs))
    }
    try await client.withConnection { connection in
      _ = try await connection.execute("DROP TABLE vocative_bench, vocative_bench_log")
    }
    return measurements
  }

  private static func prepare(_ client: PostgresClient) async throws {
    let script = """
      DROP TABLE IF EXISTS vocative_bench, vocative_bench_log;
      CREATE TABLE vocative_bench (id int4 PRIMARY KEY, value text NOT NULL);
      INSERT INTO vocative_bench SELECT n, 'value ' || n FROM generate_series(1, \(rows)) n;
      CREATE TABLE vocative_bench_log (
        id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, value text NOT NULL);
      ANALYZE vocative_bench;
      """
    try await client.withConnection { connection in _ = try await connection.execute(script) }
  }

  /// Calls a second of so many callers that each call again when answered.
  private static func rate(
    _ callers: Int, _ seconds: Int, _ time: ProcessorTime,
    _ call: @escaping @Sendable (inout SystemRandomNumberGenerator) async throws -> Void
  ) async throws -> Rate {
    let used = time.seconds()
    let clock = ContinuousClock()
    let start = clock.now
    let end = start + .seconds(seconds)
    let calls = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<callers {
        group.addTask {
          var random = SystemRandomNumberGenerator()
          var count = 0
          while clock.now < end {
            try await call(&random)
            count += 1
          }
          return count
        }
      }
      return try await group.reduce(0, +)
    }
    return Rate(
      perSecond: Double(calls) / ((clock.now - start) / .seconds(1)),
      processorMicroseconds: (time.seconds() - used) * 1e6 / Double(calls))
  }

  // MARK: pgbench

  /// Transactions a second of pgbench with prepared statements and one connection a caller.
  private static func pgbench(
    _ conninfo: String, _ callers: Int, _ seconds: Int, _ time: ProcessorTime, _ script: String
  ) throws -> Rate {
    let used = time.seconds()
    var path = Array("/tmp/vocative-bench-XXXXXX".utf8CString)
    let descriptor = mkstemp(&path)
    guard descriptor >= 0 else { throw BenchmarkError("mkstemp: errno \(errno)") }
    defer { unlink(path) }
    _ = script.withCString { write(descriptor, $0, strlen($0)) }
    close(descriptor)
    let file = path.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    let command =
      "pgbench -n -M prepared -c \(callers) -j \(min(callers, 2)) -T \(seconds) -f \(file)"
      + " '\(conninfo.replacing("'", with: "'\\''"))' 2>&1"
    guard let pipe = popen(command, "r") else { throw BenchmarkError("popen: errno \(errno)") }
    var output = ""
    var line = [CChar](repeating: 0, count: 4096)
    while fgets(&line, 4096, pipe) != nil {
      output += line.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }
    func number(after label: String) -> Double? {
      output.firstRange(of: label).flatMap { found in
        Double(output[found.upperBound...].prefix { $0.isNumber || $0 == "." })
      }
    }
    guard pclose(pipe) == 0, let rate = number(after: "tps = "),
      let count = number(after: "actually processed: "), count > 0
    else { throw BenchmarkError("pgbench failed, or did nothing in its time: \(output)") }
    return Rate(
      perSecond: rate, processorMicroseconds: (time.seconds() - used) * 1e6 / count)
  }

  private static func table(_ measurements: [Measurement]) -> String {
    func pad(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(0, width - text.count)) + text
    }
    let header =
      pad("operation", 10) + pad("callers", 9) + pad("ours/s", 12) + pad("pgbench/s", 12)
      + pad("ratio", 8) + pad("ours CPU µs", 13) + pad("pgbench CPU µs", 16)
    return measurements.reduce(header) { text, line in
      let ratio = (line.ratio * 100).rounded() / 100
      let costs = [line.ours, line.pgbench].map {
        "\(($0.processorMicroseconds * 10).rounded() / 10)"
      }
      return text + "\n" + pad(line.operation, 10) + pad("\(line.callers)", 9)
        + pad("\(Int(line.ours.perSecond))", 12) + pad("\(Int(line.pgbench.perSecond))", 12)
        + pad("\(ratio)", 8) + pad(costs[0], 13) + pad(costs[1], 16)
    }
  }
}

/// Why a benchmark cannot be run.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
