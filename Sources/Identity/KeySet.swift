import FoundationEssentials

/// The usable keys of one JWKS document (RFC 7517, section 5).
///
/// Two keys may share a `kid` when their algorithms differ; of those that share both, the first
/// counts and the others are skipped.
struct KeySet: Sendable {
  /// Most keys that a document may have.
  static let maximumKeys = 128

  let keys: [VerificationKey]
  /// Why the other keys of the document are not here.
  let skipped: [UnusableKey]
  private let byName: [Name: Int]
  private let identities: Set<VerificationKey.Identity>

  private struct Name: Hashable {
    var kid: String
    var algorithm: SignatureAlgorithm
  }

  /// Parses a JWKS document, and leaves out the keys that cannot be used.
  /// - Throws: ``JWKSError`` when it is not a JWKS, has too many keys or none that is usable.
  init(parsing document: [UInt8]) async throws(JWKSError) {
    let members: [LenientJWK]
    do {
      members = try JSONDecoder().decode(Document.self, from: Data(document)).keys
    } catch {
      throw JWKSError("the document is not a JSON Web Key Set")
    }
    guard members.count <= Self.maximumKeys else {
      throw JWKSError("the set has \(members.count) keys; at most \(Self.maximumKeys) are allowed")
    }
    var keys: [VerificationKey] = []
    var skipped: [UnusableKey] = []
    var byName: [Name: Int] = [:]
    var identities: Set<VerificationKey.Identity> = []
    for member in members {
      do throws(UnusableKey) {
        let key = try await VerificationKey(try member.jwk.get())
        guard identities.insert(key.identity).inserted else { continue }
        if let kid = key.kid {
          let name = Name(kid: kid, algorithm: key.algorithm)
          guard byName[name] == nil else {
            identities.remove(key.identity)
            throw UnusableKey(
              kid: kid, description: "an earlier key has the same kid and algorithm")
          }
          byName[name] = keys.count
        }
        keys.append(key)
      } catch {
        skipped.append(error)
      }
    }
    guard !keys.isEmpty else {
      let reasons = Set(skipped.map(\.description)).sorted().joined(separator: "; ")
      throw JWKSError(members.isEmpty ? "the set is empty" : "no key is usable: \(reasons)")
    }
    (self.keys, self.skipped, self.byName, self.identities) = (keys, skipped, byName, identities)
  }

  /// What ``key(kid:algorithm:)`` found.
  enum Match {
    case key(VerificationKey)
    /// A key of this name exists, for another algorithm.
    case otherAlgorithm
    case none
  }

  /// The key that a token with this header has to be signed with. Without a `kid` it is the only
  /// key of the algorithm; where there are several, none is taken, rather than to try them all.
  func key(kid: String?, algorithm: SignatureAlgorithm) -> Match {
    if let kid {
      if let index = byName[Name(kid: kid, algorithm: algorithm)] { return .key(keys[index]) }
      return keys.contains { $0.kid == kid } ? .otherAlgorithm : .none
    }
    let fitting = keys.filter { $0.algorithm == algorithm }
    return fitting.count == 1 ? .key(fitting[0]) : .none
  }

  /// Whether the set still has this very key.
  func contains(_ identity: VerificationKey.Identity) -> Bool { identities.contains(identity) }

  /// Whether both sets verify the same tokens.
  func hasSameKeys(as other: KeySet) -> Bool { identities == other.identities }
}

/// Why a JWKS could not be loaded. Names no key material.
public struct JWKSError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One sentence on what is wrong.
  public var description: String

  init(_ description: String) { self.description = description }
}

private struct Document: Decodable {
  var keys: [LenientJWK]
}

/// A member of a set that is of a kind unknown to us does not make the rest unusable.
private struct LenientJWK: Decodable {
  var jwk: Result<PublicJWK, UnusableKey>

  private enum CodingKeys: CodingKey { case kid }

  init(from decoder: any Decoder) throws {
    do {
      jwk = .success(try PublicJWK(from: decoder))
    } catch {
      let kid = try? decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .kid)
      jwk = .failure(UnusableKey(kid: kid, description: "it is not a JSON Web Key"))
    }
  }
}
