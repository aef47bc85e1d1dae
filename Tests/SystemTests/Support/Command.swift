import Foundation
import Synchronization
import TestSupport

/// Runs programs as an operator does, without holding a thread while they run.
enum Command {
  struct Result: Sendable {
    var status: Int32
    /// Standard output and standard error, as they came.
    var output: String
  }

  /// Runs a program of the system to its end.
  ///
  /// - Parameter environment: What it finds besides PATH, HOME and TMPDIR.
  static func run(
    _ program: String, _ arguments: [String], input: String? = nil,
    environment: [String: String] = [:]
  ) async throws -> Result {
    let path = program.hasPrefix("/") ? program : "/usr/bin/\(program)"
    let (process, output) = try launch(path, arguments, input: input, environment: environment)
    let box = Mutex(process)
    do {
      try await eventually(within: .seconds(60)) { box.withLock { !$0.isRunning } }
    } catch {
      box.withLock { _ = Foundation.kill($0.processIdentifier, SIGKILL) }
      throw CommandFailed(program: program, output: output.text)
    }
    return Result(status: box.withLock { $0.terminationStatus }, output: output.text)
  }

  static func launch(
    _ path: String, _ arguments: [String], input: String? = nil,
    environment: [String: String] = [:]
  ) throws -> (Process, OutputLines) {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.environment = cleanEnvironment.merging(environment) { $1 }
    let output = try OutputLines()
    let handle = try output.makeHandle()
    process.standardError = handle
    process.standardOutput = handle
    process.standardInput = try input.map(Self.file) ?? FileHandle.nullDevice
    try process.run()
    try handle.close()
    return (process, output)
  }

  /// A file and not a pipe, for the reason that ``OutputLines`` has.
  private static func file(holding text: String) throws -> FileHandle {
    let path = try Scratch.file()
    try Data(text.utf8).write(to: URL(filePath: path))
    return try FileHandle(forReadingFrom: URL(filePath: path))
  }

  private static var cleanEnvironment: [String: String] {
    ProcessInfo.processInfo.environment.filter { key, _ in
      key == "PATH" || key == "HOME" || key == "TMPDIR" || key.hasPrefix("LD_")
    }.merging(["XDG_STATE_HOME": Scratch.state]) { $1 }
  }
}

struct CommandFailed: Error, CustomStringConvertible {
  let program: String
  let output: String
  var description: String { "\(program) failed; it wrote:\n\(output)" }
}

/// PostgreSQL's own client, as an administrator uses it.
enum PSQL {
  /// Runs SQL, and returns rows as lines and columns between bars.
  @discardableResult
  static func run(_ conninfo: String, _ sql: String) async throws -> String {
    let result = try await Command.run(
      "psql", ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", conninfo], input: sql)
    guard result.status == 0 else { throw CommandFailed(program: "psql", output: result.output) }
    return result.output
  }
}

/// The binary under test.
enum Binary {
  /// It is built beside the tests.
  static let path: String = {
    var directory = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    while directory.path != "/" {
      let candidate = directory.appending(path: "vocative").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
      directory.deleteLastPathComponent()
    }
    return ".build/debug/vocative"
  }()

  /// Runs a subcommand to its end.
  static func run(
    _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> Command.Result {
    try await Command.run(path, arguments, environment: environment)
  }
}
