import Crypto
public import FoundationEssentials
import SwiftASN1
import X509

/// A private certificate authority for development, with a certificate for this machine and one
/// for an upload job's client. It cannot be made in production.
///
/// Files in its directory: `ca.pem` to trust, `server.pem` (the chain), `server.key`, `client.pem`,
/// `client.key`, `ca.key`; the keys have mode 0600. What is still good is kept, so that a restart
/// changes nothing; what is damaged, belongs to another authority or has less than a third of its
/// life left is made anew.
public struct DevelopmentCertificates: Sendable {
  /// The certificate authority, to be trusted by clients.
  public let authorityPath: String
  /// The server's certificate and its authority's, leaf first.
  public let serverChainPath: String
  /// The server's private key.
  public let serverKeyPath: String
  /// The client's certificate and its authority's; nil unless asked for.
  public let clientChainPath: String?
  /// The client's private key; nil unless asked for.
  public let clientKeyPath: String?

  /// Life of the authority: longer would outlive the machine it is for.
  static let authorityDays = 730.0
  /// Life of the other certificates.
  static let leafDays = 90.0
  /// Names that a server certificate always has.
  static let localNames = ["localhost", "127.0.0.1", "::1"]

  /// Makes what is missing or no longer good.
  /// - Parameters:
  ///   - hostNames: names and addresses of the server besides `localhost`, `127.0.0.1` and `::1`.
  ///   - clientName: makes a client certificate with this common name too.
  ///   - now: the time that validity is reckoned from.
  /// - Throws: ``DevelopmentError`` in production mode, for a name that is neither a DNS name nor
  ///   an address, or when a file cannot be read or written.
  public init(
    directory: String, mode: OperatingMode, hostNames: [String] = [], clientName: String? = nil,
    now: Date
  ) throws(DevelopmentError) {
    let directory = try DevelopmentDirectory(
      directory, mode: mode, purpose: "private certificates")
    var names: [GeneralName] = []
    for name in Self.localNames + hostNames {
      let name = try subjectAlternativeName(name)
      if !names.contains(name) { names.append(name) }
    }
    try directory.locked { () throws(DevelopmentError) in
      let authority = try Authority(in: directory, now: now)
      try authority.provide(.server(names), as: "server", now: now)
      if let clientName { try authority.provide(.client(clientName), as: "client", now: now) }
    }
    authorityPath = directory.path(of: "ca.pem")
    serverChainPath = directory.path(of: "server.pem")
    serverKeyPath = directory.path(of: "server.key")
    clientChainPath = clientName.map { _ in directory.path(of: "client.pem") }
    clientKeyPath = clientName.map { _ in directory.path(of: "client.key") }
  }
}

/// What a certificate below the authority is for.
private enum Leaf {
  case server([GeneralName])
  case client(String)

  var commonName: String {
    switch self {
    case .server: "Vocative development server"
    case .client(let name): name
    }
  }

  var usage: ExtendedKeyUsage.Usage {
    switch self {
    case .server: .serverAuth
    case .client: .clientAuth
    }
  }

  var names: [GeneralName] {
    switch self {
    case .server(let names): names
    case .client: []
    }
  }
}

/// The certificate authority of a directory.
private struct Authority {
  let directory: DevelopmentDirectory
  let certificate: Certificate
  let key: Certificate.PrivateKey

  /// Reads the authority, or makes a new one.
  init(in directory: DevelopmentDirectory, now: Date) throws(DevelopmentError) {
    self.directory = directory
    if let (chain, key) = try directory.certificate("ca"), let certificate = chain.first,
      certificate.isGood(at: now), certificate.issuer == certificate.subject,
      certificate.publicKey.isValidSignature(certificate.signature, for: certificate)
    {
      (self.certificate, self.key) = (certificate, key)
      return
    }
    let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
    let identifier = SubjectKeyIdentifier(hash: key.publicKey)
    do {
      // The name carries the key, so that a browser that trusted an older authority of this
      // machine does not take one for the other.
      let name = try DistinguishedName {
        OrganizationName("Vocative")
        CommonName("Vocative development CA \(hexadecimal(identifier.keyIdentifier.prefix(4)))")
      }
      certificate = try Certificate(
        version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
        notValidBefore: now.addingTimeInterval(-300),
        notValidAfter: now.addingTimeInterval(DevelopmentCertificates.authorityDays * 86400),
        issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
        extensions: Certificate.Extensions {
          Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
          Critical(KeyUsage(keyCertSign: true, cRLSign: true))
          identifier
          AuthorityKeyIdentifier(keyIdentifier: identifier.keyIdentifier)
        }, issuerPrivateKey: key)
    } catch {
      throw DevelopmentError("the certificate authority could not be made: \(error)")
    }
    self.key = key
    try directory.store([certificate], key: key, as: "ca")
  }

  /// Sees to it that the directory has a good certificate of this kind.
  func provide(_ leaf: Leaf, as name: String, now: Date) throws(DevelopmentError) {
    if let (chain, _) = try directory.certificate(name), chain.count == 2,
      isGood(chain[0], for: leaf, at: now), chain[1] == certificate
    {
      return
    }
    let leafKey = Certificate.PrivateKey(P256.Signing.PrivateKey())
    do {
      let end = now.addingTimeInterval(DevelopmentCertificates.leafDays * 86400)
      let certificate = try Certificate(
        version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: leafKey.publicKey,
        notValidBefore: now.addingTimeInterval(-300),
        notValidAfter: min(end, certificate.notValidAfter),
        issuer: certificate.subject, subject: try DistinguishedName { CommonName(leaf.commonName) },
        signatureAlgorithm: .ecdsaWithSHA256, extensions: try extensions(leaf, key: leafKey),
        issuerPrivateKey: key)
      try directory.store([certificate, self.certificate], key: leafKey, as: name)
    } catch let error as DevelopmentError {
      throw error
    } catch {
      throw DevelopmentError("the \(name) certificate could not be made: \(error)")
    }
  }

  private func extensions(
    _ leaf: Leaf, key: Certificate.PrivateKey
  ) throws -> Certificate.Extensions {
    let issuer = SubjectKeyIdentifier(hash: certificate.publicKey)
    return try Certificate.Extensions {
      Critical(BasicConstraints.notCertificateAuthority)
      Critical(KeyUsage(digitalSignature: true))
      try ExtendedKeyUsage([leaf.usage])
      SubjectKeyIdentifier(hash: key.publicKey)
      AuthorityKeyIdentifier(keyIdentifier: issuer.keyIdentifier)
      if !leaf.names.isEmpty { SubjectAlternativeNames(leaf.names) }
    }
  }

  private func isGood(_ certificate: Certificate, for leaf: Leaf, at now: Date) -> Bool {
    guard certificate.isGood(at: now), certificate.issuer == self.certificate.subject,
      self.certificate.publicKey.isValidSignature(certificate.signature, for: certificate),
      let subject = try? DistinguishedName(builder: { CommonName(leaf.commonName) }),
      certificate.subject == subject,
      let usage = try? certificate.extensions.extendedKeyUsage, usage.contains(leaf.usage)
    else { return false }
    let names = try? certificate.extensions.subjectAlternativeNames
    return Array(names ?? SubjectAlternativeNames()) == leaf.names
  }
}

extension Certificate {
  /// Whether it is valid now, with at least a third of its life left.
  fileprivate func isGood(at now: Date) -> Bool {
    let life = notValidAfter.timeIntervalSince(notValidBefore)
    return notValidBefore <= now && notValidAfter.timeIntervalSince(now) >= life / 3
  }
}

extension DevelopmentDirectory {
  /// The chain and the key that are stored as `name`, unless they are missing, damaged or not of
  /// each other.
  fileprivate func certificate(
    _ name: String
  ) throws(DevelopmentError) -> ([Certificate], Certificate.PrivateKey)? {
    guard let keyText = try text(of: "\(name).key", isSecret: true),
      let chainText = try text(of: "\(name).pem"),
      let key = try? Certificate.PrivateKey(pemEncoded: keyText),
      let documents = try? PEMDocument.parseMultiple(pemString: chainText),
      let chain = try? documents.map({ try Certificate(pemDocument: $0) }),
      chain.first?.publicKey == key.publicKey
    else { return nil }
    return (chain, key)
  }

  /// Stores the key, then the chain: after a crash in between they do not match, and are made anew.
  fileprivate func store(
    _ chain: [Certificate], key: Certificate.PrivateKey, as name: String
  ) throws(DevelopmentError) {
    let texts: (key: String, chain: [String])
    do {
      texts = (
        try key.serializeAsPEM().pemString, try chain.map { try $0.serializeAsPEM().pemString }
      )
    } catch {
      throw DevelopmentError("the \(name) certificate could not be encoded")
    }
    try replace("\(name).key", with: texts.key + "\n", mode: 0o600)
    try replace("\(name).pem", with: texts.chain.map { $0 + "\n" }.joined(), mode: 0o644)
  }
}

private func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { byte in
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }.joined()
}
