import Foundation
import Synchronization
import TestSupport
import Testing
import VocativeModel

extension ProcessTests {
  /// SIGTERM: what is under way is finished, streams end with a hint, and the process is gone in time.
  struct ShutdownTests {
    @Test(.timeLimit(.minutes(1)))
    func aCleanStopFinishesWhatIsUnderWay() async throws {
      try await Deployment.run { deployment in
        let service = try await deployment.start(["--shutdown-deadline-seconds", "60"])
        try await APIClient.run(service, user: "ada") { ada in
          try await APIClient.run(service, user: "ada", over: .http1) { ada1 in
            let thread = "/v1/threads/\(lowercased(UUID()))"
            let body = #"{"kind":"message","participants":[]}"#
            #expect(try await ada.call(.PUT, thread, body).status == 201)
            let token = try await ada1.get("/v1/changes", as: ChangesPage.self).next

            // A send of which half has arrived.
            let send = #"{"kind":"text","text":"in two parts"}"#
            let half = send.utf8.count / 2
            let raw = try await RawConnection.open(service)
            await raw.send(
              "PUT \(thread)/entries/\(lowercased(UUID())) HTTP/1.1\r\nHost: localhost\r\n"
                + "Authorization: Bearer \(ada.token ?? "")\r\n"
                + "Content-Length: \(send.utf8.count)\r\n\r\n" + send.prefix(half))

            let started = Counter()
            async let stream = Self.lastEvent(ada, started)
            async let oldStream = Self.lastEvent(ada1, started)
            async let poll: Void = Self.expectEmptyPoll(ada, token, .http2)
            async let oldPoll: Void = Self.expectEmptyPoll(ada1, token, .http1)
            try await eventually { started.value == 2 }
            // The long-polls are followers, too.
            try await eventually { try await Self.followers(service) == 4 }

            let start = ContinuousClock.now
            Foundation.kill(service.processID, SIGTERM)
            for last in [await stream, await oldStream] { #expect(last?.type == "reconnect") }
            await poll
            await oldPoll
            await raw.send(String(send.dropFirst(half)))
            #expect(try await raw.answer().status == 201)
            #expect(try await service.ended() == 0)
            // Nothing here has to wait for the deadline.
            #expect(ContinuousClock.now - start < .seconds(20))
            #expect(service.log.contains("stopped"))
            await #expect(throws: (any Error).self) { try await ada.call(.GET, "/healthz") }
          }
        }
      }
    }

    /// The last event of a stream that the service is to end; nil where it broke.
    private static func lastEvent(_ client: APIClient, _ started: Counter) async -> ServerSentEvent?
    {
      var last: ServerSentEvent?
      do {
        try await client.events { event in
          if last == nil { started.increment() }
          last = event
          return true
        }
        return last
      } catch {
        Issue.record("a stream was broken off: \(error)")
        return nil
      }
    }

    /// A long-poll that the service is to answer early.
    private static func expectEmptyPoll(
      _ client: APIClient, _ token: String, _ version: APIClient.Version
    ) async {
      do {
        let answer = try await client.call(.GET, "/v1/changes?since=\(token)&wait=30")
        #expect(try answer.decode(ChangesPage.self).threads.isEmpty)
      } catch {
        Issue.record("a long-poll was broken off: \(error) over \(version)")
      }
    }

    private static func followers(_ service: RunningService) async throws -> Int {
      let metrics = try await Plain.get(service.adminURL + "/metrics")
      let line = metrics.text.split(separator: "\n").first { $0.hasPrefix("vocative_followers ") }
      return Int(Double(line?.split(separator: " ").last ?? "") ?? -1)
    }

    /// Hummingbird asks an HTTP/2 client with a PING whether it has seen the GOAWAY.
    @Test(.timeLimit(.minutes(1)))
    func clientsThatNeverAnswerAreNotWaitedFor() async throws {
      try await Deployment.run { deployment in
        let service = try await deployment.start(["--shutdown-deadline-seconds", "50"])
        let mute = try await RawConnection.open(service, alpn: "h2")
        await mute.send(
          Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0])
        // The service's own settings: the connection is there.
        try await eventually { !mute.received.isEmpty }
        let start = ContinuousClock.now
        Foundation.kill(service.processID, SIGTERM)
        #expect(try await service.ended() == 0)
        #expect(ContinuousClock.now - start < .seconds(30))
      }
    }

    @Test(.timeLimit(.minutes(1)))
    func clientsThatHoldOnAreCutOffAtTheDeadline() async throws {
      try await Deployment.run { deployment in
        let service = try await deployment.start(["--shutdown-deadline-seconds", "2"])
        let raw = try await RawConnection.open(service)
        await raw.send(
          "PUT /v1/threads/\(lowercased(UUID())) HTTP/1.1\r\nHost: localhost\r\n"
            + "Authorization: Bearer \(try await service.token("ada"))\r\n"
            + "Content-Length: 100\r\n\r\n{")
        // It has been read as far as it goes when the next connection has its answer.
        try await APIClient.run(service, user: "ada") { ada in
          let answer = try await ada.call(.GET, "/v1/changes")
          #expect(answer.status == 200)
        }
        let start = ContinuousClock.now
        Foundation.kill(service.processID, SIGTERM)
        _ = try await service.ended()
        #expect(ContinuousClock.now - start < .seconds(10))
        _ = try await raw.waitForClose(within: .seconds(5))
      }
    }
  }
}

private final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func increment() { count.withLock { $0 += 1 } }
}
