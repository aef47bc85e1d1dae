import EmbeddedPostgres
import Foundation
import Logging
import TestSupport
import Testing

extension ProcessTests {
  /// What operators and their tools see of a service.
  struct OperationsTests {
    @Test(.timeLimit(.minutes(1)))
    func readinessFollowsTheDatabase() async throws {
      var configuration = EmbeddedPostgres.Configuration(
        directory: try Scratch.directory() + "/database")
      configuration.durability = .ephemeral
      let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      let database = try await EmbeddedPostgres.start(configuration, logger: logger)
      do {
        try await database.createDatabase("vocative")
        let conninfo = database.conninfo(database: "vocative")
        let directory = try Scratch.directory()
        let migrated = try await Binary.run(
          ["migrate", "--mode", "development", "--data-directory", directory],
          environment: ["DATABASE_URL": conninfo])
        #expect(migrated.status == 0, "\(migrated.output)")
        let service = try await RunningService.start(database: conninfo, dataDirectory: directory)
        try await APIClient.run(service, user: "ada") { ada in
          try await Self.expectReady(service, ada)
          try await database.stop(.immediate)
          try await Self.expectNotReady(service, ada)

          let restarted = try await EmbeddedPostgres.start(configuration, logger: logger)
          let start = ContinuousClock.now
          try await eventually(within: .seconds(20)) {
            try await ada.call(.GET, "/readyz").status == 200
          }
          print("ready again", ContinuousClock.now - start, "after the database")
          try await Self.expectReady(service, ada)
          let path = "/v1/threads/\(lowercased(UUID()))"
          #expect(
            try await ada.call(.PUT, path, #"{"kind":"message","participants":[]}"#).status == 201)
          #expect(try await service.stop() == 0)
          try await restarted.stop(.immediate)
        }
      } catch {
        try await database.stop(.immediate)
        throw error
      }
    }

    private static func expectReady(_ service: RunningService, _ ada: APIClient) async throws {
      let ready = try await ada.call(.GET, "/readyz")
      #expect(ready.status == 200 && ready.json?["status"] as? String == "ready")
      for path in ["/healthz", "/readyz"] {
        #expect(try await Plain.get(service.adminURL + path).status == 200)
      }
    }

    private static func expectNotReady(_ service: RunningService, _ ada: APIClient) async throws {
      try await eventually(within: .seconds(10)) {
        try await ada.call(.GET, "/readyz").status == 503
      }
      let answer = try await Plain.get(service.adminURL + "/readyz")
      #expect(answer.status == 503)
      let parts = answer.json?["parts"] as? [[String: Any]] ?? []
      let database = parts.first { $0["name"] as? String == "database" }
      #expect(database?["ready"] as? Bool == false)
      #expect((database?["detail"] as? String)?.isEmpty == false)
      // The process itself is well: to start it again would not help.
      #expect(try await ada.call(.GET, "/healthz").status == 200)
      let refused = try await ada.call(
        .PUT, "/v1/threads/\(lowercased(UUID()))", #"{"kind":"message","participants":[]}"#)
      #expect(refused.status == 503)
      #expect(["unavailable", "outcome-unknown"].contains(refused.problem))
      #expect(refused.headers["Retry-After"].first != nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func metricsCountRoutesAndNameNobody() async throws {
      try await Deployment.serving { _, service in
        let user = "somebody-in-particular"
        let thread = lowercased(UUID())
        try await APIClient.run(service, user: user) { client in
          let body = #"{"kind":"message","participants":[]}"#
          let made = try await client.call(.PUT, "/v1/threads/\(thread)", body)
          #expect(made.status == 201)
          for _ in 0..<3 {
            #expect(try await client.call(.GET, "/v1/threads/\(thread)").status == 200)
          }
          #expect(try await client.call(.GET, "/v1/nothing/\(thread)").status == 404)
        }
        let metrics = try await Plain.get(service.adminURL + "/metrics")
        #expect(metrics.status == 200 && metrics.contentType.hasPrefix("text/plain"))
        let lines = metrics.text.split(separator: "\n")
        let count = lines.first {
          $0.hasPrefix("http_requests_total{") && $0.contains(#"method="GET""#)
            && $0.contains("threads/{threadId}") && $0.contains(#"status="200""#)
        }
        #expect(count?.split(separator: " ").last.flatMap { Double($0) } == 3)
        #expect(lines.contains { $0.hasPrefix("http_request_duration_seconds") })
        #expect(lines.contains { $0.hasPrefix("process_resident_memory_bytes ") })
        #expect(!metrics.text.contains(thread) && !metrics.text.contains(user))
      }
    }

    @Test(.timeLimit(.minutes(1)))
    func traceContextGoesIntoTheLog() async throws {
      let settings = ["--log-format", "json", "--log-level", "debug"]
      try await Deployment.serving(settings) { _, service in
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        try await APIClient.run(service, user: "ada") { ada in
          let answer = try await ada.call(
            .GET, "/v1/threads/\(lowercased(UUID()))",
            headers: [("traceparent", "00-\(trace)-00f067aa0ba902b7-01")])
          #expect(answer.status == 404)
          // Not a trace context by the standard: a new trace begins.
          let bad = try await ada.call(
            .GET, "/v1/changes",
            headers: [("traceparent", "00-\(String(repeating: "0", count: 32))-x")])
          #expect(bad.status == 200)
        }
        let line = try await service.output.line(with: trace)
        let entry = try #require(
          try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let metadata = try #require(entry["metadata"] as? [String: Any])
        #expect(entry["message"] as? String == "request")
        #expect(metadata["status"] as? String == "404")
        #expect(metadata.values.contains { $0 as? String == trace })
        for line in service.output.lines {
          let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
          #expect(object?["level"] != nil && object?["message"] != nil, "\(line)")
        }
      }
    }
  }
}
