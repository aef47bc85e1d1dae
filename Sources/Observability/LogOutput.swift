public import FoundationEssentials
public import Logging

#if canImport(Musl)
  import Musl
#elseif canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Where log lines go and how they look; hand ``handler(label:provider:)`` to
/// `LoggingSystem.bootstrap`.
///
/// An entry is exactly one line, written with a single write(2): control characters of messages
/// and values are escaped, so that nothing that came from outside can forge a line or reach the
/// terminal. What users write, their names and their phrases are never put into a log by this
/// project's code; ids, codes and sizes are.
public struct LogOutput: Sendable {
  /// How a line looks.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    /// `2026-01-31T12:00:00.123Z INFO  label: message key=value`
    case text
    /// One JSON object: `timestamp`, `level`, `label`, `message`, and `metadata` where there is any.
    case json
  }

  /// How a line looks.
  public let format: Format
  /// Entries below this level are not written.
  public let level: Logger.Level
  private let now: @Sendable () -> Date
  private let write: @Sendable ([UInt8]) -> Void

  /// An output to standard error. The process has to ignore SIGPIPE, as every server does.
  public init(format: Format, level: Logger.Level, now: @escaping @Sendable () -> Date) {
    self.init(format: format, level: level, now: now) { line in
      // A line that cannot be written, or not as a whole, is lost: there is no one to tell.
      line.withUnsafeBytes { bytes in
        while systemWrite(STDERR_FILENO, bytes.baseAddress, bytes.count) < 0, errno == EINTR {}
      }
    }
  }

  /// An output that hands each line, with its newline, to `write`.
  init(
    format: Format, level: Logger.Level, now: @escaping @Sendable () -> Date,
    write: @escaping @Sendable ([UInt8]) -> Void
  ) {
    self.format = format
    self.level = level
    self.now = now
    self.write = write
  }

  /// A handler for the logger with this label.
  /// - Parameter provider: adds metadata to every entry, as ``TraceContext/metadataProvider`` does.
  public func handler(
    label: String, provider: Logger.MetadataProvider? = nil
  ) -> any LogHandler {
    LineLogHandler(label: label, output: self, metadataProvider: provider)
  }

  func log(_ event: LogEvent, label: String, metadata: Logger.Metadata) {
    let milliseconds = Int64((now().timeIntervalSince1970 * 1000).rounded(.down))
    var line = LogLine(timestamp: rfc3339(milliseconds: milliseconds), label: label)
    switch format {
    case .text: line.appendText(event, metadata: metadata)
    case .json: line.appendJSON(event, metadata: metadata)
    }
    write(line.bytes)
  }
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  #if canImport(Musl)
    Musl.write(file, bytes, count)
  #elseif canImport(Glibc)
    Glibc.write(file, bytes, count)
  #else
    Darwin.write(file, bytes, count)
  #endif
}

private struct LineLogHandler: LogHandler {
  let label: String
  let output: LogOutput
  var metadataProvider: Logger.MetadataProvider?
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level

  init(label: String, output: LogOutput, metadataProvider: Logger.MetadataProvider?) {
    self.label = label
    self.output = output
    self.metadataProvider = metadataProvider
    logLevel = output.level
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var all = metadata
    if let metadataProvider { all.merge(metadataProvider.get()) { $1 } }
    if let own = event.metadata { all.merge(own) { $1 } }
    if let error = event.error { all["error"] = .string("\(error)") }
    output.log(event, label: label, metadata: all)
  }
}
