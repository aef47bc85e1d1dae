import Logging
import Synchronization

/// What a server process prints: passed on to the log, and the last of it kept to explain an end.
final class ServerMessages: Sendable {
  /// How many of the last lines are kept.
  static let keptLines = 12

  private struct State {
    var lines: [String] = []
    var ending: String?
  }

  private let state = Mutex(State())
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  /// How the process ended; nil while it runs.
  var ending: String? { state.withLock { $0.ending } }

  /// The last lines, oldest first.
  var lastLines: String { state.withLock { $0.lines.joined(separator: "\n") } }

  func record(_ line: String) {
    state.withLock {
      if $0.lines.count == Self.keptLines { $0.lines.removeFirst() }
      $0.lines.append(line)
    }
    logger.log(level: Self.level(of: line), "PostgreSQL", metadata: ["message": "\(line)"])
  }

  func recordEnding(_ ending: String) { state.withLock { $0.ending = ending } }

  /// PostgreSQL's severities as ours. FATAL ends one session only, and a stop or a bad database
  /// name is enough for it.
  static func level(of line: String) -> Logger.Level {
    if line.hasPrefix("PANIC:") { return .critical }
    if line.hasPrefix("FATAL:") { return .notice }
    return .debug
  }
}
