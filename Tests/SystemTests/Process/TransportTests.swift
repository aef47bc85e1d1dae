import Foundation
import Identity
import TestSupport
import Testing
import VocativeModel

extension ProcessTests {
  /// TLS as clients of all sorts see it.
  struct TransportTests {
    @Test(.timeLimit(.minutes(1)))
    func bothVersionsOfHTTPAreServedByALPN() async throws {
      try await Deployment.serving { _, service in
        for (version, major) in [(APIClient.Version.http2, 2), (.http1, 1)] {
          try await APIClient.run(service, user: nil, over: version) { client in
            let answer = try await client.call(.GET, "/healthz")
            #expect(answer.status == 200 && answer.version.major == major)
          }
        }
        for (flags, expected) in [
          (["-alpn", "h2,http/1.1"], "ALPN protocol: h2"),
          (["-alpn", "http/1.1"], "ALPN protocol: http/1.1"), ([], "No ALPN negotiated"),
          (["-tls1_2"], "Protocol  : TLSv1.2"), (["-tls1_3"], "TLSv1.3"),
        ] {
          let output = try await OpenSSL.connect(service, flags)
          #expect(output.contains(expected), "\(flags): \(output)")
          #expect(output.contains("Verify return code: 0 (ok)"), "\(flags): \(output)")
        }
        let old = try await OpenSSL.connect(service, ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
        #expect(!old.contains("HTTP/1.1 200"))
      }
    }

    @Test(.timeLimit(.minutes(1)))
    func plainHTTPIsRefusedUnlessOnLoopbackAndAskedFor() async throws {
      try await Deployment.run { deployment in
        let service = try await deployment.start()
        let plain = try await RawConnection.open(service, tls: false)
        await plain.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await plain.waitForClose(within: .seconds(5))
        #expect(!plain.received.contains("HTTP/"))
        #expect(try await service.stop() == 0)

        let asked = try await deployment.start(["--listen-plaintext"])
        #expect(asked.baseURL.hasPrefix("http://"))
        #expect(try await Plain.get(asked.baseURL + "/healthz").status == 200)
        #expect(try await Plain.get(asked.baseURL + "/v1/changes").status == 401)
        #expect(try await asked.stop() == 0)

        for host in ["0.0.0.0", "::", "192.0.2.1"] {
          let result = try await Binary.run([
            "serve", "--mode", "development", "--listen-plaintext", "--listen-host", host,
            "--listen-port", "0", "--data-directory", try Scratch.directory(),
          ])
          #expect(result.status == 78)
          #expect(result.output.contains("listen.plaintext is only allowed on a loopback address"))
        }
      }
    }

    @Test(.timeLimit(.minutes(1)))
    func certificatesReloadWithoutDroppingAConnection() async throws {
      try await Deployment.run { deployment in
        let directory = try Scratch.directory()
        let (first, second) = (
          try Self.certificates(directory + "/first"), try Self.certificates(directory + "/second")
        )
        let (chain, key) = (directory + "/chain.pem", directory + "/key.pem")
        try Self.install(first, chain, key)
        let service = try await deployment.start(["--tls-certificate", chain, "--tls-key", key])
        let token = try await service.token("ada")
        try await APIClient.run(
          service.baseURL, caFile: first.authorityPath, token: token
        ) { before in
          let device = Device(of: "ada", .events(cutAfter: .max))
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await device.follow { before } }
            try await eventually { await device.replica.token != nil }

            // What cannot be used leaves the old one in place.
            try "nonsense".write(toFile: chain, atomically: true, encoding: .utf8)
            Foundation.kill(service.processID, SIGHUP)
            _ = try await service.output.line(with: "not reloaded")
            #expect(try await Self.isServed(service, first, token))

            try Self.install(second, chain, key)
            // Without a signal: the files are looked at every few seconds.
            try await eventually(within: .seconds(15)) {
              try await Self.isServed(service, second, token)
            }
            #expect(try await !Self.isServed(service, first, token))
            let thread = ThreadID(UUID())
            let body = #"{"kind":"message","participants":[]}"#
            #expect(try await before.call(.PUT, "/v1/threads/\(thread)", body).status == 201)
            try await eventually { await device.replica.threads[thread] != nil }
            #expect(await device.interruptions == 0)
            group.cancelAll()
          }
        }
        #expect(try await service.stop() == 0)
      }
    }

    private static func certificates(_ directory: String) throws -> DevelopmentCertificates {
      try DevelopmentCertificates(directory: directory, mode: .development, now: Date())
    }

    private static func install(
      _ files: DevelopmentCertificates, _ chain: String, _ key: String
    ) throws {
      for (from, to) in [(files.serverKeyPath, key), (files.serverChainPath, chain)] {
        try Data(contentsOf: URL(filePath: from)).write(to: URL(filePath: to), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: to)
      }
    }

    /// Whether a new connection gets a certificate of these.
    private static func isServed(
      _ service: RunningService, _ files: DevelopmentCertificates, _ token: String
    ) async throws -> Bool {
      try await OpenSSL.connect(service, ["-CAfile", files.authorityPath])
        .contains("Verify return code: 0 (ok)")
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["-tls1_2", "-tls1_3"])
    func ticketsResumeAtAnotherReplica(_ version: String) async throws {
      try await Deployment.run { deployment in
        let directory = try Scratch.directory()
        let (keys, session) = (directory + "/tickets", directory + "/session")
        let bytes = Data((0..<80).map { _ in UInt8.random(in: 0...255) })
        try bytes.write(to: URL(filePath: keys))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keys)
        let one = try await deployment.start(["--tls-ticket-keys", keys])
        let other = try await deployment.start(["--tls-ticket-keys", keys])
        let stranger = try await deployment.start()

        let full = try await OpenSSL.connect(one, [version, "-sess_out", session])
        #expect(full.contains("New, TLSv1") && !full.contains("Reused, "))
        let resumed = try await OpenSSL.connect(other, [version, "-sess_in", session])
        #expect(resumed.contains("Reused, TLSv1"), "\(resumed)")
        // Keys of its own: a full handshake, and no error.
        let fresh = try await OpenSSL.connect(stranger, [version, "-sess_in", session])
        #expect(fresh.contains("New, TLSv1") && fresh.contains("HTTP/1.1 200"), "\(fresh)")
        for service in [one, other, stranger] { #expect(try await service.stop() == 0) }
      }
    }
  }
}

/// OpenSSL's own client.
enum OpenSSL {
  /// Connects, asks whether the service is healthy, and returns all that the client tells.
  static func connect(_ service: RunningService, _ flags: [String]) async throws -> String {
    var arguments = [
      "s_client", "-connect", "localhost:\(service.port)", "-servername", "localhost",
      "-ign_eof",
    ]
    if !flags.contains("-CAfile") { arguments += ["-CAfile", service.caFile] }
    let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    // h2 does not take that request; the handshake is what is looked at then.
    let isHTTP2 = flags.contains { $0.hasPrefix("h2") }
    return try await Command.run(
      "openssl", arguments.filter { !isHTTP2 || $0 != "-ign_eof" } + flags,
      input: isHTTP2 ? "" : request
    ).output
  }
}
