import Foundation
import Subprocess
import VocativeStorage

/// wrk (https://github.com/wg/wrk), a load generator for HTTP/1.1 over TLS with keep-alive.
enum Wrk {
  private struct Summary: Decodable {
    var requests: Double
    var microseconds: Double
    var p50: Double
    var p99: Double
    var failures: Int
  }

  /// What every script ends with: its figures on a line of their own.
  private static let done = """

    function done(summary, latency, requests)
      local e = summary.errors
      io.write(string.format(
        'summary {"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"failures":%d}\\n',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
        e.connect + e.read + e.write + e.status + e.timeout))
    end
    """

  /// Writes a script that has a `request` function; returns its path.
  static func script(_ name: String, _ text: String, on stage: Stage) throws -> String {
    try stage.file(name, text + done)
  }

  /// One round: as many requests as the connections can make one after another.
  ///
  /// - Throws: where a single request failed, or was answered with an error.
  static func run(
    _ script: String, connections: Int, seconds: Int, _ stage: Stage, _ report: inout Report
  ) async throws -> Load {
    let arguments = [
      "-t\(min(connections, 2))", "-c\(connections)", "-d\(seconds)s", "-s", script,
      stage.service.baseURL,
    ]
    report.addCommand("wrk " + arguments.map(stage.anonymous).joined(separator: " "))
    let before = stage.cpuSeconds()
    let output = try await Tool.run("wrk", arguments)
    let cpu = stage.cpuSeconds() - before
    guard let line = output.split(separator: "\n").last(where: { $0.hasPrefix("summary ") }),
      let summary = try? JSONDecoder().decode(
        Summary.self, from: Data(line.dropFirst("summary ".count).utf8)),
      summary.failures == 0, summary.requests > 0
    else { throw BenchmarkError("wrk failed:\n\(output)") }
    return Load(
      perSecond: summary.requests / summary.microseconds * 1e6, p50: summary.p50 / 1000,
      p99: summary.p99 / 1000, cpu: cpu / summary.requests * 1e6)
  }
}

/// PostgreSQL's own load generator, with prepared statements.
enum Pgbench {
  /// A statement of the service as pgbench takes it.
  ///
  /// - Parameter values: SQL expressions for $1, $2 and so on; `:name` is a variable of pgbench.
  static func statement(_ name: String, _ values: [String]) throws -> String {
    guard let statement = Statements.all.first(where: { $0.name == name }),
      statement.parameters.count == values.count
    else { throw BenchmarkError("\(name) does not take \(values.count) parameters") }
    let code = statement.sql.split(separator: "\n").map { line in
      line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line
    }.joined(separator: "\n")
    return String(code).replacing(/\$(\d+)/) { values[Int($0.1)! - 1] } + ";\n"
  }

  /// The settings of the service's own connections.
  private static let settings = Storage.connectionSettings.sorted { $0.key < $1.key }
    .map { "-c \($0.key)=\($0.value)" }.joined(separator: " ")

  /// One round: as many runs of a script as the clients can make one after another.
  static func run(
    _ script: String, clients: Int, seconds: Int, _ stage: Stage, _ report: inout Report
  ) async throws -> Load {
    let arguments = [
      "-n", "-M", "prepared", "-c", "\(clients)", "-j", "\(min(clients, 2))", "-T",
      "\(seconds)", "-f", script,
    ]
    report.addCommand(
      "PGOPTIONS='\(settings)' pgbench " + arguments.map(stage.anonymous).joined(separator: " "))
    let before = stage.databaseCPUSeconds()
    let output = try await Tool.run(
      "/usr/lib/postgresql/\(stage.cluster.majorVersion)/bin/pgbench",
      arguments + [stage.conninfo], environment: ["PGOPTIONS": settings])
    let cpu = stage.databaseCPUSeconds() - before
    guard let rate = output.firstMatch(of: /tps = ([\d.]+)/).flatMap({ Double($0.1) }),
      let count = output.firstMatch(of: /actually processed: (\d+)/).flatMap({ Double($0.1) }),
      output.contains("failed transactions: 0 "), !output.contains("aborted")
    else { throw BenchmarkError("pgbench failed:\n\(output)") }
    return Load(perSecond: rate, cpu: cpu / count * 1e6)
  }
}

/// Runs a program to its end.
enum Tool {
  /// - Returns: standard output and standard error.
  static func run(
    _ name: String, _ arguments: [String], environment: [Environment.Key: String] = [:]
  ) async throws -> String {
    let result = try await Subprocess.run(
      name.hasPrefix("/") ? .path(.init(name)) : .name(name),
      arguments: Arguments(arguments),
      environment: .inherit.updating(environment.mapValues { $0 }), output: .string(limit: 1 << 20),
      error: .combinedWithOutput)
    guard result.terminationStatus.isSuccess else {
      throw BenchmarkError(
        "\(name) ended with \(result.terminationStatus):\n\(result.standardOutput)")
    }
    return result.standardOutput
  }
}
