import FoundationEssentials

/// A JWT in compact form (RFC 7515, section 3.1), split and with its header read; nothing of it is
/// trusted yet.
struct Token {
  let algorithm: SignatureAlgorithm
  let kid: String?
  /// Header and payload as they were signed.
  let signedPart: ArraySlice<UInt8>
  let signature: [UInt8]
  /// The payload, still encoded: to be read after the signature has been checked.
  let encodedClaims: ArraySlice<UInt8>

  private struct Header: Decodable {
    var alg: String
    var kid: String?
    var typ: String?
    /// Set when the header has a `crit` member of whatever value.
    var hasCritical: Bool

    private enum CodingKeys: CodingKey { case alg, kid, typ, crit }

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      alg = try members.decode(String.self, forKey: .alg)
      kid = try members.decodeIfPresent(String.self, forKey: .kid)
      typ = try members.decodeIfPresent(String.self, forKey: .typ)
      hasCritical = members.contains(.crit)
    }
  }

  /// Splits `text` and reads its header.
  init(_ text: [UInt8]) throws(AuthenticationFailure) {
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else {
      throw AuthenticationFailure(.malformed, "the token is not a signed JWT in compact form")
    }
    guard let header = Base64URL.decode(parts[0]), let signature = Base64URL.decode(parts[2]) else {
      throw AuthenticationFailure(.malformed, "a part of the token is not base64url")
    }
    guard let fields = try? JSONDecoder().decode(Header.self, from: Data(header)) else {
      throw AuthenticationFailure(.malformed, "the header of the token cannot be read")
    }
    guard !fields.hasCritical else {
      throw AuthenticationFailure(
        .unsupportedAlgorithm, "the token needs an extension that is not supported")
    }
    // Other types (logout tokens, proofs of possession) are not for access: RFC 8725, section 3.11.
    let type = fields.typ?.lowercased() ?? "jwt"
    guard ["jwt", "at+jwt", "application/at+jwt"].contains(type) else {
      throw AuthenticationFailure(.malformed, "the token is of a type that grants no access")
    }
    guard let algorithm = SignatureAlgorithm(rawValue: fields.alg) else {
      throw AuthenticationFailure(
        .unsupportedAlgorithm, "only ES256, EdDSA and RS256 signatures are accepted")
    }
    self.algorithm = algorithm
    self.kid = fields.kid
    self.signature = signature
    signedPart = text[parts[0].startIndex..<parts[1].endIndex]
    encodedClaims = parts[1]
  }
}
