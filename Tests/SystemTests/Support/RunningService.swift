import EmbeddedPostgres
import Foundation
import Identity
import Logging
import Synchronization
import TestSupport

/// The real binary, serving TLS on a port of its own.
final class RunningService: Sendable {
  /// `https://localhost:PORT`
  let baseURL: String
  /// `http://127.0.0.1:PORT`, for metrics.
  let adminURL: String
  let caFile: String
  let dataDirectory: String
  private let process: Mutex<Process>
  private let output: OutputLines

  /// Starts a service and returns when it listens.
  ///
  /// - Parameters:
  ///   - database: a conninfo; nil for the embedded cluster.
  ///   - dataDirectory: one to go on with; nil for a new one.
  static func start(
    database: String? = nil, dataDirectory: String? = nil, demo: Bool = false,
    _ settings: [String] = [], environment: [String: String] = [:]
  ) async throws -> RunningService {
    let directory = try dataDirectory ?? Scratch.directory()
    var arguments = ["serve"] + (demo ? ["--demo"] : [])
    arguments += [
      "--mode", "development", "--data-directory", directory, "--listen-host", "127.0.0.1",
      "--listen-port", "0", "--admin-port", "0",
    ]
    var environment = environment
    if let database { environment["DATABASE_URL"] = database }
    let (process, output) = try Binary.launch(arguments + settings, environment: environment)
    do {
      let admin = try await output.value(after: "listening for administration", key: "address")
      let address = try await output.value(after: "listening ", key: "address")
      return RunningService(
        baseURL: address.replacingOccurrences(of: "127.0.0.1", with: "localhost"),
        adminURL: admin, caFile: directory + "/tls/ca.pem", dataDirectory: directory,
        process: process, output: output)
    } catch {
      process.terminate()
      throw error
    }
  }

  private init(
    baseURL: String, adminURL: String, caFile: String, dataDirectory: String,
    process: sending Process, output: OutputLines
  ) {
    self.baseURL = baseURL
    self.adminURL = adminURL
    self.caFile = caFile
    self.dataDirectory = dataDirectory
    self.process = Mutex(process)
    self.output = output
  }

  var processID: Int32 { process.withLock { $0.processIdentifier } }

  /// What the service wrote to its log so far.
  var log: String { output.text }

  /// A token of the service's development issuer.
  func token(_ user: String, scopes: Set<Scope> = []) async throws -> String {
    let issuer = try DevelopmentIssuer(
      directory: dataDirectory + "/identity", mode: .development, now: { Date() })
    return try await issuer.token(userID: user, scopes: scopes)
  }

  /// Asks the service to stop, and waits for it.
  ///
  /// - Returns: its exit status.
  @discardableResult
  func stop() async throws -> Int32 {
    process.withLock { $0.terminate() }
    return try await ended()
  }

  /// Ends the service at once, as a power cut would.
  func kill() async throws {
    Foundation.kill(processID, SIGKILL)
    _ = try await ended()
  }

  func ended() async throws -> Int32 {
    try await eventually(within: .seconds(60)) { process.withLock { !$0.isRunning } }
    return process.withLock { $0.terminationStatus }
  }

  deinit {
    process.withLock { if $0.isRunning { Foundation.kill($0.processIdentifier, SIGKILL) } }
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

  static func launch(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (Process, OutputLines) {
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.environment = cleanEnvironment.merging(environment) { $1 }
    let output = OutputLines()
    process.standardError = output.pipe
    process.standardOutput = output.pipe
    try process.run()
    return (process, output)
  }

  /// Runs a command to its end.
  static func run(
    _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> (status: Int32, output: String) {
    let (process, output) = try launch(arguments, environment: environment)
    let box = Mutex(process)
    try await eventually(within: .seconds(60)) { box.withLock { !$0.isRunning } }
    try await output.ended()
    return (box.withLock { $0.terminationStatus }, output.text)
  }

  private static var cleanEnvironment: [String: String] {
    ProcessInfo.processInfo.environment.filter { key, _ in
      key == "PATH" || key == "HOME" || key == "TMPDIR" || key.hasPrefix("LD_")
    }
  }
}

/// What a process writes, as it writes it.
final class OutputLines: Sendable {
  let pipe = Pipe()
  private let state = Mutex((text: "", ended: false))

  init() {
    pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
      let data = handle.availableData
      self?.state.withLock { state in
        state.text += String(decoding: data, as: UTF8.self)
        if data.isEmpty { state.ended = true }
      }
      if data.isEmpty { handle.readabilityHandler = nil }
    }
  }

  var text: String { state.withLock { $0.text } }

  func ended() async throws {
    try await eventually(within: .seconds(20)) { state.withLock { $0.ended } }
  }

  /// The value of `key=` in the first line that has `marker`.
  func value(after marker: String, key: String) async throws -> String {
    var found: String?
    do {
      try await eventually(within: .seconds(60)) {
        if state.withLock({ $0.ended }) { throw ServiceDidNotStart(output: text) }
        found = Self.value(in: text, marker, key)
        return found != nil
      }
    } catch is ConditionNotMet {
      throw ServiceDidNotStart(output: text)
    }
    return found ?? ""
  }

  private static func value(in text: String, _ marker: String, _ key: String) -> String? {
    for line in text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1)
    where line.contains(marker) {
      guard let range = line.range(of: key + "=") else { continue }
      return String(line[range.upperBound...].prefix { $0 != " " && $0 != "\"" })
    }
    return nil
  }
}

struct ServiceDidNotStart: Error, CustomStringConvertible {
  let output: String
  var description: String { "the service did not start; it wrote:\n\(output)" }
}

/// Directories that are gone when the tests are over.
enum Scratch {
  static func directory() throws -> String {
    let path = "/tmp/vocative-system-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    made.withLock { $0.append(path) }
    return path
  }

  private static let made: Mutex<[String]> = {
    atexit { Scratch.removeAll() }
    return Mutex([])
  }()

  private static func removeAll() {
    for path in made.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
  }
}
