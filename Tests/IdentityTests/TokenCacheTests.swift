import Crypto
import Foundation
import Testing

@testable import Identity

@Suite struct TokenCacheTests {
  private let key = Provider.Key.es256(.init())
  private let other = Provider.Key.edDSA(.init())

  private func bench(capacity: Int = 100) async throws -> Bench {
    try await Bench([key.jwk(["kid": "a"]), other.jwk(["kid": "b"])]) {
      $0.cacheCapacity = capacity
    }
  }

  @Test func aVerifiedTokenIsRemembered() async throws {
    let bench = try await bench()
    let header = "Bearer " + (try Provider.token(key, header: ["kid": "a"]))
    #expect(bench.authenticator.cached(header) == nil)
    let principal = try await bench.authenticator.authenticate(header)
    #expect(bench.authenticator.cached(header) == principal)
    #expect(bench.authenticator.cached(header.replacing("Bearer ", with: "bearer  ")) == principal)
    #expect(bench.authenticator.cachedTokens == 1)
    for bad in [nil, "", "Bearer ", header + "A", String(header.dropLast())] as [String?] {
      #expect(bench.authenticator.cached(bad) == nil)
    }
  }

  @Test func failuresAreNotRemembered() async throws {
    let bench = try await bench()
    let token = try Provider.token(.es256(.init()), header: ["kid": "a"])
    #expect(await bench.failure(token) == .badSignature)
    #expect(await bench.failure(token) == .badSignature)
    #expect(bench.authenticator.cachedTokens == 0)
  }

  @Test func entriesEndWithTheirToken() async throws {
    let bench = try await bench()
    let token = try Provider.token(key, header: ["kid": "a"])
    _ = try await bench.authenticate(token)
    bench.clock.advance(by: 659)
    #expect(bench.authenticator.cached("Bearer \(token)") != nil)
    #expect(await bench.failure(token) == nil)
    bench.clock.advance(by: 1)
    #expect(bench.authenticator.cached("Bearer \(token)") == nil)
    #expect(await bench.failure(token) == .expired)
    #expect(bench.authenticator.cachedTokens == 0)
  }

  @Test func entriesEndWithTheirKey() async throws {
    let bench = try await bench()
    let mine = try Provider.token(key, header: ["kid": "a"])
    let theirs = try Provider.token(other, header: ["kid": "b"])
    _ = try await bench.authenticate(mine)
    _ = try await bench.authenticate(theirs)
    // Another key under the same name is another key.
    try bench.directory.write(
      Provider.jwks([Provider.Key.es256(.init()).jwk(["kid": "a"]), other.jwk(["kid": "b"])]),
      to: "jwks.json")
    try await bench.source.refresh()
    #expect(bench.authenticator.cached("Bearer \(mine)") == nil)
    #expect(bench.authenticator.cached("Bearer \(theirs)") != nil)
    #expect(await bench.failure(mine) == .badSignature)
    #expect(await bench.failure(theirs) == nil)
  }

  @Test func theNumberOfEntriesIsBounded() async throws {
    let bench = try await bench(capacity: 10)
    let hot = try Provider.token(other, header: ["kid": "b"])
    _ = try await bench.authenticate(hot)
    for number in 0..<40 {
      let token = try Provider.token(
        other, header: ["kid": "b"], claims: Provider.claims(["sub": "user\(number)"]))
      _ = try await bench.authenticate(token)
      #expect(bench.authenticator.cachedTokens <= 10)
      // What is asked for all the time stays.
      #expect(bench.authenticator.cached("Bearer \(hot)") != nil)
    }
    let off = try await self.bench(capacity: 0)
    _ = try await off.authenticate(hot)
    #expect(off.authenticator.cachedTokens == 0)
  }

  @Test func manyCanAskAtOnce() async throws {
    let bench = try await bench(capacity: 16)
    let tokens = try (0..<32).map { number in
      try Provider.token(
        other, header: ["kid": "b"], claims: Provider.claims(["sub": "user\(number)"]))
    }
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<100 {
            let number = (round * 7 + task) % tokens.count
            let principal = try? await bench.authenticate(tokens[number])
            #expect(principal?.userID == "user\(number)")
          }
        }
      }
    }
  }
}
