public import FoundationEssentials
import Crypto
import JWTKit

/// An issuer of tokens for development and tests. It cannot be made in production.
///
/// Its ES256 key lies in `issuer.key` of a directory (mode 0600), and the JWKS with the public
/// half in `jwks.json` beside it, where ``JWKSSource`` reads it like that of any provider.
public struct DevelopmentIssuer: Sendable {
  /// The `iss` of its tokens. The domain can never be registered (RFC 2606), so that no real
  /// provider is mistaken for it.
  public static let defaultIssuer = "https://issuer.vocative.invalid"
  /// The `aud` of its tokens.
  public static let defaultAudience = "vocative"
  /// Longest lifetime of a token.
  public static let maximumLifetime: Duration = .seconds(366 * 86400)

  /// The `iss` of its tokens.
  public let issuer: String
  /// The `aud` of its tokens.
  public let audience: String
  /// The file with its JWKS.
  public let jwksPath: String
  private let key: ES256PrivateKey
  private let kid: String
  private let now: @Sendable () -> Date

  /// The issuer of a directory; makes the directory and the key when they are missing.
  /// - Parameter now: the wall clock for `iat` and `exp`.
  /// - Throws: ``DevelopmentError`` in production mode, or when the key cannot be read or written.
  public init(
    directory: String, mode: OperatingMode, issuer: String = defaultIssuer,
    audience: String = defaultAudience, now: @escaping @Sendable () -> Date
  ) throws(DevelopmentError) {
    let directory = try DevelopmentDirectory(directory, mode: mode, purpose: "built-in tokens")
    let (key, kid) = try directory.locked { () throws(DevelopmentError) in
      let key = try Self.loadOrMakeKey(in: directory)
      let (kid, jwks) = Self.publication(of: key.publicKey)
      if try directory.text(of: Self.jwksFile) != jwks {
        try directory.replace(Self.jwksFile, with: jwks, mode: 0o644)
      }
      return (key, kid)
    }
    do { self.key = try ES256PrivateKey(backing: key) } catch {
      throw DevelopmentError("the development key cannot sign")
    }
    self.kid = kid
    self.issuer = issuer
    self.audience = audience
    self.now = now
    jwksPath = directory.path(of: Self.jwksFile)
  }

  /// A token for a user or a job.
  /// - Parameters:
  ///   - userID: the `sub`, 1 to 128 bytes without control characters.
  ///   - scopes: its rights; empty leaves the `scope` claim out, which makes it a user's device.
  ///   - lifetime: at least a second, at most ``maximumLifetime``.
  public func token(
    userID: String, scopes: Set<Scope> = [], lifetime: Duration = .seconds(86400)
  ) async throws(DevelopmentError) -> String {
    guard Claims.isValidSubject(userID) else {
      throw DevelopmentError("a user id needs 1 to 128 bytes without control characters")
    }
    guard scopes.allSatisfy({ Claims.isValidScope($0.rawValue) }) else {
      throw DevelopmentError("a scope needs printable ASCII without spaces, quotes and backslashes")
    }
    guard .seconds(1)...Self.maximumLifetime ~= lifetime else {
      throw DevelopmentError("the lifetime of a token is 1 second to 366 days")
    }
    let issuedAt = now().timeIntervalSince1970.rounded(.down)
    let payload = Payload(
      iss: issuer, aud: audience, sub: userID, iat: Int(issuedAt),
      exp: Int(issuedAt) + Int(lifetime.components.seconds),
      scope: scopes.isEmpty ? nil : scopes.map(\.rawValue).sorted().joined(separator: " "))
    do {
      return try await JWTKeyCollection().add(ecdsa: key)
        .sign(payload, header: ["alg": "ES256", "typ": "JWT", "kid": .string(kid)])
    } catch {
      throw DevelopmentError("the token could not be signed")
    }
  }

  private static let keyFile = "issuer.key"
  private static let jwksFile = "jwks.json"

  private static func loadOrMakeKey(
    in directory: DevelopmentDirectory
  ) throws(DevelopmentError) -> P256.Signing.PrivateKey {
    if let pem = try directory.text(of: keyFile, isSecret: true) {
      guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) else {
        throw DevelopmentError("\(directory.path(of: keyFile)) is not a P-256 key; remove it")
      }
      return key
    }
    let key = P256.Signing.PrivateKey()
    try directory.replace(keyFile, with: key.pemRepresentation + "\n", mode: 0o600)
    return key
  }

  /// The key's name, which is its thumbprint by RFC 7638 (the required members in order, without
  /// white space), and the JWKS with it.
  private static func publication(
    of key: P256.Signing.PublicKey
  ) -> (kid: String, jwks: String) {
    let point = key.rawRepresentation
    let (x, y) = (Base64URL.encode(point.prefix(32)), Base64URL.encode(point.suffix(32)))
    let thumbprint = SHA256.hash(
      data: Array(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8))
    let kid = Base64URL.encode(Array(thumbprint))
    let jwks = """
      {"keys":[{"kty":"EC","crv":"P-256","use":"sig","alg":"ES256","kid":"\(kid)",\
      "x":"\(x)","y":"\(y)"}]}

      """
    return (kid, jwks)
  }

  private struct Payload: JWTPayload {
    var iss: String
    var aud: String
    var sub: String
    var iat: Int
    var exp: Int
    var scope: String?

    /// Claims are checked by ``Authenticator``, never here.
    func verify(using algorithm: some JWTAlgorithm) {}
  }
}
