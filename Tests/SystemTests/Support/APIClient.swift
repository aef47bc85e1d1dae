import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL
import VocativeModel

/// Calls a running service as one user.
struct APIClient: Sendable {
  struct Answer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: Data

    /// The body as JSON; nil where it is none.
    var json: [String: Any]? {
      (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try JSONDecoder().decode(type, from: body)
    }

    /// The code of a problem (RFC 9457).
    var problem: String? { json?["code"] as? String }
  }

  let http: HTTPClient
  let baseURL: String
  let token: String?

  /// A client of connections of its own; shut down by `run`.
  static func run<Result>(
    _ service: RunningService, user: String?, _ body: (APIClient) async throws -> Result
  ) async throws -> Result {
    let token: String? = if let user { try await service.token(user) } else { nil }
    return try await run(service.baseURL, caFile: service.caFile, token: token, body)
  }

  static func run<Result>(
    _ baseURL: String, caFile: String, token: String?,
    _ body: (APIClient) async throws -> Result
  ) async throws -> Result {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(caFile)
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    configuration.timeout = .init(connect: .seconds(10), read: .seconds(60))
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

  func call(
    _ method: HTTPMethod, _ path: String, _ body: String? = nil, headers: [(String, String)] = []
  ) async throws -> Answer {
    try await call(method, path, bytes: body.map { Data($0.utf8) }, headers: headers)
  }

  func call(
    _ method: HTTPMethod, _ path: String, bytes: Data?, headers: [(String, String)] = []
  ) async throws -> Answer {
    var request = HTTPClientRequest(url: baseURL + path)
    request.method = method
    if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
    if let bytes {
      request.body = .bytes(ByteBuffer(data: bytes))
      request.headers.add(name: "Content-Type", value: "application/json")
    }
    for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
    let response = try await http.execute(request, timeout: .seconds(60))
    let collected = try await response.body.collect(upTo: 64 << 20)
    return Answer(
      status: Int(response.status.code), headers: response.headers, body: Data(buffer: collected))
  }

  /// Follows the feed by Server-Sent Events until `handle` returns false or the stream ends.
  func events(
    after token: String? = nil, _ handle: (ServerSentEvent) async throws -> Bool
  ) async throws {
    var request = HTTPClientRequest(url: baseURL + "/v1/events")
    request.headers.add(name: "Authorization", value: "Bearer \(self.token ?? "")")
    if let token { request.headers.add(name: "Last-Event-ID", value: token) }
    let response = try await http.execute(request, timeout: .hours(1))
    guard response.status == .ok else { throw UnexpectedStatus(status: response.status.code) }
    var parser = ServerSentEvent.Parser()
    for try await chunk in response.body {
      for event in parser.feed(chunk.readableBytesView) {
        guard try await handle(event) else { return }
      }
    }
  }
}

struct UnexpectedStatus: Error { let status: UInt }

/// An event as the WHATWG HTML standard (section 9.2.6) dispatches it.
struct ServerSentEvent: Sendable {
  var type: String
  var id: String?
  var data: String

  struct Parser {
    private var line: [UInt8] = []
    private var type = "message"
    private var id: String?
    private var data: [String] = []

    mutating func feed(_ bytes: some Sequence<UInt8>) -> [ServerSentEvent] {
      var events: [ServerSentEvent] = []
      for byte in bytes {
        guard byte == UInt8(ascii: "\n") else {
          line.append(byte)
          continue
        }
        let text = String(decoding: line, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        if text.isEmpty {
          if !data.isEmpty {
            events.append(
              ServerSentEvent(type: type, id: id, data: data.joined(separator: "\n")))
          }
          type = "message"
          data = []
        } else if let colon = text.firstIndex(of: ":"), colon != text.startIndex {
          var value = text[text.index(after: colon)...]
          if value.first == " " { value.removeFirst() }
          switch text[..<colon] {
          case "event": type = String(value)
          case "id": id = String(value)
          case "data": data.append(String(value))
          default: break
          }
        }
      }
      return events
    }
  }
}
