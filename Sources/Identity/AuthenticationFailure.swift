/// Why a request is not authenticated. Carries nothing of the token, so that it can be logged and
/// answered as it is.
public struct AuthenticationFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure; compare with the constants, and expect new ones.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// A stable word in kebab case, fit for a metric label.
    public var rawValue: String

    /// The code with this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The request has no `Authorization` header.
    public static let missing = Code(rawValue: "missing")
    /// The header does not use the Bearer scheme.
    public static let unsupportedScheme = Code(rawValue: "unsupported-scheme")
    /// The token is not a JWT in compact form, or a claim has the wrong type.
    public static let malformed = Code(rawValue: "malformed")
    /// The token is larger than ``Authenticator/maximumTokenBytes``, or a claim than its limit.
    public static let tooLarge = Code(rawValue: "too-large")
    /// The header asks for an algorithm or an extension that is not accepted.
    public static let unsupportedAlgorithm = Code(rawValue: "unsupported-algorithm")
    /// The header's `alg` is not the algorithm of the key that it names.
    public static let algorithmMismatch = Code(rawValue: "algorithm-mismatch")
    /// No key of the JWKS, or more than one, could have signed the token.
    public static let unknownKey = Code(rawValue: "unknown-key")
    /// The signature does not match.
    public static let badSignature = Code(rawValue: "bad-signature")
    /// `exp` is missing or past.
    public static let expired = Code(rawValue: "expired")
    /// `nbf` or `iat` lies ahead.
    public static let notYetValid = Code(rawValue: "not-yet-valid")
    /// `iss` is missing or another one.
    public static let wrongIssuer = Code(rawValue: "wrong-issuer")
    /// `aud` is missing or names somebody else.
    public static let wrongAudience = Code(rawValue: "wrong-audience")
    /// `sub` is missing, empty, too long or has control characters.
    public static let badSubject = Code(rawValue: "bad-subject")
    /// `scope` is not a space-separated list of scope tokens.
    public static let badScope = Code(rawValue: "bad-scope")
    /// No key set could be loaded so far: the service's fault, not the caller's.
    public static let keysUnavailable = Code(rawValue: "keys-unavailable")
  }

  /// The kind of failure.
  public var code: Code
  /// One sentence for the caller, in ASCII without quotes and backslashes, so that it fits a
  /// quoted string of a header.
  public var description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// The status to answer: 401, or 503 for ``Code/keysUnavailable``.
  public var httpStatus: Int { code == .keysUnavailable ? 503 : 401 }

  /// The value of the `WWW-Authenticate` header (RFC 6750, section 3), or nil where none belongs
  /// (503). A request without credentials is told the scheme only, as the RFC asks.
  public var wwwAuthenticate: String? {
    switch code {
    case .keysUnavailable: nil
    case .missing, .unsupportedScheme: #"Bearer realm="vocative""#
    default:
      #"Bearer realm="vocative", error="invalid_token", error_description="\#(description)""#
    }
  }
}
