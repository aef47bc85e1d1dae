import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import vocative

@Suite struct DatabaseFactsTests {
  private let pools = ServiceConfiguration.Database(
    url: nil, readConnections: 2, writeConnections: 2, leaseConnections: 8,
    statementDeadline: .seconds(10))

  private func worst(_ change: (inout DatabaseFacts) -> Void) -> [DoctorFinding] {
    var facts = DatabaseFacts(
      serverVersion: 150_018, schemaVersion: 3, knownSchemaVersion: 3, missingRoles: [],
      isSuperuser: false, isStandby: false, availableConnections: 97, usedConnections: 10,
      replicationLag: nil, clockSkew: .milliseconds(-2), isDurable: true)
    change(&facts)
    return facts.findings(for: pools).filter { $0.outcome != .ok }
  }

  @Test func aSoundDatabaseIsOK() { #expect(worst { _ in }.isEmpty) }

  @Test func eachFactHasItsFinding() {
    func check(
      _ name: String, _ outcome: DoctorFinding.Outcome, _ text: String,
      sourceLocation: SourceLocation = #_sourceLocation, _ change: (inout DatabaseFacts) -> Void
    ) {
      let found = worst(change)
      #expect(found.map(\.check) == [name], sourceLocation: sourceLocation)
      #expect(found.map(\.outcome) == [outcome], sourceLocation: sourceLocation)
      let shown = found.map { "\($0.finding) \($0.advice ?? "")" }.joined()
      #expect(shown.contains(text), "\(shown)", sourceLocation: sourceLocation)
    }
    check("Database server", .failure, "PostgreSQL 14.9 Upgrade") { $0.serverVersion = 140_009 }
    check("Database server", .failure, "standby") { $0.isStandby = true }
    check("Schema", .failure, "vocative migrate") { $0.schemaVersion = nil }
    check("Schema", .failure, "version 2, and this program needs 3") { $0.schemaVersion = 2 }
    check("Schema", .failure, "newer program") { $0.schemaVersion = 4 }
    check("Roles", .failure, "missing: a, b") { $0.missingRoles = ["a", "b"] }
    check("Roles", .warning, "superuser") { $0.isSuperuser = true }
    check("Connections", .failure, "12 wanted, 1 of 11 free") { $0.availableConnections = 11 }
    check("Connections", .warning, "12 wanted, 7 of 97 free") { $0.usedConnections = 90 }
    check("Durability", .failure, "loses") { $0.isDurable = false }
    check("Replication", .warning, "11.0 s behind") { $0.replicationLag = .seconds(11) }
    check("Clocks", .warning, "5.25 s") { $0.clockSkew = .milliseconds(-5250) }
  }
}

@Suite struct HostChecksTests {
  @Test func secretFilesArePrivate() {
    func outcome(_ permissions: UInt32, bytes: Int = 1, readable: Bool = true)
      -> DoctorFinding.Outcome
    {
      HostChecks.secretFile(
        "Key", path: "/k",
        .init(
          permissions: permissions, byteCount: bytes, isDirectory: false, isReadable: readable)
      ).outcome
    }
    #expect(outcome(0o600) == .ok)
    #expect(outcome(0o640) == .warning)
    #expect(outcome(0o604) == .warning)
    #expect(outcome(0o600, bytes: 0) == .failure)
    #expect(outcome(0o600, readable: false) == .failure)
    #expect(HostChecks.secretFile("Key", path: "/k", nil).outcome == .failure)
  }

  @Test func limitsAreJudged() {
    #expect(HostChecks.disk(freeBytes: 1 << 29).outcome == .failure)
    #expect(HostChecks.disk(freeBytes: 3 << 29).finding == "1.5 GiB free")
    #expect(HostChecks.disk(freeBytes: 1 << 40).outcome == .ok)
    #expect(HostChecks.openFiles(limit: 256).outcome == .failure)
    #expect(HostChecks.openFiles(limit: 4096).outcome == .warning)
    #expect(HostChecks.openFiles(limit: .max).outcome == .ok)
  }

  @Test func theHostIsReadAsItIs() throws {
    let path = "/tmp/vocative-doctor-\(getpid())"
    try Data("x".utf8).write(to: URL(filePath: path))
    defer { unlink(path) }
    chmod(path, 0o640)
    #expect(
      HostFacts.file(path)
        == .init(permissions: 0o640, byteCount: 1, isDirectory: false, isReadable: true))
    #expect(HostFacts.file("\(path)/none") == nil)
    #expect(HostFacts.nearestDirectory(to: "/tmp/none/such").path == "/tmp")
    #expect(HostFacts.nearestDirectory(to: "/none/such").path == "/")
    #expect(HostFacts.nearestDirectory(to: "none/such").path == ".")
    #expect(try #require(HostFacts.freeBytes(at: "/tmp")) > 0)
    #expect(HostFacts.openFileLimit() > 0)
  }

  @Test func aPortInUseIsNoticed() throws {
    let port = try freeLoopbackPort()
    #expect(HostFacts.portProblem(host: "127.0.0.1", port: port) == nil)
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(status == 0 && listen(descriptor, 1) == 0)
    #expect(HostFacts.portProblem(host: "127.0.0.1", port: port) == "Address already in use")
    #expect(HostFacts.portProblem(host: "no.such.host.invalid", port: 1) != nil)
  }
}

@Suite struct DoctorReportTests {
  private let report = DoctorReport(findings: [
    .ok("Schema", "version 3"), .warning("Disk", "2.0 GiB free", advice: "Make room."),
    .failure("Key set", "is gone", advice: "Check identity.jwks."),
  ])

  @Test func textIsAligned() {
    #expect(
      report.text(color: false) == """
        ✓ ok       Schema   version 3
        ! warning  Disk     2.0 GiB free
                            → Make room.
        ✗ failure  Key set  is gone
                            → Check identity.jwks.

        3 checks: 1 ok, 1 warning, 1 failure

        """)
    let colored = report.text(color: true)
    #expect(colored.contains("\u{1B}[31m✗ failure\u{1B}[0m  Key set"))
    #expect(colored.replacing(/\u{1B}\[[0-9]+m/, with: "") == report.text(color: false))
  }

  @Test func colourIsForTerminalsThatWantIt() {
    #expect(DoctorReport.wantsColor(isTerminal: true, environment: ["TERM": "xterm"]))
    #expect(!DoctorReport.wantsColor(isTerminal: false, environment: ["TERM": "xterm"]))
    #expect(!DoctorReport.wantsColor(isTerminal: true, environment: ["NO_COLOR": "1"]))
    #expect(!DoctorReport.wantsColor(isTerminal: true, environment: ["TERM": "dumb"]))
  }

  @Test func onlyFailuresAreErrors() {
    #expect(report.exitCode == 1)
    #expect(DoctorReport(findings: Array(report.findings.prefix(2))).exitCode == 0)
  }

  @Test func jsonHoldsEverything() throws {
    struct Document: Decodable {
      struct Finding: Decodable { let check, outcome, finding: String, advice: String? }
      let outcome: String
      let findings: [Finding]
    }
    let document = try JSONDecoder().decode(Document.self, from: Data(try report.json().utf8))
    #expect(document.outcome == "failure")
    #expect(document.findings.map(\.outcome) == ["ok", "warning", "failure"])
    #expect(document.findings.map(\.advice) == [nil, "Make room.", "Check identity.jwks."])
  }
}

@Suite struct DoctorTests {
  private func configuration(_ arguments: [String]) throws -> ServiceConfiguration {
    try ServiceConfiguration.load(
      arguments: [
        "--mode=development", "--data-directory=/tmp", "--listen-port=0", "--admin-port=0",
      ] + arguments, environment: [:], isRoot: false, readFile: { _ in Data() })
  }

  private func report(
    _ arguments: [String], database: @escaping @Sendable () async throws -> DatabaseFacts? = { nil }
  ) async throws -> [String: DoctorFinding] {
    let doctor = Doctor(
      configuration: try configuration(arguments), hosts: [], probeDatabase: database,
      probeKeySet: { _ in 0 })
    return Dictionary(await doctor.run().findings.map { ($0.check, $0) }) { first, _ in first }
  }

  @Test func aFreshDevelopmentMachineIsFine() async throws {
    let findings = try await report([])
    #expect(findings["PostgreSQL binaries"]?.outcome == .ok)
    #expect(findings["Database server"]?.finding == "embedded, not running now")
    #expect(findings["Certificate"]?.finding == "development makes its own")
    #expect(findings["Key set"]?.outcome == .ok)
    #expect(findings["Service port"]?.outcome == .ok)
  }

  @Test func whatIsGivenIsLookedAt() async throws {
    struct Unreachable: Error {}
    let findings = try await report(
      [
        "--database-url=postgres://h/d", "--tls-certificate=/none/c.pem",
        "--tls-key=/none/k.pem", "--tls-ticket-keys=/none/t", "--identity-jwks=/none/j",
      ], database: { throw Unreachable() })
    #expect(findings["PostgreSQL binaries"] == nil)
    for check in ["Database server", "Certificate", "Certificate key", "Ticket keys", "Key set"] {
      #expect(findings[check]?.outcome == .failure, "\(check)")
      #expect(findings[check]?.advice != nil)
    }
    #expect(findings["Certificate"]?.finding == "/none/c.pem cannot be read")
  }
}
