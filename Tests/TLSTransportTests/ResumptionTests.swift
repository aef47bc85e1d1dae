import NIOCore
import TLSTransport
import Testing

/// Tickets of one server shown to another, as replicas behind a balancer do.
@Suite struct ResumptionTests {
  let certificates = try! TestCertificates.shared.get()

  private func ringFile() throws -> String {
    let path = certificates.path("tickets-\(UInt64.random(in: 0 ... .max))")
    try TicketKeyRing.rotate(file: path, keeping: 2)
    return path
  }

  private func server(_ ring: String?, _ client: TLSContext.ClientCertificates = .none)
    async throws -> TestServer
  {
    var configuration = TLSContext.Configuration(certificates, "ecdsa")
    configuration.ticketKeyFile = ring
    configuration.clientCertificates = client
    return try await TestServer(configuration)
  }

  /// Connects twice, the second time with the first one's ticket.
  /// - Returns: What the second server says of its handshake.
  private func resume(
    _ first: TestServer, _ second: TestServer, _ version: String, _ arguments: [String] = []
  ) async throws -> TLSConnectionInfo {
    let session = certificates.path("session-\(UInt64.random(in: 0 ... .max))")
    let options = [version, "-servername", "localhost"] + arguments
    _ = try await certificates.client(port: first.port, options + ["-sess_out", session])
    _ = try await first.outcomes.value().get()
    _ = try await certificates.client(port: second.port, options + ["-sess_in", session])
    return try await second.outcomes.value(first.port == second.port ? 1 : 0).get()
  }

  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func onAnotherReplica(version: String) async throws {
    let ring = try ringFile()
    let (first, second) = (try await server(ring), try await server(ring))
    let info = try await resume(first, second, version)
    #expect(info.isResumed)
    #expect(info.serverName == "localhost")
    try await first.stop()
    try await second.stop()
  }

  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func afterRotationsUntilTheKeyIsGone(version: String) async throws {
    let ring = try ringFile()
    let first = try await server(ring)
    try TicketKeyRing.rotate(file: ring, keeping: 2)
    let second = try await server(ring)
    #expect(try await resume(first, second, version).isResumed)
    try TicketKeyRing.rotate(file: ring, keeping: 2)
    let third = try await server(ring)
    #expect(try await !resume(first, third, version).isResumed)
    for server in [first, second, third] { try await server.stop() }
  }

  /// A ticket, resumed on a server that has a newer key, comes back as a ticket of that key.
  @Test func ticketsMoveToTheNewestKey() async throws {
    let ring = try ringFile()
    let first = try await server(ring)
    try TicketKeyRing.rotate(file: ring, keeping: 2)
    let second = try await server(ring)
    try TicketKeyRing.rotate(file: ring, keeping: 2)
    let third = try await server(ring)  // no longer has the first key
    for version in ["-tls1_2", "-tls1_3"] {
      let (one, two) = (certificates.path("one\(version)"), certificates.path("two\(version)"))
      _ = try await certificates.client(port: first.port, [version, "-sess_out", one])
      let resumed = try await certificates.client(
        port: second.port, [version, "-sess_in", one, "-sess_out", two, "-msg"])
      #expect(resumed.text.contains("Reused, TLS"))
      #expect(resumed.text.contains("NewSessionTicket"))
      // s_client saves no ticket of a resumed TLS 1.2 session.
      guard version == "-tls1_3" else { continue }
      _ = try await certificates.client(port: third.port, [version, "-sess_in", two])
      #expect(try await third.outcomes.value().get().isResumed)
    }
    for server in [first, second, third] { try await server.stop() }
  }

  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func withoutAFileOnlyTheSameContext(version: String) async throws {
    let (first, second) = (try await server(nil), try await server(nil))
    #expect(try await resume(first, first, version).isResumed)
    let another = try await server(nil)
    #expect(try await !resume(second, another, version).isResumed)
    for server in [first, second, another] { try await server.stop() }
  }

  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func clientCertificatesComeAlong(version: String) async throws {
    let ring = try ringFile()
    let identity = [
      "-cert", certificates.path("client.pem"), "-key", certificates.path("client.key"),
    ]
    let rule = TLSContext.ClientCertificates.required(authoritiesFile: certificates.path("ca.pem"))
    let (first, second) = (try await server(ring, rule), try await server(ring, rule))
    let info = try await resume(first, second, version, identity)
    #expect(info.isResumed)
    #expect(info.peerCertificate?.subject == "CN=client,O=Vocative")
    try await first.stop()
    try await second.stop()
  }

  /// A session made where nobody asked for a certificate, or under other authorities, must not
  /// open the door where one is required.
  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func sessionsDoNotCrossRules(version: String) async throws {
    let ring = try ringFile()
    let ca = certificates.path("ca.pem")
    let other = certificates.path("other-ca.pem")
    let identity = [
      "-cert", certificates.path("client.pem"), "-key", certificates.path("client.key"),
    ]
    let open = try await server(ring)
    let required = try await server(ring, .required(authoritiesFile: ca))
    #expect(try await !resume(open, required, version, identity).isResumed)

    let session = certificates.path("crossing\(version)")
    let strict = try await server(ring, .required(authoritiesFile: other))
    _ = try await certificates.client(
      port: required.port, [version, "-sess_out", session] + identity)
    _ = try await certificates.client(port: strict.port, [version, "-sess_in", session] + identity)
    #expect(try await strict.outcomes.value().failure?.code == .handshakeFailed)
    for server in [open, required, strict] { try await server.stop() }
  }
}
