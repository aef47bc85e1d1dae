import Crypto
import Foundation
import Logging
import Testing
import X509

@testable import Identity

@Suite struct DevelopmentIssuerTests {
  private let directory: TemporaryDirectory
  private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  init() throws { directory = try TemporaryDirectory() }

  private func issuer(_ mode: OperatingMode = .development) throws -> DevelopmentIssuer {
    try DevelopmentIssuer(directory: directory.file("dev"), mode: mode, now: { Provider.time })
  }

  @Test func refusesProduction() throws {
    #expect(throws: DevelopmentError.self) { try issuer(.production) }
    #expect(throws: DevelopmentError.self) {
      try DevelopmentCertificates(
        directory: directory.file("dev"), mode: .production, now: .now)
    }
    #expect(!FileManager.default.fileExists(atPath: directory.file("dev")))
  }

  @Test func itsTokensAreAccepted() async throws {
    let issuer = try issuer()
    let source = JWKSSource(
      .file(issuer.jwksPath), logger: logger, now: { Provider.time })
    try await source.refresh()
    #expect(source.status.skippedKeys.isEmpty)
    let authenticator = Authenticator(
      .init(
        issuer: DevelopmentIssuer.defaultIssuer, audiences: [DevelopmentIssuer.defaultAudience]),
      keys: source, now: { Provider.time })
    let token = try await issuer.token(userID: "李雷", lifetime: .seconds(60))
    #expect(
      try await authenticator.authenticate("Bearer \(token)")
        == Principal(
          userID: "李雷", scopes: [.device], expiresAt: Provider.time.addingTimeInterval(60)))
    let job = try await issuer.token(userID: "job", scopes: [.admin, .vocabularyUpload])
    #expect(
      try await authenticator.authenticate("Bearer \(job)").scopes == [.admin, .vocabularyUpload])

    // A second one in the same directory has the same key.
    let again = try await self.issuer().token(userID: "b")
    #expect(try await authenticator.authenticate("Bearer \(again)").userID == "b")
  }

  @Test func filesArePrivate() throws {
    _ = try issuer()
    func mode(_ name: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: directory.file(name))[.posixPermissions]
        as? Int
    }
    #expect(try mode("dev") == 0o700)
    #expect(try mode("dev/issuer.key") == 0o600)
    #expect(try mode("dev/jwks.json") == 0o644)
    let jwks = try String(contentsOfFile: directory.file("dev/jwks.json"), encoding: .utf8)
    #expect(!jwks.contains("\"d\""))
    chmod(directory.file("dev/issuer.key"), 0o640)
    #expect(throws: DevelopmentError.self) { try issuer() }
    chmod(directory.file("dev/issuer.key"), 0o600)
    try Data("garbage".utf8).write(to: URL(fileURLWithPath: directory.file("dev/issuer.key")))
    #expect(throws: DevelopmentError.self) { try issuer() }
  }

  @Test func badRequestsAreRefused() async throws {
    let issuer = try issuer()
    for userID in ["", String(repeating: "x", count: 129), "a\nb"] {
      await #expect(throws: DevelopmentError.self) { try await issuer.token(userID: userID) }
    }
    for lifetime in [Duration.zero, .seconds(-1), .seconds(367 * 86400)] {
      await #expect(throws: DevelopmentError.self) {
        try await issuer.token(userID: "a", lifetime: lifetime)
      }
    }
    await #expect(throws: DevelopmentError.self) {
      try await issuer.token(userID: "a", scopes: [Scope(rawValue: "a b")])
    }
  }
}

@Suite struct DevelopmentCertificatesTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func make(
    hosts: [String] = [], client: String? = nil, now: Date = .now
  ) throws -> DevelopmentCertificates {
    try DevelopmentCertificates(
      directory: directory.path, mode: .development, hostNames: hosts, clientName: client, now: now)
  }

  private func contents() throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      contents[name] = try Data(contentsOf: URL(fileURLWithPath: directory.file(name)))
    }
    return contents
  }

  /// Runs OpenSSL, and returns its status and all that it says.
  private func openssl(_ arguments: String...) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  @Test func opensslAcceptsThem() throws {
    let made = try make(hosts: ["build-7.lan", "192.168.1.9", "fe80::1"], client: "upload job")
    let (ca, server) = (made.authorityPath, made.serverChainPath)
    let client = try #require(made.clientChainPath)
    for host in ["localhost", "build-7.lan"] {
      let result = try openssl(
        "verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", host, "-CAfile", ca,
        server)
      #expect(result.status == 0, "\(result.output)")
    }
    for address in ["127.0.0.1", "::1", "192.168.1.9", "fe80::1"] {
      let result = try openssl(
        "verify", "-x509_strict", "-purpose", "sslserver", "-verify_ip", address, "-CAfile", ca,
        server)
      #expect(result.status == 0, "\(result.output)")
    }
    #expect(
      try openssl("verify", "-verify_hostname", "example.com", "-CAfile", ca, server).status != 0)
    let asClient = try openssl(
      "verify", "-x509_strict", "-purpose", "sslclient", "-CAfile", ca, client)
    #expect(asClient.status == 0, "\(asClient.output)")
    // Each is for its purpose only.
    #expect(try openssl("verify", "-purpose", "sslserver", "-CAfile", ca, client).status != 0)
    #expect(try openssl("verify", "-purpose", "sslclient", "-CAfile", ca, server).status != 0)
    let text = try openssl("x509", "-in", server, "-noout", "-text").output
    for expected in [
      "CA:FALSE", "Digital Signature", "TLS Web Server Authentication",
      "X509v3 Authority Key Identifier", "X509v3 Subject Key Identifier", "ecdsa-with-SHA256",
      "IP Address:127.0.0.1", "DNS:localhost", "Version: 3",
    ] {
      #expect(text.contains(expected), "\(expected)")
    }
    let authority = try openssl("x509", "-in", ca, "-noout", "-text").output
    #expect(authority.contains("CA:TRUE, pathlen:0") && authority.contains("Certificate Sign"))
    for key in ["ca.key", "server.key", "client.key"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: directory.file(key))
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test func whatIsGoodIsKept() throws {
    let now = Date.now
    _ = try make(client: "job", now: now)
    let before = try contents()
    _ = try make(client: "job", now: now.addingTimeInterval(59 * 86400))
    #expect(try contents() == before)
    _ = try make(client: "job", now: now.addingTimeInterval(61 * 86400))
    var after = try contents()
    #expect(after["ca.pem"] == before["ca.pem"] && after["ca.key"] == before["ca.key"])
    #expect(after["server.pem"] != before["server.pem"])
    #expect(after["client.pem"] != before["client.pem"])
    // An authority near its end takes all with it.
    _ = try make(client: "job", now: now.addingTimeInterval(600 * 86400))
    after = try contents()
    #expect(after["ca.pem"] != before["ca.pem"])
    let chain = try #require(after["server.pem"])
    #expect(
      String(decoding: chain, as: UTF8.self).hasSuffix(
        String(decoding: try #require(after["ca.pem"]), as: UTF8.self)))
  }

  @Test func whatIsNotGoodIsMadeAnew() throws {
    _ = try make()
    for name in ["server.key", "server.pem", "ca.key", "ca.pem"] {
      for damage in ["", "garbage", nil] as [String?] {
        let file = URL(fileURLWithPath: directory.file(name))
        if let damage {
          try Data(damage.utf8).write(to: file)
        } else {
          try FileManager.default.removeItem(at: file)
        }
        chmod(file.path, 0o600)
        let made = try make()
        let result = try openssl("verify", "-CAfile", made.authorityPath, made.serverChainPath)
        #expect(result.status == 0, "\(name): \(result.output)")
      }
    }
    let before = try contents()
    _ = try make(hosts: ["other.lan"])
    let after = try contents()
    #expect(after["server.pem"] != before["server.pem"] && after["ca.pem"] == before["ca.pem"])
    #expect(!after.keys.contains { $0.hasSuffix(".draft") })
  }

  @Test func namesAreChecked() throws {
    for bad in [
      "", "a b", "-a", "a..b", "*.lan", "a/b", "é.lan", String(repeating: "a", count: 64),
    ] {
      #expect(throws: DevelopmentError.self, "\(bad)") { try make(hosts: [bad]) }
    }
    _ = try make(hosts: ["LOCALHOST", "127.0.0.1", "Some-Host"])
  }

  @Test func manyMayAskAtOnce() async throws {
    try await withThrowingTaskGroup { group in
      for _ in 0..<8 { group.addTask { _ = try make() } }
      try await group.waitForAll()
    }
    let made = try make()
    #expect(try openssl("verify", "-CAfile", made.authorityPath, made.serverChainPath).status == 0)
  }
}
