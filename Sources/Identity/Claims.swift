import FoundationEssentials

/// What a service asks of every token.
struct ClaimRules: Sendable {
  var issuer: String
  var audiences: Set<String>
  var leeway: TimeInterval
  var deviceScopes: Set<Scope>
}

/// The claims of a verified token that matter here (RFC 7519, section 4.1; RFC 8693, section 4.2).
struct Claims: Decodable {
  var sub: String?
  var iss: String?
  var aud: Audience?
  var exp: Double?
  var nbf: Double?
  var iat: Double?
  var jti: String?
  var scope: String?

  /// One string or an array of them.
  struct Audience: Decodable {
    var names: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let name = try? container.decode(String.self) {
        names = [name]
      } else {
        names = try container.decode([String].self)
      }
    }
  }

  static let maximumAudiences = 64
  static let maximumScopes = 64
  static let maximumSubjectBytes = 128
  static let maximumTokenIDBytes = 256

  /// Reads the payload of a token whose signature has been checked.
  init(encoded: ArraySlice<UInt8>) throws(AuthenticationFailure) {
    guard let bytes = Base64URL.decode(encoded),
      String(validating: bytes, as: UTF8.self) != nil,
      let claims = try? JSONDecoder().decode(Self.self, from: Data(bytes))
    else { throw AuthenticationFailure(.malformed, "the claims of the token cannot be read") }
    self = claims
  }

  /// Who the claims speak for at the time `now`.
  func principal(
    by rules: ClaimRules, now: Date
  ) throws(AuthenticationFailure) -> Principal {
    guard iss == rules.issuer else {
      throw AuthenticationFailure(.wrongIssuer, "the token comes from another issuer")
    }
    guard let aud, aud.names.count <= Self.maximumAudiences,
      aud.names.contains(where: rules.audiences.contains)
    else { throw AuthenticationFailure(.wrongAudience, "the token is not meant for this service") }
    let expiresAt = try lifetime(leeway: rules.leeway, now: now)
    if let jti, jti.utf8.count > Self.maximumTokenIDBytes {
      throw AuthenticationFailure(.tooLarge, "the jti claim is longer than 256 bytes")
    }
    return Principal(
      userID: try subject(), scopes: try scopes(deviceScopes: rules.deviceScopes),
      expiresAt: expiresAt, tokenID: jti)
  }

  private func lifetime(
    leeway: TimeInterval, now: Date
  ) throws(AuthenticationFailure) -> Date {
    let seconds = now.timeIntervalSince1970
    guard let exp else { throw AuthenticationFailure(.expired, "the token has no exp claim") }
    // Times beyond the year 9999 are mistakes of unit (milliseconds) and would not render.
    guard [exp, nbf ?? 0, iat ?? 0].allSatisfy({ (0..<253_402_300_800).contains($0) }) else {
      throw AuthenticationFailure(.malformed, "a time of the token is out of range")
    }
    guard seconds < exp + leeway else {
      throw AuthenticationFailure(.expired, "the token has expired")
    }
    guard max(nbf ?? 0, iat ?? 0) <= seconds + leeway else {
      throw AuthenticationFailure(.notYetValid, "the token is not valid yet")
    }
    return Date(timeIntervalSince1970: exp)
  }

  private func subject() throws(AuthenticationFailure) -> String {
    guard let sub, Self.isValidSubject(sub) else {
      throw AuthenticationFailure(
        .badSubject, "the sub claim needs 1 to 128 bytes without control characters")
    }
    return sub
  }

  private func scopes(
    deviceScopes: Set<Scope>
  ) throws(AuthenticationFailure) -> Set<Scope> {
    guard let scope else { return [.device] }
    let words = scope.split(separator: " ")
    guard words.count <= Self.maximumScopes,
      words.allSatisfy({ Self.isValidScope(String($0)) })
    else {
      throw AuthenticationFailure(.badScope, "the scope claim is not a list of scope tokens")
    }
    var scopes = Set(words.map { Scope(rawValue: String($0)) })
    if !scopes.isDisjoint(with: deviceScopes) { scopes.insert(.device) }
    return scopes
  }

  /// Whether a user id has 1 to 128 bytes and no control characters.
  static func isValidSubject(_ subject: String) -> Bool {
    (1...maximumSubjectBytes).contains(subject.utf8.count)
      && subject.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
  }

  /// Whether `word` is a scope token (RFC 6749, section 3.3).
  static func isValidScope(_ word: String) -> Bool {
    !word.isEmpty
      && word.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }
}
