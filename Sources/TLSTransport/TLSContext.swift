import COpenSSL

/// What the service's end of TLS is made of: certificates, keys, ticket keys and rules.
///
/// Immutable; to change anything, make another and put it into a ``TLSContextBox``. TLS 1.2 and 1.3
/// with Mozilla's "intermediate" cipher suites (server side TLS guidelines 5.7) less the
/// finite-field DHE ones; no renegotiation, no compression, no server-side session cache and no
/// early data.
public final class TLSContext: @unchecked Sendable {
  // Unchecked: an SSL_CTX is reference-counted with atomics and not changed after `init`.

  /// A certificate and its key.
  public struct Identity: Hashable, Sendable {
    /// Path of a PEM file: the certificate, then its intermediates up to (not including) the root.
    public var certificateChainFile: String
    /// Path of a PEM file with the unencrypted private key (PKCS #8, PKCS #1 or SEC 1).
    public var privateKeyFile: String

    public init(certificateChainFile: String, privateKeyFile: String) {
      self.certificateChainFile = certificateChainFile
      self.privateKeyFile = privateKeyFile
    }
  }

  /// Whether clients show a certificate, and the PEM file of the authorities that may sign it.
  public enum ClientCertificates: Hashable, Sendable {
    /// Clients are not asked for one.
    case none
    /// Clients are asked; one that shows a certificate of another authority is refused.
    case optional(authoritiesFile: String)
    /// Clients without a certificate of these authorities are refused.
    case required(authoritiesFile: String)

    var authoritiesFile: String? {
      switch self {
      case .none: nil
      case .optional(let file), .required(let file): file
      }
    }
  }

  /// What a context is made from. Only paths: the files are read by ``TLSContext/init(_:)``.
  public struct Configuration: Hashable, Sendable {
    /// One or two identities of different key types, usually ECDSA and RSA; OpenSSL shows a client
    /// the one that it can verify.
    public var identities: [Identity]
    /// Application protocols, the most wanted first (RFC 7301). A client that offers ALPN and none
    /// of these is refused; one that offers no ALPN is served. Empty: ALPN is ignored.
    public var applicationProtocols: [String] = ["h2", "http/1.1"]
    /// Path of a ``TicketKeyRing`` file. Nil: random keys of this context, so that sessions resume
    /// neither on another replica nor after a reload.
    public var ticketKeyFile: String?
    /// How long a session may be resumed, in seconds; 1 to 604,800 (RFC 8446), default 2 hours.
    public var sessionLifetime: Int = 7200
    /// Whether clients show a certificate.
    public var clientCertificates: ClientCertificates = .none

    public init(identities: [Identity]) { self.identities = identities }

    /// Every file that goes into a context, for a watcher.
    public var files: [String] {
      identities.flatMap { [$0.certificateChainFile, $0.privateKeyFile] }
        + [ticketKeyFile, clientCertificates.authoritiesFile].compactMap { $0 }
    }
  }

  /// The server certificates, in the order of the configuration's identities, without chains.
  public let certificates: [TLSCertificate]
  /// What an operator should know but what does not stop the service, one line each: an expired or
  /// not yet valid certificate, a private key that anybody may read.
  public let warnings: [String]

  let pointer: OpaquePointer
  let asksForCertificate: Bool

  /// Reads the files and makes a context.
  /// - Throws: ``TLSError`` naming the file: `unreadableFile`, `notPEM`, `encryptedKey`,
  ///   `mismatchedKey`, `weakKey`, `badTicketKeys`, `insecurePermissions`, `badConfiguration`.
  public init(_ configuration: Configuration) throws(TLSError) {
    ERR_clear_error()
    guard let context = SSL_CTX_new(TLS_server_method()) else {
      throw .fromQueue(.badConfiguration, "OpenSSL made no context")
    }
    // `self` is made only of a whole context: a throw after that would free it twice.
    let loaded: LoadedIdentities
    do throws(TLSError) {
      loaded = try Self.configure(context, configuration)
    } catch {
      SSL_CTX_free(context)
      throw error
    }
    pointer = context
    certificates = loaded.certificates
    warnings = loaded.warnings
    asksForCertificate = configuration.clientCertificates != .none
  }

  deinit { SSL_CTX_free(pointer) }

  private static func configure(_ context: OpaquePointer, _ configuration: Configuration)
    throws(TLSError) -> LoadedIdentities
  {
    try setRules(context)
    let loaded = try load(configuration.identities, into: context)
    let ring: TicketKeyRing
    if let file = configuration.ticketKeyFile {
      ring = try TicketKeyRing(file: file)
    } else {
      ring = try .random()
    }
    try CallbackState(
      applicationProtocols: configuration.applicationProtocols, ticketKeys: ring
    ).install(in: context)
    try setSessions(context, configuration)
    return loaded
  }

  private static func setRules(_ context: OpaquePointer) throws(TLSError) {
    vocative_ctx_set_options(context)
    // 2: keys and digests of at least 112 bits of security.
    SSL_CTX_set_security_level(context, 2)
    guard vocative_ctx_set_versions(context) == 1,
      SSL_CTX_set_ciphersuites(
        context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256") == 1,
      SSL_CTX_set_cipher_list(
        context,
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
          + "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:"
          + "ECDHE-RSA-CHACHA20-POLY1305") == 1,
      vocative_ctx_set_groups(context, "X25519:P-256:P-384") == 1
    else { throw .fromQueue(.badConfiguration, "OpenSSL refuses our ciphers or groups") }
    vocative_ctx_accept_server_names(context)
    // One ticket a handshake: clients that open parallel connections get one on each of them.
    SSL_CTX_set_num_tickets(context, 1)
  }

  private static func setSessions(_ context: OpaquePointer, _ configuration: Configuration)
    throws(TLSError)
  {
    guard (1...604_800).contains(configuration.sessionLifetime) else {
      throw TLSError(
        .badConfiguration,
        "session lifetime is 1 to 604800 seconds, not \(configuration.sessionLifetime)")
    }
    SSL_CTX_set_timeout(context, configuration.sessionLifetime)
    // A session remembers that its client was verified, so it must not outlive the rule it was
    // verified by: other authorities or another mode, another id, and a full handshake.
    var identifier = Array("vocative/1".utf8)
    switch configuration.clientCertificates {
    case .none: break
    case .optional(let file):
      identifier += [1] + (try ClientAuthorities.load(file, into: context, required: false))
    case .required(let file):
      identifier += [2] + (try ClientAuthorities.load(file, into: context, required: true))
    }
    var digest = [UInt8](repeating: 0, count: 32)
    guard EVP_Digest(identifier, identifier.count, &digest, nil, EVP_sha256(), nil) == 1,
      SSL_CTX_set_session_id_context(context, digest, 32) == 1
    else { throw .fromQueue(.badConfiguration, "OpenSSL refuses the session id context") }
  }
}
