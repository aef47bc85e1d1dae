public import FoundationEssentials

/// Who a request speaks for, as stated by a verified token.
public struct Principal: Sendable, Hashable {
  /// The token's `sub`: 1 to 128 bytes of UTF-8 without control characters.
  public var userID: String
  /// What the token may be used for. Never empty for a token that a device of a user carries:
  /// such a token holds ``Scope/device``.
  public var scopes: Set<Scope>
  /// The token's `exp`. The token is refused from `exp` plus the configured leeway on, so a
  /// long-lived stream that was opened with it has to end then too.
  public var expiresAt: Date
  /// The token's `jti`, if it has one: at most 256 bytes.
  public var tokenID: String?

  /// A principal with the given identity and rights; tests make theirs by hand.
  public init(userID: String, scopes: Set<Scope>, expiresAt: Date, tokenID: String? = nil) {
    self.userID = userID
    self.scopes = scopes
    self.expiresAt = expiresAt
    self.tokenID = tokenID
  }

  /// Whether the token carries `scope`.
  public func holds(_ scope: Scope) -> Bool { scopes.contains(scope) }
}

/// One right of a token: one space-separated word of its `scope` claim (RFC 8693, section 4.2).
public struct Scope: RawRepresentable, Hashable, Sendable {
  /// The word as it stands in the claim.
  public var rawValue: String

  /// The scope with this name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// An app on a user's device: reads and writes what that user may. A token without a `scope`
  /// claim holds exactly this.
  public static let device = Scope(rawValue: "device")
  /// An upload job: may write the vocabulary of many users, and nothing else.
  public static let vocabularyUpload = Scope(rawValue: "vocabulary.upload")
  /// An administrator of the service.
  public static let admin = Scope(rawValue: "admin")
}
