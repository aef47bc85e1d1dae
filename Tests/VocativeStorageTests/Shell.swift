import EmbeddedPostgres
import Foundation
import Testing

/// PostgreSQL's own programs, as an administrator runs them.
enum Shell {
  /// Runs one of PostgreSQL's programs and returns what it printed; an exit status other than 0 is
  /// a failure of the test.
  @discardableResult
  static func run(
    _ program: String, _ arguments: [String], input: String = ""
  ) async throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/\(program)")
    process.arguments = arguments
    let stdin = Pipe()
    let stdout = Pipe()
    process.standardInput = stdin
    process.standardOutput = stdout
    try process.run()
    stdin.fileHandleForWriting.write(Data(input.utf8))
    try stdin.fileHandleForWriting.close()
    let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(program) failed")
    return String(decoding: output, as: UTF8.self)
  }
}
