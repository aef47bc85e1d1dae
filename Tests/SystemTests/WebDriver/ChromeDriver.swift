import Foundation

/// What went wrong with the browser, or what the page did not do in time.
struct BrowserFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A running `chromedriver`, which speaks the W3C WebDriver protocol on a port of its own choice.
final class ChromeDriver: Sendable {
  /// Where it listens, on loopback.
  let baseURL: String
  private let process: Process
  private let profile: URL
  /// Finishes when the process has ended.
  private let ended: AsyncStream<Never>

  /// Starts it, and waits until it listens.
  ///
  /// - Throws: `BrowserFailure` where Chromium or its driver is not there: a test without its
  ///   browser is a failure, never skipped.
  static func start() async throws -> ChromeDriver {
    guard let executable = find("chromedriver"), find("chromium") != nil else {
      throw BrowserFailure(
        "chromium and chromedriver are needed to test the page: run scripts/setup test")
    }
    let profile = FileManager.default.temporaryDirectory
      .appending(path: "vocative-browser-\(UUID().uuidString.lowercased())")
    try FileManager.default.createDirectory(at: profile, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = URL(filePath: executable)
    process.arguments = ["--port=0"]
    // What the browser writes outside of its profile goes away with it, too.
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["HOME": profile.path, "TMPDIR": profile.path]) { _, new in new }
    let (ended, end) = AsyncStream.makeStream(of: Never.self)
    process.terminationHandler = { _ in end.finish() }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    do {
      let port = try await port(in: output.fileHandleForReading)
      return ChromeDriver(
        baseURL: "http://127.0.0.1:\(port)", process: process, profile: profile, ended: ended)
    } catch {
      kill(process.processIdentifier, SIGKILL)
      try? FileManager.default.removeItem(at: profile)
      throw error
    }
  }

  private init(baseURL: String, process: Process, profile: URL, ended: AsyncStream<Never>) {
    self.baseURL = baseURL
    self.process = process
    self.profile = profile
    self.ended = ended
  }

  /// Ends it, and removes what the browser left.
  func stop() async {
    // Not SIGTERM: a child inherits the signals that a thread of the pool has blocked.
    kill(process.processIdentifier, SIGKILL)
    for await _ in ended {}
    try? FileManager.default.removeItem(at: profile)
  }

  static func find(_ name: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
    return path.split(separator: ":").map { "\($0)/\(name)" }
      .first(where: FileManager.default.isExecutableFile(atPath:))
  }

  private static func port(in output: FileHandle) async throws -> Int {
    var text = ""
    for await chunk in chunks(of: output) {
      text += chunk
      if let match = text.firstMatch(of: #/started successfully on port (\d+)/#),
        let port = Int(match.1)
      {
        return port
      }
    }
    throw BrowserFailure("chromedriver ended before it listened: \(text)")
  }

  /// What a pipe brings until its end; it is read on, so that the writer never blocks.
  private static func chunks(of output: FileHandle) -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    output.readabilityHandler = { handle in
      let data = handle.availableData
      if data.isEmpty {
        handle.readabilityHandler = nil
        continuation.finish()
      } else {
        continuation.yield(String(decoding: data, as: UTF8.self))
      }
    }
    return stream
  }
}
