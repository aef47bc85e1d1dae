import Foundation
import Synchronization
import TestSupport

/// What a process writes, as it writes it.
final class OutputLines: Sendable {
  /// Shared with the pipe's handler, which outlives the test's interest.
  private final class Buffer: Sendable {
    let state = Mutex((bytes: Data(), ended: false))

    func append(_ data: Data) {
      state.withLock { state in
        state.bytes.append(data)
        if data.isEmpty { state.ended = true }
      }
    }
  }

  let pipe = Pipe()
  private let buffer = Buffer()

  init() {
    pipe.fileHandleForReading.readabilityHandler = { [buffer] handle in
      let data = handle.availableData
      buffer.append(data)
      if data.isEmpty { handle.readabilityHandler = nil }
    }
  }

  var text: String { buffer.state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

  /// Whole lines only.
  var lines: [Substring] {
    let text = text
    return text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1)
  }

  func ended() async throws {
    try await eventually(within: .seconds(20)) { buffer.state.withLock { $0.ended } }
  }

  /// Waits for a line that has one of these texts.
  ///
  /// - Throws: ``ServiceDidNotStart`` when there is none in time, or the process ends before it.
  func line(
    with markers: String..., within duration: Duration = .seconds(60)
  ) async throws -> Substring {
    var found: Substring?
    do {
      try await eventually(within: duration) {
        // In this order: what is written before the end is there when the end is seen.
        let ended = buffer.state.withLock { $0.ended }
        found = lines.first { line in markers.contains { line.contains($0) } }
        if found == nil, ended { throw ServiceDidNotStart(output: text) }
        return found != nil
      }
    } catch is ConditionNotMet {
      throw ServiceDidNotStart(output: text)
    }
    return found ?? ""
  }

  /// The value of a key in a line of a log, in text or in JSON; empty where there is none.
  static func value(of key: String, in line: Substring) -> String {
    for form in ["\(key)=", "\"\(key)\":\""] {
      guard let range = line.range(of: form) else { continue }
      return String(line[range.upperBound...].prefix { $0 != " " && $0 != "\"" })
    }
    return ""
  }
}

/// A process that did not write what it was to write.
struct ServiceDidNotStart: Error, CustomStringConvertible {
  let output: String
  var description: String { "the process did not write what was waited for; it wrote:\n\(output)" }
}
