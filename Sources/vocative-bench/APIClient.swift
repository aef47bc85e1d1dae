import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL

/// Calls the service over HTTP/1.1 and TLS, for what no load generator measures.
struct APIClient: Sendable {
  /// What the benchmarks read of a page of changes.
  struct Page: Decodable {
    struct Thread: Decodable {
      struct Entry: Decodable {}
      var id: String
      var entries: [Entry]
      var entriesFrom: Int64
    }
    var threads: [Thread]
    var next: String
    var hasMore: Bool
    var bytes = 0

    private enum CodingKeys: String, CodingKey { case threads, next, hasMore }
  }

  private let http: HTTPClient
  private let baseURL: String

  /// A client with connections of its own, for as long as `body` takes.
  static func run<Result>(
    _ service: ServiceProcess, _ body: (APIClient) async throws -> Result
  ) async throws -> Result {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(service.caFile)
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    configuration.httpVersion = .http1Only
    let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    do {
      let result = try await body(APIClient(http: http, baseURL: service.baseURL))
      try await http.shutdown()
      return result
    } catch {
      try? await http.shutdown()
      throw error
    }
  }

  func get(_ path: String, token: String) async throws -> Data {
    try await call("GET", path, token: token, body: nil)
  }

  func page(_ path: String, token: String) async throws -> Page {
    let body = try await get(path, token: token)
    var page = try JSONDecoder().decode(Page.self, from: body)
    page.bytes = body.count
    return page
  }

  func send(_ id: String, to thread: String, token: String, _ text: String) async throws {
    _ = try await call(
      "PUT", "/v1/threads/\(thread)/entries/\(id)", token: token,
      body: #"{"kind":"text","text":"\#(text)"}"#)
  }

  /// - Throws: where the answer is no success.
  func call(
    _ method: String, _ path: String, token: String, body: String?
  ) async throws -> Data {
    var request = HTTPClientRequest(url: baseURL + path)
    request.method = .init(rawValue: method)
    request.headers.add(name: "Authorization", value: "Bearer \(token)")
    if let body {
      request.headers.add(name: "Content-Type", value: "application/json")
      request.body = .bytes(ByteBuffer(string: body))
    }
    let response = try await http.execute(request, timeout: .seconds(30))
    let data = Data(try await response.body.collect(upTo: 64 << 20).readableBytesView)
    guard (200..<300).contains(response.status.code) else {
      throw BenchmarkError("\(method) \(path): \(response.status)")
    }
    return data
  }

  /// The events of a user's stream from now on, each as its whole text.
  func events(token: String) async throws -> AsyncThrowingStream<String, any Error> {
    var request = HTTPClientRequest(url: baseURL + "/v1/events")
    request.headers.add(name: "Authorization", value: "Bearer \(token)")
    let response = try await http.execute(request, timeout: .hours(1))
    guard response.status == .ok else { throw BenchmarkError("events: \(response.status)") }
    let (events, found) = AsyncThrowingStream<String, any Error>.makeStream()
    let reader = Task {
      do {
        var text = ""
        for try await chunk in response.body {
          text += String(buffer: chunk)
          while let end = text.firstRange(of: "\n\n") {
            let event = String(text[..<end.lowerBound])
            text = String(text[end.upperBound...])
            if event.hasPrefix("event: changes") { found.yield(event) }
          }
        }
        found.finish()
      } catch {
        found.finish(throwing: error)
      }
    }
    found.onTermination = { _ in reader.cancel() }
    return events
  }
}
