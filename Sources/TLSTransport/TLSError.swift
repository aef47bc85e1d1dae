import COpenSSL

/// What went wrong in TLS: loading a certificate or key, a handshake, or an open connection.
///
/// Carries OpenSSL's own reason and file names, never key material, and never what a peer sent.
public struct TLSError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of an error. More may be added.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code as it stands in logs and metrics, in kebab case.
    public let description: String

    /// A file that the configuration names cannot be read.
    public static let unreadableFile = Code(description: "unreadable-file")
    /// A file holds no PEM block of the kind it should, or a damaged one.
    public static let notPEM = Code(description: "not-pem")
    /// A private key is encrypted; the service has nobody to ask for its password.
    public static let encryptedKey = Code(description: "encrypted-key")
    /// A private key is not the one that the certificate was made for.
    public static let mismatchedKey = Code(description: "mismatched-key")
    /// A key offers less than 112 bits of security (RSA under 2048 bits, EC under 224).
    public static let weakKey = Code(description: "weak-key")
    /// A ticket key file has the wrong size or repeats a key.
    public static let badTicketKeys = Code(description: "bad-ticket-keys")
    /// A secret file can be read or written by others than its owner.
    public static let insecurePermissions = Code(description: "insecure-permissions")
    /// OpenSSL refuses the configuration for another reason.
    public static let badConfiguration = Code(description: "bad-configuration")
    /// The handshake failed: no shared version or cipher, a bad or missing client certificate …
    public static let handshakeFailed = Code(description: "handshake-failed")
    /// The handshake took longer than its limit.
    public static let handshakeTimedOut = Code(description: "handshake-timed-out")
    /// The peer sent more bytes than a handshake may take.
    public static let handshakeTooLarge = Code(description: "handshake-too-large")
    /// The peer broke the protocol on an open connection: a forged or reordered record, an alert …
    public static let protocolViolation = Code(description: "protocol-violation")
    /// The peer provokes alerts without reading them.
    public static let excessiveControlTraffic = Code(description: "excessive-control-traffic")
    /// More was written before the end of the handshake than is kept.
    public static let writeBeforeHandshake = Code(description: "write-before-handshake")
  }

  /// The kind of the error.
  public let code: Code
  /// One line for a person: what failed, on which file, and what to do where that is known.
  public let message: String
  /// OpenSSL's reasons, oldest first, joined by "; ". Nil when OpenSSL gave none.
  public let reason: String?

  /// `message (reason)`, on one line.
  public var description: String { reason.map { "\(message) (\($0))" } ?? message }

  init(_ code: Code, _ message: String, reason: String? = nil) {
    self.code = code
    self.message = message
    self.reason = reason
  }

  /// Takes OpenSSL's queued reasons of this thread as the reason, and empties the queue.
  static func fromQueue(_ code: Code, _ message: String) -> TLSError {
    var reasons: [String] = []
    while case let queued = ERR_get_error(), queued != 0 {
      // System errors have no reason string; their number says as much as there is.
      reasons.append(ERR_reason_error_string(queued).map { String(cString: $0) } ?? "\(queued)")
    }
    return TLSError(code, message, reason: reasons.isEmpty ? nil : reasons.joined(separator: "; "))
  }
}
