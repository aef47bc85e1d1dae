import Foundation
import NIOCore
import TestSupport
import Testing

/// What only bytes on the wire can do wrong, over HTTP/1.1; and clients that stall.
struct BadConnectionTests {
  @Test(.timeLimit(.minutes(2)))
  func brokenHTTPIsRefused() async throws {
    try await Deployment.serving(["--log-level", "trace"]) { deployment, service in
      try await APIClient.run(service, user: "ada", over: .http1) { ada in
        let target = Target()
        try await target.make(ada, ada.speaking(try await service.token("jon")))
        let before = try await deployment.dump()
        let authorization = "Authorization: Bearer \(try await service.token("ada"))\r\n"
        func head(_ headers: String, method: String = "PUT", path: String? = nil) -> String {
          "\(method) \(path ?? target.newEntry) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n"
        }
        let body = #"{"kind":"text","text":"\#(BadRequest.canary)"}"#
        let cases: [(name: String, bytes: String, status: Int, code: String?)] = [
          (
            "a long body announced", head(authorization + "Content-Length: 1048577\r\n"), 413,
            "body-too-large"
          ),
          (
            "a body beyond all numbers",
            head(authorization + "Content-Length: 99999999999999999999\r\n"), 400, nil
          ),
          (
            "a negative length", head(authorization + "Content-Length: -1\r\n"), 400, nil
          ),
          (
            "two lengths",
            head(authorization + "Content-Length: 5\r\nContent-Length: 6\r\n") + "{}", 400, nil
          ),
          (
            "two Authorization headers",
            head(authorization + authorization + "Content-Length: \(body.utf8.count)\r\n") + body,
            400, "bad-request"
          ),
          (
            "a header of 20 KiB",
            head(authorization + "X-Bomb: \(String(repeating: "b", count: 20_480))\r\n"), 400, nil
          ),
          (
            "500 headers",
            head(authorization + (0..<500).map { "X-\($0): y\r\n" }.joined()), 400, nil
          ),
          ("no HTTP", "\u{16}\u{3}\u{1}\r\n\r\n", 400, nil),
          ("a space in a header's name", head(authorization + "X y: z\r\n"), 400, nil),
          ("HTTP/3.0", "GET /healthz HTTP/3.0\r\nHost: localhost\r\n\r\n", 400, nil),
        ]
        for (name, bytes, status, code) in cases {
          let connection = try await RawConnection.open(service)
          await connection.send(bytes)
          do {
            let answer = try await connection.answer()
            #expect(answer.status == status, "\(name): \(answer)")
            if let code {
              #expect(answer.json?["code"] as? String == code, "\(name): \(answer)")
              #expect(answer.headers["content-type"] == "application/problem+json", "\(name)")
            }
            #expect(!answer.body.contains(BadRequest.canary))
          } catch {
            Issue.record("\(name): \(error)")
          }
          await connection.close()
        }
        try await Self.sendEndlessBody(
          service, head(authorization + "Transfer-Encoding: chunked\r\n"))
        try await Self.cutOff(
          service, head(authorization + "Content-Length: \(body.utf8.count + 50)\r\n") + body)
        #expect(try await deployment.dump() == before)
        #expect(!service.log.contains(BadRequest.canary))
        #expect(try await ada.call(.GET, target.threadPath).status == 200)
      }
    }
  }

  /// A body without an announced length is cut off at the limit, not collected.
  private static func sendEndlessBody(_ service: RunningService, _ head: String) async throws {
    let connection = try await RawConnection.open(service)
    await connection.send(head)
    let chunk = "10000\r\n" + String(repeating: " ", count: 65_536) + "\r\n"
    for _ in 0..<17 { await connection.send(chunk) }
    let answer = try await connection.answer()
    #expect(answer.status == 413 && answer.json?["code"] as? String == "body-too-large")
    await connection.close()
  }

  /// A connection that ends within a body: the request was never whole.
  private static func cutOff(_ service: RunningService, _ bytes: String) async throws {
    for _ in 0..<5 {
      let connection = try await RawConnection.open(service)
      await connection.send(bytes)
      await connection.close()
    }
  }

  /// Each part comes in time, the whole does not.
  @Test(.timeLimit(.minutes(1)))
  func aBodyHasOnlySoMuchTime() async throws {
    try await Deployment.run { deployment in
      let service = try await deployment.start(["--limits-body-seconds", "1"])
      let connection = try await RawConnection.open(service)
      await connection.send(
        "PUT \(Target().newThread) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n"
          + "Authorization: Bearer \(try await service.token("ada"))\r\n\r\n{")
      try await eventually {
        await connection.send(" ")
        return connection.received.contains("\r\n\r\n{")
      }
      let answer = try await connection.answer()
      #expect(answer.status == 408)
      #expect(answer.body.contains("request-timeout"))
    }
  }

  @Test(.timeLimit(.minutes(3)))
  func stalledClientsAreCutOffAndHoldNobodyUp() async throws {
    try await Deployment.serving { _, service in
      try await APIClient.run(service, user: "ada") { ada in
        var silent: [RawConnection] = []
        for index in 0..<60 {
          let connection = try await RawConnection.open(service, tls: false)
          // The beginning of a ClientHello, for every other one.
          if index % 2 == 0 { await connection.send([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]) }
          silent.append(connection)
        }
        let stalled = try await RawConnection.open(service)
        await stalled.send("GET /v1/changes HTTP/1.1\r\nHost: localhost\r\nX-Half: ")
        let halfBody = try await RawConnection.open(service)
        await halfBody.send(
          "PUT \(Target().newThread) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40\r\n"
            + "Authorization: Bearer \(try await service.token("ada"))\r\n\r\n{\"kind\":")

        var slowest = Duration.zero
        for _ in 0..<50 {
          let start = ContinuousClock.now
          #expect(try await ada.call(.GET, "/v1/changes").status == 200)
          slowest = max(slowest, ContinuousClock.now - start)
        }
        #expect(slowest < .seconds(2))
        // A handshake may take 10 s, a request without a new part 60 s.
        for connection in silent {
          _ = try await connection.waitForClose(within: .seconds(15))
        }
        _ = try await stalled.waitForClose(within: .seconds(75))
        _ = try await halfBody.waitForClose(within: .seconds(75))
        #expect(try await ada.call(.GET, "/v1/changes").status == 200)
      }
    }
  }
}
