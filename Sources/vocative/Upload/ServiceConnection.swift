import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL

/// Where the service is, and for whom a command speaks.
struct ServiceOptions: ParsableArguments {
  @Option(help: "The service's address.")
  var url = "https://127.0.0.1:8443"

  @Option(
    name: .customLong("ca-file"),
    help: "PEM file with the authority of the service's certificate; the system's by default.")
  var authority: String?

  @Option(
    help: "File with the bearer token. Never on the command line, where others could read it.")
  var tokenFile: String?

  /// A connection to the service, for as long as `body` takes.
  func connect<Result>(
    _ body: (ServiceConnection) async throws -> Result
  ) async throws -> Result {
    guard let address = URL(string: url), address.scheme == "https" || Self.isLoopback(address)
    else { throw ValidationError("--url must be https, or http on this machine") }
    guard let tokenFile else { throw ValidationError("--token-file is missing") }
    guard let text = try? String(contentsOfFile: tokenFile, encoding: .utf8) else {
      throw UploadFailure(.noInput, "the token file \(tokenFile) cannot be read")
    }
    var tls = TLSConfiguration.makeClientConfiguration()
    if let authority {
      guard FileManager.default.isReadableFile(atPath: authority) else {
        throw UploadFailure(.noInput, "the authority \(authority) cannot be read")
      }
      tls.trustRoots = .file(authority)
    }
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    configuration.timeout = .init(connect: .seconds(10), read: .seconds(60))
    // Over HTTP/2, async-http-client 1.37 ends the process when a response is over before the
    // request's body is: as with a job that the service refuses or stops.
    configuration.httpVersion = .http1Only
    // Whoever calls tries again, and tells of it.
    configuration.connectionPool.retryConnectionEstablishment = false
    let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    let connection = ServiceConnection(
      http: http, base: url.hasSuffix("/") ? String(url.dropLast()) : url,
      token: text.trimmingCharacters(in: .whitespacesAndNewlines))
    do {
      let result = try await body(connection)
      try await http.shutdown()
      return result
    } catch {
      try? await http.shutdown()
      throw error
    }
  }

  private static func isLoopback(_ address: URL) -> Bool {
    address.scheme == "http" && ["127.0.0.1", "localhost", "::1"].contains(address.host() ?? "")
  }
}

/// Calls of the service.
struct ServiceConnection: Sendable {
  let http: HTTPClient
  let base: String
  let token: String

  func request(_ method: String, _ path: String) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: base + path)
    request.method = .init(rawValue: method)
    request.headers.add(name: "Authorization", value: "Bearer \(token)")
    request.headers.add(name: "User-Agent", value: "vocative")
    return request
  }

  /// Gets an answer in JSON.
  func get<Answer: Decodable>(_ path: String, as type: Answer.Type) async throws -> Answer {
    let response = try await http.execute(request("GET", path), timeout: .seconds(60))
    let body = Data(try await response.body.collect(upTo: 1 << 26).readableBytesView)
    guard response.status == .ok else { throw UploadFailure(status: response.status.code, body) }
    return try JSONDecoder().decode(type, from: body)
  }
}
