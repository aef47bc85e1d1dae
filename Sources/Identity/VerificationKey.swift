import Crypto
import FoundationEssentials
import JWTKit

/// The signature algorithms of RFC 7518 and RFC 8037 that tokens may use.
enum SignatureAlgorithm: String, Sendable, Hashable {
  case es256 = "ES256"
  case edDSA = "EdDSA"
  case rs256 = "RS256"
}

/// A public key of a JWKS that may verify tokens, with the one algorithm it is for.
struct VerificationKey: Sendable {
  /// What makes two keys the same key: the `kid`, the algorithm and the key itself.
  struct Identity: Hashable, Sendable {
    var kid: String?
    var algorithm: SignatureAlgorithm
    var fingerprint: SHA256Digest
  }

  let identity: Identity
  private let verifier: any JWTAlgorithm

  var kid: String? { identity.kid }
  var algorithm: SignatureAlgorithm { identity.algorithm }

  /// Whether `signature` was made over `message` by the owner of this key.
  func isValid(_ signature: [UInt8], for message: some DataProtocol) -> Bool {
    // A signature of the wrong length throws; it is as invalid as any other.
    (try? verifier.verify(signature, signs: message)) ?? false
  }
}

/// Why a key of a JWKS is left out.
struct UnusableKey: Error, CustomStringConvertible {
  var kid: String?
  var description: String
}

/// The members of a JWK (RFC 7517, RFC 7518 section 6, RFC 8037) that decide about its use.
struct PublicJWK: Codable, Sendable {
  var kty: String
  var kid: String?
  var use: String?
  var keyOps: [String]?
  var alg: String?
  var crv: String?
  var x: String?
  var y: String?
  var n: String?
  var e: String?
  // Only looked at to see that they are absent.
  var d: String?
  var k: String?

  enum CodingKeys: String, CodingKey {
    case kty, kid, use, alg, crv, x, y, n, e, d, k
    case keyOps = "key_ops"
  }
}

extension VerificationKey {
  /// RSA keys outside of these bounds are refused: below is weak, above costs too much a check.
  static let rsaBits = 2048...8192

  /// The key that `jwk` describes.
  /// - Throws: ``UnusableKey`` when it is not for verifying, weak, malformed or of another
  ///   algorithm.
  init(_ jwk: PublicJWK) async throws(UnusableKey) {
    func refuse(_ reason: String) -> UnusableKey { UnusableKey(kid: jwk.kid, description: reason) }
    guard (jwk.kid?.utf8.count ?? 0) <= 256 else { throw refuse("kid is longer than 256 bytes") }
    guard jwk.use ?? "sig" == "sig" else { throw refuse("use is not sig") }
    guard jwk.keyOps?.contains("verify") ?? true else { throw refuse("key_ops lacks verify") }
    guard jwk.d == nil, jwk.k == nil else { throw refuse("it contains private key material") }

    let keys = JWTKeyCollection()
    let algorithm: SignatureAlgorithm
    let material: [[UInt8]]
    do {
      switch (jwk.kty, jwk.crv) {
      case ("EC", "P-256"):
        algorithm = .es256
        material = try [jwk.x, jwk.y].map { try Self.bytes($0, count: 32) }
        await keys.add(ecdsa: try ES256PublicKey(parameters: (jwk.x ?? "", jwk.y ?? "")))
      case ("OKP", "Ed25519"):
        algorithm = .edDSA
        material = [try Self.bytes(jwk.x, count: 32)]
        await keys.add(eddsa: try EdDSA.PublicKey(x: jwk.x ?? "", curve: .ed25519))
      case ("RSA", _):
        algorithm = .rs256
        material = try [jwk.n, jwk.e].map { try Self.bytes($0) }
        guard Self.rsaBits.contains(Self.bitWidth(material[0])) else {
          throw refuse("RSA keys need 2048 to 8192 bits")
        }
        let key = try Insecure.RSA.PublicKey(modulus: jwk.n ?? "", exponent: jwk.e ?? "")
        await keys.add(rsa: key, digestAlgorithm: .sha256)
      default:
        throw refuse("neither EC P-256 nor OKP Ed25519 nor RSA")
      }
      guard jwk.alg ?? algorithm.rawValue == algorithm.rawValue else {
        throw refuse("alg is not \(algorithm.rawValue)")
      }
      verifier = try await keys.getKey()
    } catch let reason as UnusableKey {
      throw UnusableKey(kid: jwk.kid, description: reason.description)
    } catch {
      throw refuse("the key itself is malformed")
    }
    var hash = SHA256()
    for part in material {
      withUnsafeBytes(of: UInt32(part.count)) { hash.update(bufferPointer: $0) }
      hash.update(data: part)
    }
    identity = Identity(kid: jwk.kid, algorithm: algorithm, fingerprint: hash.finalize())
  }

  private static func bytes(_ text: String?, count: Int? = nil) throws(UnusableKey) -> [UInt8] {
    guard let text, let bytes = Base64URL.decode(text.utf8), bytes.count == count ?? bytes.count
    else { throw UnusableKey(description: "a member is missing, malformed or of a wrong length") }
    return bytes
  }

  private static func bitWidth(_ number: [UInt8]) -> Int {
    guard let first = number.firstIndex(where: { $0 != 0 }) else { return 0 }
    return (number.count - first) * 8 - number[first].leadingZeroBitCount
  }
}
