import Logging
import Subprocess

/// A running server process: its id, its signals, its messages and its end.
final class Postmaster: Sendable {
  let processID: Int32
  let messages: ServerMessages
  private let signals: AsyncStream<Signal>.Continuation
  private let supervision: Task<Void, Never>

  private init(
    processID: Int32, messages: ServerMessages, signals: AsyncStream<Signal>.Continuation,
    supervision: Task<Void, Never>
  ) {
    self.processID = processID
    self.messages = messages
    self.signals = signals
    self.supervision = supervision
  }

  /// Starts the process. It is not ready for connections yet.
  static func launch(_ command: ServerCommand, logger: Logger) async throws -> Postmaster {
    let messages = ServerMessages(logger: logger)
    let (signals, signalSource) = AsyncStream.makeStream(of: Signal.self)
    let (starts, startSource) = AsyncThrowingStream.makeStream(of: Int32.self)
    let configuration = command.configuration
    // Not a child task: the process lives until it is stopped, whoever waits for it.
    let supervision = Task {
      do {
        let result = try await Subprocess.run(
          configuration, input: .none, output: .discarded, error: .sequence
        ) { execution in
          startSource.yield(execution.processIdentifier.value)
          // Signals are sent from in here, where the process cannot have been reaped yet, so
          // that its id cannot have become another's.
          let sender = Task { for await signal in signals { try? execution.send(signal: signal) } }
          defer { sender.cancel() }
          for try await line in execution.standardError.strings(bufferingPolicy: .unbounded) {
            messages.record(line)
          }
        }
        messages.recordEnding("\(result.terminationStatus)")
        startSource.finish()
      } catch {
        messages.recordEnding("\(error)")
        startSource.finish(throwing: error)
      }
      signalSource.finish()
    }
    for try await processID in starts {
      return Postmaster(
        processID: processID, messages: messages, signals: signalSource, supervision: supervision)
    }
    throw EmbeddedPostgresError(code: .startFailed, message: "PostgreSQL could not be launched.")
  }

  /// Whether the process is gone.
  var hasEnded: Bool { messages.ending != nil }

  /// Sends a signal; none when the process has ended.
  func send(_ signal: Signal) { signals.yield(signal) }

  /// Returns when the process and its workers are gone.
  func waitForEnd() async { await supervision.value }

  /// Whether the process is gone within `duration`.
  func ends(within duration: Duration) async -> Bool {
    let deadline = ContinuousClock.now + duration
    while !hasEnded {
      guard ContinuousClock.now < deadline else { return false }
      // A cancelled caller still waits for the process: stopping it must not be left half done.
      await Task { try? await Task.sleep(for: .milliseconds(10)) }.value
    }
    await waitForEnd()
    return true
  }
}
