public import FoundationEssentials

/// Tells who a request speaks for, from its `Authorization` header.
///
/// A token is accepted when it is a JWT that a key of the JWKS has signed with that key's own
/// algorithm, and its claims satisfy the ``Configuration``. Verified tokens are remembered, since
/// a check costs about 100 µs of public-key work: the second request with a token costs a hash.
public final class Authenticator: Sendable {
  /// Tokens longer than this are refused unread.
  public static let maximumTokenBytes = 8192

  /// What is asked of tokens.
  public struct Configuration: Sendable {
    /// The `iss` that tokens must have, compared byte by byte.
    public var issuer: String
    /// The `aud` of a token must name at least one of these.
    public var audiences: Set<String>
    /// How far the clocks of the issuer and of this machine may be apart.
    public var leeway: Duration = .seconds(60)
    /// Scopes that make a token with a `scope` claim that of a user's device. A provider that
    /// writes `scope: openid` into every token of a user is served by adding `openid` here.
    public var deviceScopes: Set<Scope> = [.device]
    /// Most verified tokens to remember, at about 400 bytes each; 0 turns the cache off.
    public var cacheCapacity = 50_000

    /// Tokens of `issuer` for one of `audiences`.
    public init(issuer: String, audiences: Set<String>) {
      self.issuer = issuer
      self.audiences = audiences
    }
  }

  private let rules: ClaimRules
  private let source: JWKSSource
  private let cache: TokenCache
  private let now: @Sendable () -> Date

  /// An authenticator with the keys of `source`, which somebody else runs.
  /// - Parameter now: the wall clock that `exp`, `nbf` and `iat` are held against.
  public init(
    _ configuration: Configuration, keys source: JWKSSource, now: @escaping @Sendable () -> Date
  ) {
    rules = ClaimRules(
      issuer: configuration.issuer, audiences: configuration.audiences,
      leeway: configuration.leeway / .seconds(1), deviceScopes: configuration.deviceScopes)
    cache = TokenCache(capacity: configuration.cacheCapacity)
    self.source = source
    self.now = now
  }

  /// The principal of a request whose token was verified before; nil says nothing but that
  /// ``authenticate(_:)`` has to be asked. Never suspends.
  /// - Parameter authorization: the value of the request's `Authorization` header.
  public func cached(_ authorization: String?) -> Principal? {
    guard let authorization, let token = try? Self.bearerToken(in: authorization),
      let keys = source.loaded
    else { return nil }
    return cache.principal(for: Self.cacheKey(of: token), keys: keys, now: now())
  }

  /// The principal that a request speaks for. Runs where its caller does, and suspends only when the
  /// token names a key that is not known, while the JWKS is asked for it.
  /// - Parameter authorization: the value of the request's `Authorization` header.
  /// - Throws: why it speaks for nobody, to be answered with
  ///   ``AuthenticationFailure/wwwAuthenticate``.
  public nonisolated(nonsending) func authenticate(
    _ authorization: String?
  ) async throws(AuthenticationFailure) -> Principal {
    guard let authorization else {
      throw AuthenticationFailure(.missing, "the request has no Authorization header")
    }
    let text = try Self.bearerToken(in: authorization)
    let key = Self.cacheKey(of: text)
    if let keys = source.loaded, let known = cache.principal(for: key, keys: keys, now: now()) {
      return known
    }
    let token = try Token(Array(text))
    let (signer, generation) = try await signer(of: token)
    guard signer.isValid(token.signature, for: token.signedPart) else {
      throw AuthenticationFailure(.badSignature, "the signature of the token is not valid")
    }
    let principal = try Claims(encoded: token.encodedClaims).principal(by: rules, now: now())
    cache.insert(
      principal, for: key, signer: signer.identity, generation: generation,
      validUntil: principal.expiresAt.addingTimeInterval(rules.leeway))
    return principal
  }

  /// Verified tokens that are remembered now, for a gauge.
  public var cachedTokens: Int { cache.count }

  private nonisolated(nonsending) func signer(
    of token: Token
  ) async throws(AuthenticationFailure) -> (VerificationKey, generation: UInt64) {
    var loaded = source.loaded
    for isLastTry in [false, true] {
      guard let keys = loaded else {
        throw AuthenticationFailure(.keysUnavailable, "no key set could be loaded so far")
      }
      switch keys.set.key(kid: token.kid, algorithm: token.algorithm) {
      case .key(let key): return (key, keys.generation)
      case .otherAlgorithm:
        throw AuthenticationFailure(
          .algorithmMismatch, "the key of the token is for another algorithm")
      case .none where isLastTry: break
      case .none: loaded = await source.refreshForUnknownKey()
      }
    }
    throw AuthenticationFailure(.unknownKey, "the token is signed with an unknown key")
  }

  private static func cacheKey(of token: Substring.UTF8View) -> TokenCache.Key {
    token.withContiguousStorageIfAvailable { TokenCache.key(of: UnsafeRawBufferPointer($0)) }
      ?? TokenCache.key(of: Array(token))
  }

  /// The token in `Bearer <token>` (RFC 6750, section 2.1; the scheme in any case, RFC 9110).
  private static func bearerToken(
    in authorization: String
  ) throws(AuthenticationFailure) -> Substring.UTF8View {
    let text = authorization.utf8
    let space = UInt8(ascii: " ")
    let scheme = text.prefix { $0 != space }
    guard scheme.elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }) else {
      throw AuthenticationFailure(.unsupportedScheme, "the Authorization scheme is not Bearer")
    }
    let token = text[scheme.endIndex...].drop { $0 == space }
    guard token.count <= maximumTokenBytes else {
      throw AuthenticationFailure(.tooLarge, "the token is longer than 8192 bytes")
    }
    return token
  }
}
