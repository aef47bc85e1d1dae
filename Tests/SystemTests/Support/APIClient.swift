import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import VocativeModel

/// Calls a running service as one user.
struct APIClient: Sendable {
  struct Answer: Sendable {
    var status: Int
    var version: HTTPVersion
    var headers: HTTPHeaders
    var body: Data

    /// The body as JSON; nil where it is none.
    var json: [String: Any]? {
      (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      guard status < 300 else { throw UnexpectedStatus(status: status, code: problem) }
      return try JSONDecoder().decode(type, from: body)
    }

    /// The code of a problem (RFC 9457).
    var problem: String? { json?["code"] as? String }
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  enum Version { case http1, http2 }

  let http: HTTPClient
  let baseURL: String
  let token: String?

  /// A client of connections of its own, for as long as `body` takes.
  static func run<Result>(
    _ service: RunningService, user: String?, over version: Version = .http2,
    _ body: (APIClient) async throws -> Result
  ) async throws -> Result {
    let token: String? = if let user { try await service.token(user) } else { nil }
    return try await run(service.baseURL, caFile: service.caFile, token: token, over: version, body)
  }

  static func run<Result>(
    _ baseURL: String, caFile: String, token: String?, over version: Version = .http2,
    _ body: (APIClient) async throws -> Result
  ) async throws -> Result {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(caFile)
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    configuration.timeout = .init(connect: .seconds(10), read: .seconds(60))
    configuration.httpVersion = version == .http1 ? .http1Only : .automatic
    let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    do {
      let result = try await body(APIClient(http: http, baseURL: baseURL, token: token))
      try await http.shutdown()
      return result
    } catch {
      try? await http.shutdown()
      throw error
    }
  }

  /// The same connections, speaking for somebody else.
  func speaking(_ token: String?) -> APIClient {
    APIClient(http: http, baseURL: baseURL, token: token)
  }

  /// The same user at another replica.
  func at(_ baseURL: String) -> APIClient {
    APIClient(http: http, baseURL: baseURL, token: token)
  }

  func call(
    _ method: HTTPMethod, _ path: String, _ body: String? = nil, headers: [(String, String)] = []
  ) async throws -> Answer {
    try await call(method, path, bytes: body.map { Data($0.utf8) }, headers: headers)
  }

  func call(
    _ method: HTTPMethod, _ path: String, bytes: Data?, headers: [(String, String)] = [],
    timeout: TimeAmount = .seconds(60)
  ) async throws -> Answer {
    var request = HTTPClientRequest(url: baseURL + path)
    request.method = method
    if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
    if let bytes {
      request.body = .bytes(ByteBuffer(bytes: bytes))
      request.headers.add(name: "Content-Type", value: "application/json")
    }
    for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
    let response = try await http.execute(request, timeout: timeout)
    let collected = try await response.body.collect(upTo: 64 << 20)
    return Answer(
      status: Int(response.status.code), version: response.version, headers: response.headers,
      body: Data(collected.readableBytesView))
  }

  /// Calls, and decodes what a success answers.
  func get<Value: Decodable>(_ path: String, as type: Value.Type) async throws -> Value {
    try await call(.GET, path).decode(type)
  }

  /// Follows the feed by Server-Sent Events until `handle` returns false or the stream ends.
  func events(
    after token: String? = nil, _ handle: (ServerSentEvent) async throws -> Bool
  ) async throws {
    var request = HTTPClientRequest(url: baseURL + "/v1/events")
    request.headers.add(name: "Authorization", value: "Bearer \(self.token ?? "")")
    if let token { request.headers.add(name: "Last-Event-ID", value: token) }
    let response = try await http.execute(request, timeout: .hours(1))
    guard response.status == .ok else {
      throw UnexpectedStatus(status: Int(response.status.code), code: nil)
    }
    var parser = ServerSentEvent.Parser()
    for try await chunk in response.body {
      for event in parser.feed(chunk.readableBytesView) {
        guard try await handle(event) else { return }
      }
    }
  }
}

struct UnexpectedStatus: Error {
  let status: Int
  let code: String?
}
