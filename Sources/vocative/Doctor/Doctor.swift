import EmbeddedPostgres
import FoundationEssentials

/// Looks at everything that the service needs and says what to do about what is amiss.
struct Doctor: Sendable {
  /// How long a probe may take before it counts as failed.
  static let probeDeadline = Duration.seconds(15)

  let configuration: ServiceConfiguration
  /// The names that clients connect to, which the certificates have to cover; may be empty.
  let hosts: [String]
  /// Asks the configured database, or the embedded one when it is running; nil when the embedded
  /// one is not running.
  let probeDatabase: @Sendable () async throws -> DatabaseFacts?
  /// Loads the key set and returns how many keys it has.
  let probeKeySet: @Sendable (ServiceConfiguration.TokenVerification.KeySet) async throws -> Int

  /// Runs every check; takes at most ``probeDeadline`` for each of the two probes.
  func run(now: Date = Date()) async -> DoctorReport {
    var findings = await database()
    findings += certificates(now: now)
    findings += await keySet()
    findings += host()
    return DoctorReport(findings: findings)
  }

  // MARK: Database

  private func database() async -> [DoctorFinding] {
    let isEmbedded = configuration.database.url == nil
    var findings = isEmbedded ? [binaries()] : []
    do {
      if let facts = try await Self.withDeadline(probeDatabase) {
        findings += facts.findings(for: configuration.database)
      } else {
        findings.append(.ok("Database server", "embedded, not running now"))
      }
    } catch {
      findings.append(
        .failure(
          "Database server", "cannot be reached: \(error)",
          advice: isEmbedded
            ? "See the service's log." : "Check database.url, the network and pg_hba.conf."))
    }
    return findings
  }

  private func binaries() -> DoctorFinding {
    do {
      let version = try EmbeddedPostgres.installedVersion(
        for: .init(directory: configuration.embeddedDatabaseDirectory))
      return .ok("PostgreSQL binaries", "version \(version)")
    } catch {
      return .failure(
        "PostgreSQL binaries", "\(error)", advice: "Install them, or give database.url.")
    }
  }

  // MARK: TLS and identity

  private func certificates(now: Date) -> [DoctorFinding] {
    if configuration.plaintext {
      return [.ok("Certificate", "none needed: plain HTTP on \(configuration.listen.host)")]
    }
    guard !configuration.tls.identities.isEmpty else {
      return [.ok("Certificate", "development makes its own")]
    }
    var findings: [DoctorFinding] = []
    for (index, identity) in configuration.tls.identities.enumerated() {
      let check = index == 0 ? "Certificate" : "Second certificate"
      do {
        let facts = try CertificateFacts(
          certificatePEM: Self.text(identity.certificate), keyPEM: Self.text(identity.key))
        findings += facts.findings(check: check, now: now, hosts: hosts)
      } catch {
        findings.append(
          .failure(check, error.reason, advice: "Give PEM files that the service's user can read."))
      }
      findings.append(
        HostChecks.secretFile("\(check) key", path: identity.key, HostFacts.file(identity.key)))
    }
    if let path = configuration.tls.ticketKeys {
      findings.append(HostChecks.secretFile("Ticket keys", path: path, HostFacts.file(path)))
    }
    return findings
  }

  private func keySet() async -> [DoctorFinding] {
    guard let keySet = configuration.identity.keySet else {
      return [.ok("Key set", "development issues its own tokens")]
    }
    do {
      let count = try await Self.withDeadline { try await probeKeySet(keySet) }
      return count > 0
        ? [.ok("Key set", "\(count) keys")]
        : [
          .failure(
            "Key set", "holds no usable key", advice: "It needs an ES256, EdDSA or RS256 key.")
        ]
    } catch {
      return [
        .failure("Key set", "cannot be loaded: \(error)", advice: "Check identity.jwks.")
      ]
    }
  }

  // MARK: Host

  private func host() -> [DoctorFinding] {
    let path = configuration.dataDirectory
    let nearest = HostFacts.nearestDirectory(to: path)
    var findings = [
      HostChecks.dataDirectory(path: path, HostFacts.file(path), nearest: nearest),
      HostChecks.disk(freeBytes: HostFacts.freeBytes(at: nearest.path)),
      HostChecks.openFiles(limit: HostFacts.openFileLimit()),
    ]
    for (check, endpoint) in [
      ("Service port", configuration.listen), ("Admin port", configuration.admin),
    ] {
      let problem = HostFacts.portProblem(host: endpoint.host, port: endpoint.port)
      findings.append(HostChecks.port(check, endpoint, problem: problem))
    }
    return findings
  }

  private static func text(_ path: String) throws(UnreadableCertificate) -> String {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw UnreadableCertificate(reason: "\(path) cannot be read")
    }
    return text
  }

  private static func withDeadline<Value: Sendable>(
    _ probe: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
      group.addTask { try await probe() }
      group.addTask {
        try await Task.sleep(for: probeDeadline)
        throw ProbeTimedOut()
      }
      defer { group.cancelAll() }
      guard let value = try await group.next() else { throw ProbeTimedOut() }
      return value
    }
  }
}

/// A probe that did not answer within ``Doctor/probeDeadline``.
struct ProbeTimedOut: Error, CustomStringConvertible {
  var description: String { "no answer within \(Doctor.probeDeadline)" }
}

extension ServiceConfiguration {
  /// The directory of the embedded cluster.
  var embeddedDatabaseDirectory: String { "\(dataDirectory)/postgres" }
}
