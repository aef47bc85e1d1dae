import NIOCore
import NIOSSL
import TLSTransport
import Testing

@Suite struct HandshakeTests {
  let certificates = try! TestCertificates.shared.get()

  @Test(arguments: ["ecdsa", "rsa"], [TLSVersion.tlsv12, .tlsv13])
  func versionsAndKeyTypes(key: String, version: TLSVersion) async throws {
    let server = try await TestServer(.init(certificates, key))
    let client = try await TestClient(port: server.port, certificates) {
      $0.minimumTLSVersion = version
      $0.maximumTLSVersion = version
      $0.applicationProtocols = ["h2", "http/1.1"]
    }
    #expect(try await client.handshake() == "h2")
    try await client.send("ping")
    try await client.closed()
    #expect(String(buffer: client.received) == "ping")
    #expect(client.seen.errors.all == [])
    let info = try await server.outcomes.value().get()
    #expect(info.version == (version == .tlsv12 ? "TLSv1.2" : "TLSv1.3"))
    #expect(info.applicationProtocol == "h2")
    #expect(info.serverName == "localhost")
    #expect(!info.isResumed)
    #expect(info.peerCertificate == nil)
    if version == .tlsv12 { #expect(info.cipher.contains(key.uppercased())) }
    try await server.stop()
  }

  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func bothKeyTypesAtOnce(version: String) async throws {
    let server = try await TestServer(.init(certificates, "ecdsa", "rsa"))
    for (algorithms, type) in [("ECDSA+SHA256", "ECDSA"), ("RSA-PSS+SHA256:RSA+SHA256", "RSA")] {
      let output = try await certificates.client(
        port: server.port, [version, "-sigalgs", algorithms, "-verify_return_error"])
      #expect(output.text.contains("Peer signature type: \(type)"), "\(output.text)")
      #expect(output.text.contains("Verify return code: 0 (ok)"))
    }
    try await server.stop()
  }

  @Test(arguments: ["-tls1", "-tls1_1"])
  func oldVersionsAreRefused(version: String) async throws {
    let server = try await TestServer(.init(certificates, "ecdsa", "rsa"))
    let output = try await certificates.client(
      port: server.port, [version, "-cipher", "ALL:@SECLEVEL=0"])
    #expect(output.status != 0)
    let error = try #require(try await server.outcomes.value().failure)
    #expect(error.code == .handshakeFailed)
    #expect(error.reason?.contains("unsupported protocol") == true, "\(error)")
    try await server.stop()
  }

  @Test func renegotiationIsRefused() async throws {
    let server = try await TestServer(.init(certificates, "rsa"))
    let output = try await certificates.client(
      port: server.port, ["-tls1_2", "-legacy_renegotiation"], lines: ["R", "ping"])
    #expect(output.text.contains("no renegotiation"), "\(output.text)")
    try await server.stop()
  }

  @Test(arguments: [
    (offered: ["http/1.1"], chosen: "http/1.1" as String?),
    (offered: ["http/1.1", "h2"], chosen: "h2"),
    (offered: ["spdy/3", "http/1.1"], chosen: "http/1.1"),
    (offered: [], chosen: nil),
  ])
  func protocolByServerPreference(offered: [String], chosen: String?) async throws {
    let server = try await TestServer(.init(certificates, "ecdsa"))
    let client = try await TestClient(port: server.port, certificates) {
      $0.applicationProtocols = offered
    }
    #expect(try await client.handshake() == chosen)
    let info = try await server.outcomes.value().get()
    #expect(info.applicationProtocol == chosen)
    #expect(try await TLSConnectionInfo.of(server.connections.value()).get() == info)
    #expect(try await TLSConnectionInfo.of(client.channel).get() == nil)
    try await client.channel.close()
    try await server.stop()
  }

  @Test func noCommonProtocolIsRefused() async throws {
    let server = try await TestServer(.init(certificates, "ecdsa"))
    let output = try await certificates.client(port: server.port, ["-alpn", "spdy/3,ftp"])
    #expect(output.text.contains("no application protocol"), "\(output.text)")
    #expect(try await server.outcomes.value().failure?.code == .handshakeFailed)
    try await server.stop()
  }

  @Test func keyUpdatesBothWays() async throws {
    let server = try await TestServer(.init(certificates, "ecdsa"))
    // s_client's "K" asks for a key update and sends one; the connection goes on with new keys.
    let output = try await certificates.client(
      port: server.port, ["-tls1_3", "-msg"], lines: ["K", "ping"])
    #expect(output.status == 0)
    #expect(output.text.contains(">>> TLS 1.3, Handshake [length 0005], KeyUpdate"))
    #expect(output.text.contains("<<< TLS 1.3, Handshake [length 0005], KeyUpdate"))
    #expect(server.errors.all.filter { $0 != "inputClosed" } == [])
    try await server.stop()
  }
}

@Suite struct ClientCertificateTests {
  let certificates = try! TestCertificates.shared.get()

  enum Mode: String, CaseIterable { case none, optional, required }
  enum Shown: String, CaseIterable { case nothing, trusted, stranger }

  @Test(arguments: Mode.allCases, Shown.allCases)
  func modes(mode: Mode, shown: Shown) async throws {
    for version in ["-tls1_2", "-tls1_3"] {
      var configuration = TLSContext.Configuration(certificates, "ecdsa")
      configuration.clientCertificates =
        switch mode {
        case .none: .none
        case .optional: .optional(authoritiesFile: certificates.path("ca.pem"))
        case .required: .required(authoritiesFile: certificates.path("ca.pem"))
        }
      let server = try await TestServer(configuration)
      let name = shown == .stranger ? "stranger" : "client"
      let identity =
        shown == .nothing
        ? []
        : ["-cert", certificates.path("\(name).pem"), "-key", certificates.path("\(name).key")]
      _ = try await certificates.client(port: server.port, [version] + identity)
      let outcome = try await server.outcomes.value()
      switch (mode, shown) {
      case (.none, _), (.optional, .nothing):
        #expect(try outcome.get().peerCertificate == nil)
      case (.optional, .trusted), (.required, .trusted):
        let peer = try #require(try outcome.get().peerCertificate)
        #expect(peer.subject == "CN=client,O=Vocative")
        #expect(
          peer.alternativeNames == [
            .dns("localhost"), .address([127, 0, 0, 1]), .uri("urn:test:client"),
          ])
        let printed = try certificates.openssl(
          ["x509", "-in", certificates.path("client.pem"), "-noout", "-fingerprint", "-sha256"])
        let hexadecimal = peer.fingerprint.map { byte in
          (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        #expect(printed.text.contains(hexadecimal.joined(separator: ":")))
      case (.required, .nothing), (_, .stranger):
        #expect(outcome.failure?.code == .handshakeFailed)
      }
      try await server.stop()
    }
  }
}

extension Result {
  var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
