import AsyncHTTPClient
import Foundation
import NIOCore

/// Calls without TLS: the admin port.
enum Plain {
  struct Answer: Sendable {
    var status: Int
    var contentType: String
    var text: String

    var json: [String: Any]? {
      (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any]
    }
  }

  static func get(_ url: String) async throws -> Answer {
    let response = try await HTTPClient.shared.execute(
      HTTPClientRequest(url: url), timeout: .seconds(10))
    let body = try await response.body.collect(upTo: 1 << 22)
    return Answer(
      status: Int(response.status.code), contentType: response.headers["content-type"].first ?? "",
      text: String(buffer: body))
  }
}
