import COpenSSL
import Glibc

extension TLSContext {
  struct LoadedIdentities {
    var certificates: [TLSCertificate] = []
    var warnings: [String] = []
  }

  /// Loads each identity with its chain, after checking what OpenSSL would report obscurely.
  static func load(_ identities: [Identity], into context: OpaquePointer) throws(TLSError)
    -> LoadedIdentities
  {
    guard !identities.isEmpty else {
      throw TLSError(.badConfiguration, "TLS needs a certificate and a private key")
    }
    var loaded = LoadedIdentities()
    var keyTypes: Set<Int32> = []
    for identity in identities {
      let chain = try PEM.certificates(in: identity.certificateChainFile)
      let key = try PEM.privateKey(in: identity.privateKeyFile)
      try check(key, against: chain[0], identity)
      guard keyTypes.insert(EVP_PKEY_get_base_id(key.pointer)).inserted else {
        throw TLSError(
          .badConfiguration,
          "\(identity.certificateChainFile): two certificates have the same type of key")
      }
      try use(chain, key, identity, in: context)
      let certificate = TLSCertificate(chain[0].pointer)
      loaded.certificates.append(certificate)
      loaded.warnings += validityWarnings(certificate, file: identity.certificateChainFile)
      if key.mode & 0o007 != 0 {
        loaded.warnings.append(
          "\(identity.privateKeyFile) can be read or written by anybody; "
            + "run: chmod o= \(identity.privateKeyFile)")
      }
    }
    return loaded
  }

  private static func check(
    _ key: PEM.PrivateKey, against certificate: PEM.Certificate, _ identity: Identity
  ) throws(TLSError) {
    guard X509_check_private_key(certificate.pointer, key.pointer) == 1 else {
      ERR_clear_error()
      throw TLSError(
        .mismatchedKey,
        "\(identity.privateKeyFile) is not the key of the certificate in "
          + identity.certificateChainFile)
    }
    let bits = EVP_PKEY_get_security_bits(key.pointer)
    guard bits >= 112 else {
      throw TLSError(
        .weakKey,
        "\(identity.privateKeyFile) is too weak: \(EVP_PKEY_get_bits(key.pointer)) bits give "
          + "\(bits) bits of security, at least 112 are needed (RSA 2048, EC 224)")
    }
  }

  private static func use(
    _ chain: [PEM.Certificate], _ key: PEM.PrivateKey, _ identity: Identity,
    in context: OpaquePointer
  ) throws(TLSError) {
    var accepted =
      SSL_CTX_use_certificate(context, chain[0].pointer) == 1
      && SSL_CTX_use_PrivateKey(context, key.pointer) == 1
    for intermediate in chain.dropFirst() {
      accepted =
        accepted && vocative_ctx_add_chain_certificate(context, intermediate.pointer) == 1
    }
    guard accepted else {
      throw .fromQueue(
        .badConfiguration, "OpenSSL refuses the certificates in \(identity.certificateChainFile)")
    }
  }

  private static func validityWarnings(_ certificate: TLSCertificate, file: String) -> [String] {
    let now = Int64(time(nil))
    if now > certificate.notAfter { return ["the certificate in \(file) has expired"] }
    if now < certificate.notBefore { return ["the certificate in \(file) is not valid yet"] }
    return []
  }
}

/// The authorities that client certificates are checked against.
enum ClientAuthorities {
  /// Sets the context's trust store and verify mode.
  /// - Returns: SHA-256 fingerprints of the authorities, joined: what sessions are bound to.
  static func load(_ file: String, into context: OpaquePointer, required: Bool) throws(TLSError)
    -> [UInt8]
  {
    let authorities = try PEM.certificates(in: file)
    let store = SSL_CTX_get_cert_store(context)
    for authority in authorities {
      // The list of names that a client picks its certificate by, and what is verified against.
      guard X509_STORE_add_cert(store, authority.pointer) == 1,
        SSL_CTX_add_client_CA(context, authority.pointer) == 1
      else { throw .fromQueue(.badConfiguration, "OpenSSL refuses the authorities in \(file)") }
    }
    let mode = SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0)
    SSL_CTX_set_verify(context, mode, nil)
    return authorities.flatMap { TLSCertificate($0.pointer).fingerprint }
  }
}
