import Crypto
import FoundationEssentials
import Testing
import X509

@testable import vocative

private let now = Date(timeIntervalSince1970: 1_800_000_000)

/// A self-signed certificate and its key, as PEM texts.
func certificatePEM(
  validFrom begin: Date = now - 86_400, days: Double, names: [GeneralName]
) throws -> (certificate: String, key: String) {
  let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
  let subject = try DistinguishedName { CommonName("test") }
  let certificate = try Certificate(
    version: .v3, serialNumber: .init(), publicKey: key.publicKey, notValidBefore: begin,
    notValidAfter: now + days * 86_400, issuer: subject, subject: subject,
    signatureAlgorithm: .ecdsaWithSHA256,
    extensions: try Certificate.Extensions { SubjectAlternativeNames(names) },
    issuerPrivateKey: key)
  return (
    try certificate.serializeAsPEM().pemString + "\n", try key.serializeAsPEM().pemString + "\n"
  )
}

@Suite struct CertificateFactsTests {
  private func findings(
    days: Double, begin: Date = now - 86_400, hosts: [String] = []
  ) throws -> [DoctorFinding] {
    let pem = try certificatePEM(
      validFrom: begin, days: days,
      names: [.dnsName("chat.example"), .dnsName("*.eu.chat.example")])
    return try CertificateFacts(certificatePEM: pem.certificate, keyPEM: pem.key)
      .findings(check: "Certificate", now: now, hosts: hosts)
  }

  @Test func aGoodCertificateIsOK() throws {
    let found = try findings(days: 31, hosts: ["chat.example", "A.EU.chat.example"])
    #expect(found.map(\.outcome) == [.ok])
    #expect(found[0].finding.contains("chat.example, *.eu.chat.example, until 2027-02-15"))
  }

  @Test func validityIsWatched() throws {
    #expect(try findings(days: 29).map(\.outcome) == [.warning])
    #expect(try findings(days: -0.1).map(\.outcome) == [.failure])
    #expect(try findings(days: 90, begin: now + 60).map(\.outcome) == [.failure])
  }

  @Test(arguments: [
    "example", "other.example", "a.b.eu.chat.example", "eu.chat.example", ".eu.chat.example",
    "127.0.0.1",
  ]) func uncoveredNamesAreFailures(host: String) throws {
    let found = try findings(days: 90, hosts: ["chat.example", host])
    #expect(found.map(\.outcome) == [.ok, .failure])
    #expect(found[1].finding.contains("does not cover \(host), but"))
  }

  @Test func addressesMatchAddressesOnly() throws {
    let pem = try certificatePEM(
      days: 90, names: [.ipAddress(.init(contentBytes: [127, 0, 0, 1])), .dnsName("10.0.0.1")])
    let facts = try CertificateFacts(certificatePEM: pem.certificate, keyPEM: pem.key)
    #expect(facts.covers("127.0.0.1"))
    #expect(!facts.covers("10.0.0.1"))
    #expect(!facts.covers("::1"))
    #expect(facts.shownNames == "127.0.0.1, 10.0.0.1")
  }

  @Test func aForeignKeyIsAFailure() throws {
    let one = try certificatePEM(days: 90, names: [])
    let other = try certificatePEM(days: 90, names: [])
    let facts = try CertificateFacts(certificatePEM: one.certificate, keyPEM: other.key)
    let found = facts.findings(check: "Certificate", now: now, hosts: ["a"])
    #expect(found.map(\.outcome) == [.failure])
    #expect(found[0].finding.contains("does not belong"))
  }

  @Test func theFirstCertificateOfAChainCounts() throws {
    let leaf = try certificatePEM(days: 90, names: [.dnsName("leaf")])
    let issuer = try certificatePEM(days: 9, names: [.dnsName("issuer")])
    let facts = try CertificateFacts(
      certificatePEM: "# a comment\n" + leaf.certificate + issuer.certificate, keyPEM: leaf.key)
    #expect(facts.covers("leaf"))
    #expect(!facts.covers("issuer"))
  }

  @Test func unreadableFilesSayWhichOne() throws {
    let pem = try certificatePEM(days: 90, names: [])
    func reason(_ certificate: String, _ key: String) -> String? {
      #expect(throws: UnreadableCertificate.self) {
        try CertificateFacts(certificatePEM: certificate, keyPEM: key)
      }?.reason
    }
    #expect(reason("", pem.key)?.contains("certificate file") == true)
    #expect(reason(pem.certificate, "")?.contains("key file") == true)
    #expect(reason(pem.key, pem.certificate)?.contains("certificate file") == true)
    var lines = pem.certificate.split(separator: "\n")
    lines.remove(at: 2)
    let torn = lines.joined(separator: "\n")
    #expect(reason(torn, pem.key) == "the certificate is malformed")
  }
}
