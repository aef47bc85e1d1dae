import EmbeddedPostgres
import Foundation
import Identity
import Synchronization
import TestSupport

/// The real binary, serving TLS on a port of its own.
final class RunningService: Sendable {
  /// `https://localhost:PORT`
  let baseURL: String
  /// `http://127.0.0.1:PORT`, for metrics and health.
  let adminURL: String
  let caFile: String
  let dataDirectory: String
  let output: OutputLines
  private let process: Mutex<Process>

  /// Starts a service in development mode, and returns when it listens.
  ///
  /// - Parameters:
  ///   - database: a conninfo; nil for the embedded cluster.
  ///   - dataDirectory: one to go on with; nil for a new one.
  static func start(
    database: String? = nil, dataDirectory: String? = nil, demo: Bool = false,
    mode: String = "development", _ settings: [String] = [], port: Int = 0,
    environment: [String: String] = [:]
  ) async throws -> RunningService {
    let directory = try dataDirectory ?? Scratch.directory()
    var arguments = ["serve"] + (demo ? ["--demo"] : [])
    arguments += [
      "--mode", mode, "--data-directory", directory, "--listen-host", "127.0.0.1",
      "--listen-port", "\(port)", "--admin-port", "0",
    ]
    var environment = environment
    if let database { environment["DATABASE_URL"] = database }
    let (process, output) = try Command.launch(
      Binary.path, arguments + settings, environment: environment)
    Leftovers.add(process.processIdentifier)
    do {
      let isRunning = { process.isRunning }
      let admin = try await output.line(with: "listening for administration", while: isRunning)
      let main = try await output.line(
        with: ": listening address=", "\"message\":\"listening\"", while: isRunning)
      return RunningService(
        baseURL: OutputLines.value(of: "address", in: main)
          .replacingOccurrences(of: "127.0.0.1", with: "localhost"),
        adminURL: OutputLines.value(of: "address", in: admin), caFile: directory + "/tls/ca.pem",
        dataDirectory: directory, process: process, output: output)
    } catch {
      Foundation.kill(process.processIdentifier, SIGKILL)
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
  var port: Int { URL(string: baseURL)?.port ?? 0 }

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
    Foundation.kill(processID, SIGTERM)
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

/// Processes that must not outlive the tests, whatever becomes of these.
enum Leftovers {
  static func add(_ processID: Int32) { started.withLock { $0.append(processID) } }

  private static let started: Mutex<[Int32]> = {
    atexit { Leftovers.end() }
    return Mutex([])
  }()

  private static func end() {
    let running = started.withLock { $0 }.filter(isOurs)
    // An embedded database stops with its service.
    for processID in running { Foundation.kill(processID, SIGTERM) }
    let deadline = ContinuousClock.now + .seconds(5)
    while running.contains(where: isOurs), ContinuousClock.now < deadline { usleep(5000) }
    for processID in running where isOurs(processID) { Foundation.kill(processID, SIGKILL) }
  }

  /// The number may be somebody else's by now.
  private static func isOurs(_ processID: Int32) -> Bool {
    let target = try? FileManager.default.destinationOfSymbolicLink(
      atPath: "/proc/\(processID)/exe")
    return target == URL(filePath: Binary.path).resolvingSymlinksInPath().path
  }
}

/// Directories that are gone when the tests are over.
enum Scratch {
  private static let prefix = "vocative-system-"

  /// An empty file.
  static func file() throws -> String {
    let path = "\(files)/\(UUID().uuidString.prefix(12))"
    guard FileManager.default.createFile(atPath: path, contents: nil) else {
      throw CocoaError(.fileWriteUnknown)
    }
    return path
  }

  private static let files = (try? directory()) ?? "/tmp"

  /// What commands keep between their runs.
  static let state = (try? directory()) ?? "/tmp"

  static func directory() throws -> String {
    let path = "/tmp/\(prefix)\(getpid())-\(UUID().uuidString.prefix(8))"
    made.withLock { $0.append(path) }
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
    return path
  }

  private static let made: Mutex<[String]> = {
    removeAbandoned()
    atexit { Scratch.removeAll() }
    return Mutex([])
  }()

  private static func removeAll() {
    for path in made.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
  }

  /// Ends and removes what test processes have left that were killed.
  private static func removeAbandoned() {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/tmp")) ?? [] {
      guard name.hasPrefix(prefix),
        let owner = pid_t(name.dropFirst(prefix.count).prefix { $0 != "-" }),
        Foundation.kill(owner, 0) != 0, errno == ESRCH
      else { continue }
      for process in Processes.naming("/tmp/\(name)") { Foundation.kill(process, SIGKILL) }
      try? FileManager.default.removeItem(atPath: "/tmp/\(name)")
    }
  }
}

/// What runs on this machine.
enum Processes {
  /// Those whose command line or working directory names a directory.
  static func naming(_ directory: String) -> [pid_t] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { pid_t($0) }.filter { process in
      let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
      let place =
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")) ?? ""
      return String(decoding: line, as: UTF8.self).contains(directory)
        || place.hasPrefix(directory)
    }
  }
}
