import Crypto
import Foundation
import Testing

@testable import Identity

@Suite struct KeySetTests {
  private let ec = Provider.Key.es256(.init())
  private let ed = Provider.Key.edDSA(.init())

  private func set(_ keys: [[String: Any]]) async throws -> KeySet {
    try await KeySet(parsing: Array(Provider.jwks(keys)))
  }

  /// Tokens and keys of RFC 7515, appendices A.2 and A.3, and RFC 8037, appendix A.
  private static let vectors: [(key: [String: String], token: String)] = [
    (
      [
        "kty": "RSA", "e": "AQAB",
        "n": """
        ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm\
        4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5\
        rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGh\
        yxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ
        """,
      ],
      """
      eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNv\
      bS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm\
      4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6\
      xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqv\
      hJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
      """
    ),
    (
      [
        "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
      ],
      """
      eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNv\
      bS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxf\
      KTUJqPP3-Kg6NU1Q
      """
    ),
    (
      ["kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"],
      """
      eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvM\
      g3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg
      """
    ),
  ]

  @Test(arguments: vectors.indices) func publishedVectorsVerify(index: Int) async throws {
    let vector = Self.vectors[index]
    let keys = try await set([vector.key])
    let token = try Token(Array(vector.token.utf8))
    guard case .key(let key) = keys.key(kid: nil, algorithm: token.algorithm) else {
      Issue.record("no key")
      return
    }
    #expect(key.isValid(token.signature, for: token.signedPart))
    var other = token.signature
    other[other.count / 2] ^= 1
    #expect(!key.isValid(other, for: token.signedPart))
    #expect(!key.isValid(token.signature.dropLast(), for: token.signedPart))
    #expect(!key.isValid([], for: token.signedPart))
  }

  /// Each of these is left out; the good key beside it stays.
  @Test func unusableKeysAreSkipped() async throws {
    let p384 = P384.Signing.PrivateKey().publicKey.rawRepresentation
    let weak = Base64URL.encode([UInt8](repeating: 0xC1, count: 128))
    let bad: [(reason: String, key: [String: Any])] = [
      ("use is not sig", ec.jwk(["use": "enc"])),
      ("key_ops lacks verify", ec.jwk(["key_ops": ["sign"]])),
      ("alg is not ES256", ec.jwk(["alg": "ES384"])),
      ("alg is not EdDSA", ed.jwk(["alg": "ES256"])),
      ("alg is not RS256", Provider.Key.rs256(Provider.Key.rsa).jwk(["alg": "PS256"])),
      ("it contains private key material", ec.jwk(["d": "AAAA"])),
      ("neither", ["kty": "oct"]), ("neither", ["kty": "OKP", "crv": "X25519", "x": "AAAA"]),
      ("it contains private key material", ["kty": "oct", "k": "AAAA"]),
      (
        "neither",
        [
          "kty": "EC", "crv": "P-384", "x": Base64URL.encode(p384.prefix(48)),
          "y": Base64URL.encode(p384.suffix(48)),
        ]
      ),
      ("RSA keys need 2048", ["kty": "RSA", "n": weak, "e": "AQAB"]),
      (
        "RSA keys need 2048",
        ["kty": "RSA", "n": Base64URL.encode([UInt8](repeating: 0xC1, count: 1025)), "e": "AQAB"]
      ),
      ("malformed", ec.jwk(["x": Base64URL.encode([UInt8](repeating: 1, count: 32))])),
      ("wrong length", ec.jwk(["x": Base64URL.encode([UInt8](repeating: 1, count: 31))])),
      ("wrong length", ed.jwk(["x": "not base64!"])),
      ("wrong length", ["kty": "RSA", "e": "AQAB"]),
      ("kid is longer", ec.jwk(["kid": String(repeating: "k", count: 257)])),
      ("not a JSON Web Key", ["kid": "odd", "kty": 7]), ("not a JSON Web Key", [:]),
    ]
    for (reason, key) in bad {
      let keys = try await set([key, ed.jwk(["kid": "good"])])
      #expect(keys.keys.map(\.kid) == ["good"], "\(reason)")
      #expect(keys.skipped.count == 1 && keys.skipped[0].description.contains(reason), "\(reason)")
      await #expect(throws: JWKSError.self) { try await set([key]) }
    }
    let odd = try await set([["kid": "odd", "kty": 7], ed.jwk()])
    #expect(odd.skipped[0].kid == "odd")
  }

  @Test(arguments: ["", "{", "[]", #"{"keys":{}}"#, #"{"keys":[]}"#, "{}", #"{"keys":[1]}"#])
  func documentsThatAreNoKeySet(text: String) async {
    await #expect(throws: JWKSError.self) { try await KeySet(parsing: Array(text.utf8)) }
  }

  @Test func tooManyKeysAreRefused() async {
    await #expect(throws: JWKSError.self) {
      try await set(Array(repeating: ed.jwk(), count: KeySet.maximumKeys + 1))
    }
  }

  @Test func aKidMayBeSharedByAlgorithmsOnly() async throws {
    let second = Provider.Key.es256(.init())
    let keys = try await set([
      ec.jwk(["kid": "a"]), ed.jwk(["kid": "a"]), second.jwk(["kid": "a"]), ec.jwk(["kid": "a"]),
    ])
    #expect(keys.keys.count == 2)
    #expect(keys.skipped.map(\.description) == ["an earlier key has the same kid and algorithm"])
    guard case .key(let chosen) = keys.key(kid: "a", algorithm: .es256) else {
      Issue.record("no key")
      return
    }
    let message = Data("m".utf8)
    #expect(chosen.isValid(try ec.sign("m"), for: message))
    #expect(!chosen.isValid(try second.sign("m"), for: message))
  }

  @Test func base64URLIsStrict() {
    #expect(Base64URL.decode("".utf8) == [])
    #expect(Base64URL.decode("AA".utf8) == [0])
    #expect(Base64URL.decode("-_8".utf8) == [0xFB, 0xFF])
    for bad in ["A", "AB", "AAB", "AA==", "AA=", "+/8", "A A", "AAAA\n", "é", "AAAAA"] {
      #expect(Base64URL.decode(bad.utf8) == nil, "\(bad)")
    }
    for count in 0..<70 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
      let text = Base64URL.encode(bytes)
      #expect(Base64URL.decode(text.utf8) == bytes)
      #expect(!text.contains("="))
    }
  }
}
