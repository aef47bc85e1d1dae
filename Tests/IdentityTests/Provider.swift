import Crypto
import CryptoExtras
import Foundation
import JWTKit
import Logging
import Synchronization

@testable import Identity

/// An identity provider for tests, which signs anything.
struct Provider {
  enum Key {
    case es256(P256.Signing.PrivateKey)
    case edDSA(Curve25519.Signing.PrivateKey)
    case rs256(_RSA.Signing.PrivateKey)

    static let rsa = try! _RSA.Signing.PrivateKey(keySize: .bits2048)

    var algorithm: String {
      switch self {
      case .es256: "ES256"
      case .edDSA: "EdDSA"
      case .rs256: "RS256"
      }
    }

    func sign(_ text: String) throws -> [UInt8] {
      let message = Data(text.utf8)
      return switch self {
      case .es256(let key): Array(try key.signature(for: message).rawRepresentation)
      case .edDSA(let key): Array(try key.signature(for: message))
      case .rs256(let key):
        Array(try key.signature(for: message, padding: .insecurePKCS1v1_5).rawRepresentation)
      }
    }

    /// The members of its JWK that are the key itself.
    var members: [String: Any] {
      switch self {
      case .es256(let key):
        let point = key.publicKey.rawRepresentation
        return [
          "kty": "EC", "crv": "P-256", "x": Base64URL.encode(point.prefix(32)),
          "y": Base64URL.encode(point.suffix(32)),
        ]
      case .edDSA(let key):
        return [
          "kty": "OKP", "crv": "Ed25519", "x": Base64URL.encode(key.publicKey.rawRepresentation),
        ]
      case .rs256(let key):
        let numbers = try! key.publicKey.getKeyPrimitives()
        return [
          "kty": "RSA", "n": Base64URL.encode(numbers.modulus),
          "e": Base64URL.encode(numbers.publicExponent),
        ]
      }
    }

    func jwk(_ more: [String: Any] = [:]) -> [String: Any] { members.merging(more) { $1 } }
  }

  static let time = Date(timeIntervalSince1970: 1_800_000_000)
  static let issuer = "https://id.example"

  static func claims(_ changes: [String: Any?] = [:]) -> [String: Any] {
    var claims: [String: Any] = [
      "sub": "alice", "iss": issuer, "aud": "vocative",
      "exp": Int(time.timeIntervalSince1970) + 600,
    ]
    for (name, value) in changes { claims[name] = value }
    return claims
  }

  /// A token with this header (`alg` is added unless given) and these claims.
  static func token(
    _ key: Key, header: [String: Any] = [:], claims: [String: Any] = Provider.claims()
  ) throws -> String {
    let header = ["alg": key.algorithm as Any].merging(header) { $1 }
    return try token(key, header: json(header), claims: json(claims))
  }

  static func token(_ key: Key, header: Data, claims: Data) throws -> String {
    let text = "\(Base64URL.encode(header)).\(Base64URL.encode(claims))"
    return "\(text).\(Base64URL.encode(try key.sign(text)))"
  }

  static func json(_ value: [String: Any]) -> Data {
    try! JSONSerialization.data(withJSONObject: value)
  }

  static func jwks(_ keys: [[String: Any]]) -> Data { json(["keys": keys]) }
}

/// A clock that tests turn.
final class TestClock: Sendable {
  private let time = Mutex(Provider.time)
  @Sendable func now() -> Date { time.withLock { $0 } }
  func advance(by seconds: Double) { time.withLock { $0 += seconds } }
}

/// A directory that is removed with its owner.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/vocative-identity-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ data: Data, to name: String) throws {
    try data.write(to: URL(fileURLWithPath: file(name)), options: .atomic)
  }
}

/// An authenticator over a JWKS file of its own.
struct Bench {
  let directory: TemporaryDirectory
  let source: JWKSSource
  let authenticator: Authenticator
  let clock = TestClock()

  init(
    _ keys: [[String: Any]],
    configure: (inout Authenticator.Configuration) -> Void = { _ in }
  ) async throws {
    directory = try TemporaryDirectory()
    try directory.write(Provider.jwks(keys), to: "jwks.json")
    var options = JWKSSource.Options()
    options.unknownKeyFileSpacing = .zero
    source = JWKSSource(
      .file(directory.file("jwks.json")), options: options,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: clock.now)
    var configuration = Authenticator.Configuration(
      issuer: Provider.issuer, audiences: ["vocative"])
    configure(&configuration)
    authenticator = Authenticator(configuration, keys: source, now: clock.now)
    try await source.refresh()
  }

  func authenticate(_ token: String) async throws(AuthenticationFailure) -> Principal {
    try await authenticator.authenticate("Bearer \(token)")
  }

  /// The code of the failure, or nil when the token is accepted.
  func failure(_ token: String) async -> AuthenticationFailure.Code? {
    await failure(header: "Bearer \(token)")
  }

  func failure(header: String?) async -> AuthenticationFailure.Code? {
    do throws(AuthenticationFailure) {
      _ = try await authenticator.authenticate(header)
      return nil
    } catch {
      return error.code
    }
  }
}
