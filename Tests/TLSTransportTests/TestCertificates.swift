import Foundation
import NIOConcurrencyHelpers

/// Files of a private certificate authority and what it signed, in a directory of their own. Made
/// with the openssl command, so that nothing of ours made them.
final class TestCertificates: Sendable {
  let directory: String

  /// What a run of the openssl command said.
  struct Output: Sendable {
    var status: Int32
    var text: String
  }

  init() throws {
    directory =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("vocative-tls-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try authority("ca")
    try authority("other-ca")
    try certificate("ecdsa", key: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
    try certificate("rsa", key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"])
    try certificate("client", key: Self.ec)
    try certificate("stranger", key: Self.ec, authority: "other-ca")
  }

  private func remove() { try? FileManager.default.removeItem(atPath: directory) }

  static let ec = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]

  func path(_ name: String) -> String { "\(directory)/\(name)" }

  private func authority(_ name: String) throws {
    try openssl(
      ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        + ["-keyout", path("\(name).key"), "-out", path("\(name).pem"), "-days", "30"]
        + ["-subj", "/CN=Test \(name)"])
  }

  /// Makes `name.key` and `name.pem`, signed by the authority, for localhost and as a client.
  func certificate(
    _ name: String, key: [String], authority: String = "ca", days: Int = 30,
    subject: String? = nil
  ) throws {
    try openssl(["genpkey", "-out", path("\(name).key")] + key)
    try openssl(
      ["req", "-new", "-key", path("\(name).key"), "-out", path("\(name).csr")]
        + ["-subj", subject ?? "/O=Vocative/CN=\(name)"])
    let extensions = path("\(name).ext")
    try "subjectAltName=DNS:localhost,IP:127.0.0.1,URI:urn:test:\(name)\n"
      .write(toFile: extensions, atomically: true, encoding: .utf8)
    try openssl(
      ["x509", "-req", "-in", path("\(name).csr"), "-CA", path("\(authority).pem")]
        + ["-CAkey", path("\(authority).key"), "-CAcreateserial", "-days", "\(days)"]
        + ["-extfile", extensions, "-out", path("\(name).pem")])
  }

  @discardableResult
  func openssl(_ arguments: [String]) throws -> Output {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let result = Output(
      status: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
    guard result.status == 0 else { throw CommandFailure(arguments: arguments, output: result) }
    return result
  }

  struct CommandFailure: Error {
    var arguments: [String]
    var output: Output
  }

  /// Runs `openssl s_client`, sends lines, and waits until the server closes.
  ///
  /// s_client takes a command (R, K) only at the beginning of what one read brings, and acts on it
  /// with the line after it; so each line waits for the one before it. K needs `-msg`.
  func client(port: Int, _ arguments: [String], lines: [String] = ["ping"]) async throws -> Output {
    let process = Process()
    let input = Pipe()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["openssl", "s_client", "-connect", "127.0.0.1:\(port)"]
      + ["-CAfile", path("ca.pem")] + arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    return try await withCheckedThrowingContinuation { continuation in
      // Reading blocks until the command ends: on a thread of its own.
      Thread.detachNewThread {
        do {
          try process.run()
          let isDone = NIOLockedValueBox(false)
          let identifier = process.processIdentifier
          DispatchQueue.global().asyncAfter(deadline: .now() + 20) {
            isDone.withLockedValue { if !$0 { kill(identifier, SIGKILL) } }
          }
          var text = ""
          var sent = 0
          func send() {
            // A client that was refused has no reader left for its input.
            try? input.fileHandleForWriting.write(contentsOf: Data("\(lines[sent])\n".utf8))
            sent += 1
          }
          send()
          while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
            text += String(decoding: data, as: UTF8.self)
            if sent < lines.count, Self.isObeyed(lines[..<sent], text) { send() }
          }
          isDone.withLockedValue { isDone in
            process.waitUntilExit()
            isDone = true
          }
          try? input.fileHandleForWriting.close()
          continuation.resume(
            returning: Output(status: process.terminationStatus, text: text))
        } catch {
          continuation.resume(throwing: error)
        }
      }
    }
  }

  private static func isObeyed(_ lines: ArraySlice<String>, _ output: String) -> Bool {
    func count(_ text: String) -> Int { output.components(separatedBy: text).count - 1 }
    let updates = lines.count { $0 == "K" }
    switch lines.last {
    case "R": return count("RENEGOTIATING") > 0
    case "K": return count("KEYUPDATE") >= updates
    default: return count("<<< TLS 1.3, Handshake [length 0005], KeyUpdate") >= updates
    }
  }

  /// One set for the whole run: making keys takes longer than most tests.
  static let shared: Result<TestCertificates, any Error> = Result {
    let made = try TestCertificates()
    // A static value is never released.
    atexit { (try? TestCertificates.shared.get()).map { $0.remove() } }
    return made
  }
}
