import Foundation
import TestSupport

/// What a process writes, as it writes it.
///
/// It goes to a file: a pipe would be inherited by the children that other tests start at the same
/// time, and end with the last of them.
final class OutputLines: Sendable {
  let path: String

  init() throws {
    path = try Scratch.file()
  }

  /// To be given to a process.
  func makeHandle() throws -> FileHandle {
    try FileHandle(forWritingTo: URL(filePath: path))
  }

  var text: String {
    String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
  }

  /// Whole lines only.
  var lines: [Substring] {
    let text = text
    return text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1)
  }

  /// Waits for a line that has one of these texts.
  ///
  /// - Parameter isRunning: whether more can come.
  /// - Throws: ``OutputIsMissing`` when there is none in time, or the process has ended.
  func line(
    with markers: String..., within duration: Duration = .seconds(60),
    while isRunning: () -> Bool = { true }
  ) async throws -> Substring {
    var found: Substring?
    do {
      try await eventually(within: duration) {
        // In this order: what is written before the end is there when the end is seen.
        let canGrow = isRunning()
        found = lines.first { line in markers.contains { line.contains($0) } }
        if found == nil, !canGrow { throw OutputIsMissing(output: text) }
        return found != nil
      }
    } catch is ConditionNotMet {
      throw OutputIsMissing(output: text)
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
struct OutputIsMissing: Error, CustomStringConvertible {
  let output: String
  var description: String { "the process did not write what was waited for; it wrote:\n\(output)" }
}
