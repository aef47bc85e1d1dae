import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import TLSTransport
import Testing

@Suite struct ReloadTests {
  let certificates = try! TestCertificates.shared.get()

  private final class Files: Sendable {
    let certificates: TestCertificates
    let configuration: TLSContext.Configuration
    init(_ certificates: TestCertificates, _ name: String) throws {
      self.certificates = certificates
      let id = UUID().uuidString
      configuration = .init(
        identities: [
          .init(
            certificateChainFile: certificates.path("\(id).pem"),
            privateKeyFile: certificates.path("\(id).key"))
        ])
      try install(name)
    }

    func install(_ name: String) throws {
      try replace(configuration.identities[0].certificateChainFile, "\(name).pem")
      try replace(configuration.identities[0].privateKeyFile, "\(name).key")
    }

    func replace(_ path: String, _ source: String) throws {
      let contents = try Data(contentsOf: URL(fileURLWithPath: certificates.path(source)))
      let new = path + ".new"
      _ = FileManager.default.createFile(
        atPath: new, contents: contents, attributes: [.posixPermissions: 0o600])
      guard rename(new, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
  }

  /// Lines that a logger got.
  private struct LogRecorder: LogHandler {
    let lines: Recorder<String>
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) { lines.append("\(event.level): \(event.message)") }
  }

  private func logger(_ lines: Recorder<String>) -> Logger {
    Logger(label: "test") { _ in LogRecorder(lines: lines) }
  }

  @Test func newCertificateForNewConnectionsOnly() async throws {
    let files = try Files(certificates, "ecdsa")
    let lines = Recorder<String>()
    let server = try await TestServer(files.configuration)
    let reloader = TLSReloader(
      configuration: files.configuration, box: server.contexts, logger: logger(lines))
    let before = try await TestClient(port: server.port, certificates)
    try await before.send("one")
    try await eventually { before.received.readableBytes == 3 }
    #expect(await !reloader.reloadIfChanged())

    try files.install("rsa")
    #expect(await reloader.reloadIfChanged())
    #expect(await !reloader.reloadIfChanged())
    let after = try await certificates.client(port: server.port, ["-tls1_3"])
    #expect(after.text.contains("CN = rsa"), "\(after.text)")
    try await before.send("two")
    try await eventually { before.received.readableBytes == 6 }
    #expect(before.seen.errors.all == [])
    #expect(lines.all == ["info: TLS certificates and keys reloaded"])
    try await before.channel.close()
    try await server.stop()
  }

  @Test func badFilesKeepTheOldContext() async throws {
    let files = try Files(certificates, "ecdsa")
    let lines = Recorder<String>()
    let box = TLSContextBox(try TLSContext(files.configuration))
    let old = box.current
    let reloader = TLSReloader(configuration: files.configuration, box: box, logger: logger(lines))
    try files.replace(files.configuration.identities[0].certificateChainFile, "rsa.pem")
    #expect(await !reloader.reloadIfChanged())
    #expect(await !reloader.reloadIfChanged())  // not tried, nor logged, again
    #expect(box.current === old)
    #expect(lines.all.count == 1)
    #expect(lines.all[0].hasPrefix("error: TLS certificates and keys not reloaded"))
    #expect(lines.all[0].contains("is not the key of the certificate in"))
    try FileManager.default.removeItem(atPath: files.configuration.identities[0].privateKeyFile)
    #expect(await !reloader.reloadIfChanged())
    try files.replace(files.configuration.identities[0].privateKeyFile, "rsa.key")
    #expect(await reloader.reloadIfChanged())
    #expect(box.current !== old)
    await #expect(throws: Never.self) { try await reloader.reload() }  // as on SIGHUP
  }

  @Test func watchesUntilCancelled() async throws {
    let files = try Files(certificates, "ecdsa")
    let box = TLSContextBox(try TLSContext(files.configuration))
    let old = box.current
    let reloader = TLSReloader(
      configuration: files.configuration, box: box, logger: logger(Recorder<String>()))
    let watching = Task { await reloader.run(every: .milliseconds(5)) }
    try files.install("rsa")
    try await eventually {
      box.current !== old && box.current.certificates[0].subject.contains("rsa")
    }
    watching.cancel()
    await watching.value
  }

  /// Contexts come and go under connections that are made, used and closed: nothing is freed that
  /// is in use (also a matter for the address sanitizer), nothing fails.
  @Test func churnUnderReloads() async throws {
    let ring = certificates.path("churn-\(UUID().uuidString)")
    try TicketKeyRing.rotate(file: ring, keeping: 3)
    var configuration = TLSContext.Configuration(certificates, "ecdsa", "rsa")
    configuration.ticketKeyFile = ring
    let server = try await TestServer(configuration)
    let reloader = TLSReloader(
      configuration: configuration, box: server.contexts, logger: logger(Recorder<String>()))
    let isDone = NIOLockedValueBox(false)
    try await withThrowingTaskGroup { group in
      group.addTask {
        while !isDone.withLockedValue({ $0 }) {
          try TicketKeyRing.rotate(file: ring, keeping: 3)
          try await reloader.reload()
          await Task.yield()
        }
      }
      try await withThrowingTaskGroup { clients in
        for number in 0..<8 {
          clients.addTask {
            for round in 0..<25 {
              let client = try await TestClient(port: server.port, certificates)
              let text = "ping \(number) \(round)"
              try await client.send(text)
              try await client.closed()
              #expect(String(buffer: client.received) == text)
              #expect(client.seen.errors.all == [])
            }
          }
        }
        try await clients.waitForAll()
      }
      isDone.withLockedValue { $0 = true }
      try await group.waitForAll()
    }
    #expect(server.outcomes.all.allSatisfy { $0.failure == nil })
    try await server.stop()
  }
}
