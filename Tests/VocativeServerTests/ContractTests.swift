import Crypto
import Foundation
import Identity
import Logging
import Postgres
import PostgresWire
import Testing
import VocativeModel
import VocativeStorage

@testable import VocativeServer

/// A database that is never there.
private struct NoDatabase: Database {
  static let failure = PostgresError(.connectionLost)
  func query(_: Statement, _: Parameters) async throws(PostgresError) -> Rows {
    throw Self.failure
  }
  func transaction(_: [(Statement, Parameters)]) async throws(PostgresError) -> [Rows] {
    throw Self.failure
  }
  func withTransaction<Result: Sendable>(
    _: @Sendable (PostgresConnection) async throws -> Result
  ) async throws -> Result { throw Self.failure }
}

/// The document that is served against the routes that are there.
@Suite struct ContractTests {
  private static var parts: ServiceParts {
    let keys = JWKSSource(
      .file("/nonexistent"), logger: Logger(label: "test"), now: { Date() })
    return ServiceParts(
      storage: Storage(database: NoDatabase(), makeID: { UUID() }),
      authenticator: Authenticator(
        Authenticator.Configuration(issuer: "i", audiences: ["a"]), keys: keys, now: { Date() }),
      tokenKey: SymmetricKey(size: .bits256), limits: Limits(),
      readiness: { Readiness(parts: []) }, demo: nil, sendsHSTS: false, now: { Date() },
      random: { 1 })
  }

  @Test func aWrongMethodIsToldApartFromAWrongAddress() {
    let table = MethodTable(API.routes(Self.parts))
    #expect(table.allowed(at: "/v1/changes") == "GET")
    #expect(table.allowed(at: "/v1/threads/x/entries/y") == "DELETE, PATCH, PUT")
    #expect(table.allowed(at: "/v1/nothing") == nil)
  }

  @Test func theOpenAPIDocumentNamesExactlyTheRoutes() throws {
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(Resource.openAPI.utf8)) as? [String: Any])
    #expect(document["openapi"] as? String == "3.1.0")
    let paths = try #require(document["paths"] as? [String: [String: Any]])
    let methods: Set<String> = ["get", "put", "post", "patch", "delete"]
    var documented: Set<String> = []
    for (path, item) in paths {
      for method in item.keys where methods.contains(method) {
        documented.insert("\(method.uppercased()) \(path)")
      }
    }
    let routes = API.routes(Self.parts).map { "\($0.method) \($0.path)" }
    #expect(documented == Set(routes))
  }
}
