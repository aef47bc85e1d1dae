import FoundationEssentials
import Glibc

/// The processes that run in a cluster's data directory, whoever started them.
///
/// Every PostgreSQL process keeps the data directory as its working directory. That tells a
/// server that outlived its service from a stranger with the same process id.
struct ClusterProcesses: Sendable {
  /// PostgreSQL's data directory, symbolic links resolved.
  let cluster: String

  /// The ids of the processes, in no particular order.
  func running() -> [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { processID in
      workingDirectory(of: processID) == cluster && name(of: processID) == "postgres"
    }
  }

  /// Ends what is still running: a fast shutdown by the server itself, then an immediate one,
  /// then SIGKILL, from which the next start recovers. Workers whose server is gone end by
  /// themselves.
  ///
  /// - Returns: How many processes there were.
  func stopAll(deadline: Duration) async throws -> Int {
    let found = running()
    guard !found.isEmpty else { return 0 }
    if let postmaster = postmaster(), found.contains(postmaster) {
      Glibc.kill(postmaster, SIGINT)
    }
    if try await areGone(within: deadline) { return found.count }
    for signal in [SIGQUIT, SIGKILL] {
      for processID in running() { Glibc.kill(processID, signal) }
      if try await areGone(within: .seconds(5)) { return found.count }
    }
    throw EmbeddedPostgresError(
      code: .stopFailed,
      message: "Processes \(running()) still run in \(cluster) after SIGKILL.")
  }

  private func areGone(within duration: Duration) async throws -> Bool {
    let deadline = ContinuousClock.now + duration
    while !running().isEmpty {
      guard ContinuousClock.now < deadline else { return false }
      try await Task.sleep(for: .milliseconds(10))
    }
    return true
  }

  private func postmaster() -> pid_t? {
    PostmasterStatus(file: "\(cluster)/postmaster.pid")?.processID
  }

  private func workingDirectory(of processID: pid_t) -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes {
      readlink("/proc/\(processID)/cwd", $0.baseAddress!, $0.count)
    }
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }

  private func name(of processID: pid_t) -> String? {
    FileManager.default.contents(atPath: "/proc/\(processID)/comm").map {
      String(decoding: $0.prefix { $0 != 0x0A }, as: UTF8.self)
    }
  }
}

/// What a server says about itself in `postmaster.pid`
/// (PostgreSQL's src/include/utils/pidfile.h: line 1 is its id, line 8 its status).
struct PostmasterStatus: Equatable {
  let processID: pid_t
  let isReady: Bool

  /// Nil when there is no such file, or none that is complete.
  init?(file: String) {
    guard let data = FileManager.default.contents(atPath: file) else { return nil }
    self.init(contents: String(decoding: data, as: UTF8.self))
  }

  init?(contents: String) {
    let lines = contents.split(separator: "\n", omittingEmptySubsequences: false)
    guard let first = lines.first, let processID = pid_t(first) else { return nil }
    self.processID = processID
    self.isReady = lines.count > 7 && lines[7].prefix { $0 != " " } == "ready"
  }
}
