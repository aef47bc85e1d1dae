import FoundationEssentials
import Glibc
import X509

/// What a server certificate and its key are.
struct CertificateFacts: Sendable, Equatable {
  enum Name: Sendable, Equatable {
    case dns(String)
    case address([UInt8])
  }

  var notBefore: Date
  var notAfter: Date
  var names: [Name]
  /// Whether the private key belongs to the certificate.
  var keyMatches: Bool

  /// Reads the first certificate of a PEM text, which is the server's own, and its key.
  init(certificatePEM: String, keyPEM: String) throws(UnreadableCertificate) {
    guard let block = Self.block("CERTIFICATE", in: certificatePEM) else {
      throw UnreadableCertificate(reason: "the certificate file holds no PEM certificate")
    }
    guard
      let keyBlock = ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"].lazy
        .compactMap({ Self.block($0, in: keyPEM) }).first
    else {
      throw UnreadableCertificate(
        reason: "the key file holds no PEM private key without a passphrase")
    }
    guard let certificate = try? Certificate(pemEncoded: block) else {
      throw UnreadableCertificate(reason: "the certificate is malformed")
    }
    guard let key = try? Certificate.PrivateKey(pemEncoded: keyBlock) else {
      throw UnreadableCertificate(
        reason: "the private key is malformed or of a type that is not supported")
    }
    notBefore = certificate.notValidBefore
    notAfter = certificate.notValidAfter
    keyMatches = key.publicKey == certificate.publicKey
    let alternatives = (try? certificate.extensions.subjectAlternativeNames).flatMap { $0 }
    names = (alternatives ?? SubjectAlternativeNames([])).compactMap {
      switch $0 {
      case .dnsName(let name): .dns(name.lowercased())
      case .ipAddress(let bytes): .address(Array(bytes.bytes))
      default: nil
      }
    }
  }

  /// Whether clients that connect to `host` accept the certificate for it (RFC 9525: a wildcard
  /// stands for one whole leftmost label; an address matches only an address).
  func covers(_ host: String) -> Bool {
    if let address = Self.address(host) { return names.contains(.address(address)) }
    let host = host.lowercased()
    return names.contains { name in
      guard case .dns(let pattern) = name else { return false }
      guard pattern.hasPrefix("*.") else { return pattern == host }
      guard let dot = host.firstIndex(of: "."), dot != host.startIndex else { return false }
      return host[dot...] == pattern.dropFirst()
    }
  }

  /// The names as people write them.
  var shownNames: String {
    names.map { name in
      switch name {
      case .dns(let name): name
      case .address(let bytes) where bytes.count == 4:
        bytes.map(String.init).joined(separator: ".")
      case .address(let bytes): bytes.map { String($0, radix: 16) }.joined(separator: ":")
      }
    }.joined(separator: ", ")
  }

  private static func address(_ host: String) -> [UInt8]? {
    var four = in_addr()
    if inet_pton(AF_INET, host, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
    var six = in6_addr()
    return inet_pton(AF_INET6, host, &six) == 1 ? withUnsafeBytes(of: &six) { Array($0) } : nil
  }

  /// The first PEM block of a type, its marks included.
  private static func block(_ type: String, in text: String) -> String? {
    guard let begin = text.firstRange(of: "-----BEGIN \(type)-----"),
      let end = text[begin.upperBound...].firstRange(of: "-----END \(type)-----")
    else { return nil }
    return String(text[begin.lowerBound..<end.upperBound])
  }
}

/// Why a certificate or its key could not be read.
struct UnreadableCertificate: Error, Equatable {
  let reason: String
}

extension CertificateFacts {
  private static let soon: TimeInterval = 30 * 86_400

  /// Holds the facts against the clock and the names that clients use.
  func findings(check: String, now: Date, hosts: [String]) -> [DoctorFinding] {
    guard keyMatches else {
      return [
        .failure(
          check, "the private key does not belong to the certificate",
          advice: "Put the key that the certificate was requested with into the key file.")
      ]
    }
    var findings = [validity(check: check, now: now)]
    let uncovered = hosts.filter { !covers($0) }
    if !uncovered.isEmpty {
      findings.append(
        .failure(
          check,
          "does not cover \(uncovered.joined(separator: ", ")), but \(shownNames)",
          advice: "Request a certificate with these subject alternative names."))
    }
    return findings
  }

  private func validity(check: String, now: Date) -> DoctorFinding {
    let end = notAfter.formatted(.iso8601.year().month().day())
    if now < notBefore {
      return .failure(
        check, "is valid only from \(notBefore.formatted(.iso8601.year().month().day()))",
        advice: "Check this host's clock, or wait.")
    }
    let days = Int(notAfter.timeIntervalSince(now) / 86_400)
    if now >= notAfter {
      return .failure(
        check, "expired on \(end)", advice: "Renew it; the service reads the new files itself.")
    }
    if notAfter.timeIntervalSince(now) < Self.soon {
      return .warning(
        check, "expires in \(days) days, on \(end)",
        advice: "Renew it; the service reads the new files itself.")
    }
    return .ok(check, "for \(shownNames), until \(end) (\(days) days)")
  }
}
