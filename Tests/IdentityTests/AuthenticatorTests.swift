import Crypto
import Foundation
import JWTKit
import Testing

@testable import Identity

@Suite struct AuthenticatorTests {
  private let ec = Provider.Key.es256(.init())
  private let ed = Provider.Key.edDSA(.init())
  private let rsa = Provider.Key.rs256(Provider.Key.rsa)

  private func bench() async throws -> Bench {
    try await Bench([ec.jwk(["kid": "ec"]), ed.jwk(["kid": "ed"]), rsa.jwk(["kid": "rsa"])])
  }

  @Test func eachAlgorithmIsAccepted() async throws {
    let bench = try await bench()
    for (key, kid) in [(ec, "ec"), (ed, "ed"), (rsa, "rsa")] {
      let token = try Provider.token(
        key, header: ["kid": kid], claims: Provider.claims(["jti": "id-1"]))
      let principal = try await bench.authenticate(token)
      #expect(
        principal
          == Principal(
            userID: "alice", scopes: [.device],
            expiresAt: Provider.time.addingTimeInterval(600), tokenID: "id-1"))
    }
  }

  @Test func theHeaderIsReadStrictly() async throws {
    let bench = try await bench()
    let token = try Provider.token(ec, header: ["kid": "ec"])
    #expect(await bench.failure(header: nil) == .missing)
    for header in ["", "Basic abc", "Bearer", "Bearerx \(token)", token, "bearer\0\(token)"] {
      let code = await bench.failure(header: header)
      #expect(code == .unsupportedScheme || code == .malformed, "\(header)")
    }
    #expect(await bench.failure(header: "bEaReR   \(token)") == nil)
    #expect(await bench.failure(header: "Bearer \(token) ") == .malformed)
    #expect(await bench.failure(header: "Bearer \(token) x") == .malformed)
    for bad in [".", "..", "...", "a.b", "a.b.c", "\(token).", "\(token).x", ".\(token)"] {
      #expect(await bench.failure(bad) == .malformed, "\(bad)")
    }
    let parts = token.split(separator: ".").map(String.init)
    #expect(await bench.failure("\(parts[0]).\(parts[1]).") == .malformed)
    #expect(await bench.failure("\(parts[0])=.\(parts[1]).\(parts[2])") == .malformed)
  }

  @Test func tokensAreBounded() async throws {
    let bench = try await bench()
    let filler = { (count: Int) in
      Provider.claims(["filler": String(repeating: "x", count: count)])
    }
    let fits = try Provider.token(ec, header: ["kid": "ec"], claims: filler(5800))
    #expect(fits.utf8.count <= Authenticator.maximumTokenBytes)
    #expect(await bench.failure(fits) == nil)
    let large = try Provider.token(ec, header: ["kid": "ec"], claims: filler(6100))
    #expect(large.utf8.count > Authenticator.maximumTokenBytes)
    #expect(await bench.failure(large) == .tooLarge)
  }

  @Test func algorithmsAreThoseOfTheKey() async throws {
    let bench = try await bench()
    let claims = Provider.json(Provider.claims())
    func unsigned(_ header: [String: Any], signature: [UInt8] = [0]) -> String {
      "\(Base64URL.encode(Provider.json(header))).\(Base64URL.encode(claims))."
        + Base64URL.encode(signature)
    }
    // No algorithm at all.
    for name in ["none", "None", "NONE", "nOnE", ""] {
      #expect(await bench.failure(unsigned(["alg": name, "kid": "ec"])) == .unsupportedAlgorithm)
      #expect(
        await bench.failure(unsigned(["alg": name, "kid": "ec"], signature: [])) == .malformed)
    }
    // A public key taken for a shared secret.
    let text =
      Base64URL.encode(Provider.json(["alg": "HS256", "kid": "rsa"])) + "."
      + Base64URL.encode(claims)
    for secret in [
      Data(Provider.Key.rsa.publicKey.pemRepresentation.utf8),
      Provider.Key.rsa.publicKey.derRepresentation,
    ] {
      let code = HMAC<SHA256>.authenticationCode(
        for: Data(text.utf8), using: SymmetricKey(data: secret))
      #expect(
        await bench.failure("\(text).\(Base64URL.encode(Array(code)))") == .unsupportedAlgorithm)
    }
    // The word of the header against that of the key.
    for (key, kid) in [(ec, "ed"), (ed, "ec"), (rsa, "ec"), (ec, "rsa")] {
      let token = try Provider.token(key, header: ["kid": kid])
      #expect(await bench.failure(token) == .algorithmMismatch)
      let lying = try Provider.token(
        key, header: ["kid": kid, "alg": kid == "ec" ? "ES256" : kid == "ed" ? "EdDSA" : "RS256"])
      #expect(await bench.failure(lying) == .badSignature)
    }
    for name in ["ES384", "ES512", "RS384", "PS256", "es256", "Ed25519", "HS512"] {
      let token = try Provider.token(ec, header: ["kid": "ec", "alg": name])
      #expect(await bench.failure(token) == .unsupportedAlgorithm)
    }
  }

  @Test func keysFromTheTokenAreIgnored() async throws {
    let bench = try await bench()
    let mine = Provider.Key.es256(.init())
    let token = try Provider.token(
      mine,
      header: [
        "kid": "ec", "jwk": mine.jwk(), "jku": "https://evil.example/jwks.json",
        "x5u": "https://evil.example/cert.pem", "x5c": ["AAAA"],
      ])
    #expect(await bench.failure(token) == .badSignature)
    let unknown = try Provider.token(mine, header: ["kid": "mine", "jwk": mine.jwk()])
    #expect(await bench.failure(unknown) == .unknownKey)
    for kid in ["../../etc/passwd", "ec' OR 1=1", "", "EC"] {
      let token = try Provider.token(ec, header: ["kid": kid])
      #expect(await bench.failure(token) == .unknownKey)
    }
  }

  @Test func headersThatAskForMoreAreRefused() async throws {
    let bench = try await bench()
    let headers: [([String: Any], AuthenticationFailure.Code?)] = [
      (["crit": ["exp"], "exp": 1], .unsupportedAlgorithm), (["crit": []], .unsupportedAlgorithm),
      (["crit": NSNull()], .unsupportedAlgorithm),
      (["crit": ["b64"], "b64": false], .unsupportedAlgorithm),
      (["typ": "logout+jwt"], .malformed), (["typ": "dpop+jwt"], .malformed),
      (["typ": 7], .malformed),
      (["alg": 7], .malformed), (["alg": NSNull()], .malformed), (["kid": 7], .malformed),
      (["typ": "JWT"], nil), (["typ": "at+JWT"], nil), (["typ": "application/at+jwt"], nil),
      (["unknown": ["x": 1]], nil),
    ]
    for (header, code) in headers {
      let token = try Provider.token(ec, header: ["kid": "ec"].merging(header) { $1 })
      #expect(await bench.failure(token) == code, "\(header)")
    }
    for header in ["", "null", "[]", "7", "{", #"{"kid":"ec"}"#, "\u{FF}"] {
      let token = try Provider.token(
        ec, header: Data(header.utf8), claims: Provider.json(Provider.claims()))
      #expect(await bench.failure(token) == .malformed, "\(header)")
    }
  }

  @Test func withoutAKidTheKeyMustBeTheOnlyOne() async throws {
    let token = try Provider.token(ec)
    let one = try await bench()
    #expect(await one.failure(token) == nil)
    let other = Provider.Key.es256(.init())
    let two = try await Bench([ec.jwk(["kid": "a"]), other.jwk(["kid": "b"])])
    #expect(await two.failure(token) == .unknownKey)
    let none = try await Bench([ed.jwk()])
    #expect(await none.failure(token) == .unknownKey)
    let named = try Provider.token(ed, header: ["kid": "x"])
    #expect(await none.failure(named) == .unknownKey)
  }

  @Test func claimsAreChecked() async throws {
    let bench = try await bench()
    let now = Int(Provider.time.timeIntervalSince1970)
    let cases: [([String: Any?], AuthenticationFailure.Code?)] = [
      (["iss": nil], .wrongIssuer), (["iss": "https://id.example/"], .wrongIssuer),
      (["iss": ""], .wrongIssuer), (["iss": 7], .malformed),
      (["iss": [Provider.issuer]], .malformed),
      (["aud": nil], .wrongAudience), (["aud": "other"], .wrongAudience),
      (["aud": []], .wrongAudience),
      (["aud": ["x", "vocative"]], nil), (["aud": ["x", "Vocative"]], .wrongAudience),
      (["aud": 7], .malformed), (["aud": ["vocative", 7]], .malformed),
      (["aud": Array(repeating: "vocative", count: 65)], .wrongAudience),
      (["exp": nil], .expired), (["exp": now - 60], .expired), (["exp": now - 59], nil),
      (["exp": Double(now) - 59.5], nil), (["exp": "\(now + 600)"], .malformed),
      (["exp": 1e300], .malformed), (["exp": -1], .malformed), (["exp": now * 1000], .malformed),
      (["nbf": now + 60], nil), (["nbf": now + 61], .notYetValid), (["nbf": "x"], .malformed),
      (["iat": now + 60], nil), (["iat": now + 61], .notYetValid), (["iat": -1e300], .malformed),
      (["sub": nil], .badSubject), (["sub": ""], .badSubject), (["sub": 7], .malformed),
      (["sub": String(repeating: "é", count: 64)], nil),
      (["sub": String(repeating: "é", count: 64) + "x"], .badSubject),
      (["sub": "a\u{0}"], .badSubject), (["sub": "a\nb"], .badSubject),
      (["sub": "\u{7F}"], .badSubject),
      (["sub": "\u{85}"], .badSubject), (["sub": "李雷 👩‍💻"], nil), (["sub": " "], nil),
      (["jti": String(repeating: "j", count: 257)], .tooLarge), (["jti": 7], .malformed),
      (["scope": 7], .malformed), (["scope": ["device"]], .malformed),
      (["scope": "a\tb"], .badScope),
      (["scope": "a\"b"], .badScope), (["scope": "é"], .badScope),
      (["scope": String(repeating: "a ", count: 65)], .badScope),
    ]
    for (changes, code) in cases {
      let token = try Provider.token(ec, header: ["kid": "ec"], claims: Provider.claims(changes))
      #expect(await bench.failure(token) == code, "\(changes)")
    }
    for text in ["", "null", "[]", "{", "\"x\"", #"{"sub":"\ud800"}"#] {
      let token = try Provider.token(
        ec, header: Provider.json(["alg": "ES256", "kid": "ec"]), claims: Data(text.utf8) + [])
      #expect(await bench.failure(token) == .malformed, "\(text)")
    }
    let badUTF8 = Data(#"{"sub":""#.utf8) + [0xFF, 0xFE] + Data(#""}"#.utf8)
    let token = try Provider.token(
      ec, header: Provider.json(["alg": "ES256", "kid": "ec"]), claims: badUTF8)
    #expect(await bench.failure(token) == .malformed)
  }

  @Test func scopesAreThoseOfTheClaim() async throws {
    let bench = try await Bench([ec.jwk()]) {
      $0.deviceScopes = [.device, .init(rawValue: "openid")]
    }
    let cases: [(String?, Set<Scope>)] = [
      (nil, [.device]), ("", []), ("device", [.device]), ("vocabulary.upload", [.vocabularyUpload]),
      ("admin  vocabulary.upload ", [.admin, .vocabularyUpload]),
      ("Admin", [Scope(rawValue: "Admin")]), ("openid", [Scope(rawValue: "openid"), .device]),
    ]
    for (scope, expected) in cases {
      let token = try Provider.token(ec, claims: Provider.claims(["scope": scope]))
      #expect(try await bench.authenticate(token).scopes == expected, "\(scope ?? "nil")")
    }
  }

  @Test func failuresTellNothingOfTheToken() async throws {
    let bench = try await bench()
    let secret = "s3cret"
    let tokens = try [
      Provider.token(ec, header: ["kid": secret]), Provider.token(ec, header: ["typ": secret]),
      Provider.token(ec, header: ["alg": secret]), secret, "\(secret).\(secret).\(secret)",
      Provider.token(ec, header: ["kid": "ec"], claims: Provider.claims(["iss": secret])),
      Provider.token(ec, header: ["kid": "ec"], claims: Provider.claims(["sub": secret + "\n"])),
      Provider.token(ec, header: ["kid": "ec"], claims: Provider.claims(["exp": secret])),
    ]
    for token in tokens {
      do throws(AuthenticationFailure) {
        _ = try await bench.authenticate(token)
        Issue.record("accepted")
      } catch {
        #expect(error.httpStatus == 401)
        #expect(!"\(error)".contains(secret))
        let header = try #require(error.wwwAuthenticate)
        #expect(header.hasPrefix(#"Bearer realm="vocative", error="invalid_token""#))
        #expect(!header.contains(secret))
        #expect(header.filter { $0 == "\"" }.count == 6 && !header.contains("\\"))
        #expect(header.utf8.allSatisfy { (0x20...0x7E).contains($0) })
      }
    }
    do throws(AuthenticationFailure) {
      _ = try await bench.authenticator.authenticate(nil)
    } catch {
      #expect(error.wwwAuthenticate == #"Bearer realm="vocative""#)
    }
  }

  /// Replays with `VOCATIVE_TEST_SEED`.
  @Test func noMutationOfATokenIsAccepted() async throws {
    let seed =
      ProcessInfo.processInfo.environment["VOCATIVE_TEST_SEED"].flatMap(UInt64.init)
      ?? UInt64.random(in: 0 ... .max)
    var random = SplitMix64(state: seed)
    let bench = try await bench()
    let originals = try [(ec, "ec"), (ed, "ed"), (rsa, "rsa")].map { key, kid in
      Array(try Provider.token(key, header: ["kid": kid]).utf8)
    }
    let alphabet = Array(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ".utf8)
    for round in 0..<1500 {
      let original = originals[round % originals.count]
      var token = original
      for _ in 0...Int.random(in: 0..<3, using: &random) {
        let index = Int.random(in: 0..<token.count, using: &random)
        let character = alphabet.randomElement(using: &random)!
        switch Int.random(in: 0..<6, using: &random) {
        case 0: token[index] = character
        case 1: token.insert(character, at: index)
        case 2: token.remove(at: index)
        case 3: token[index] ^= 1 << UInt8.random(in: 0..<7, using: &random)
        case 4: token.swapAt(index, Int.random(in: 0..<token.count, using: &random))
        default: token.removeSubrange(index...)
        }
        if token.isEmpty { token = [character] }
      }
      if originals.contains(token) { continue }
      let text = String(decoding: token, as: UTF8.self)
      let accepted = await bench.failure(text) == nil
      // Spaces around a token are not part of it.
      let isSame = originals.contains(Array(text.utf8.drop { $0 == 0x20 }))
      #expect(!accepted || isSame, "seed \(seed), round \(round)")
    }
  }
}

/// A generator with a seed (Steele, Lea and Flood, OOPSLA 2014).
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
