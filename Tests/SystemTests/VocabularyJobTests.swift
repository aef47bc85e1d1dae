import AsyncHTTPClient
import Foundation
import Identity
import NIOCore
import Testing
import TestSupport
import VocativeModel

extension ServiceTests {
  /// `POST /v1/jobs/vocabulary` through the real binary.
  struct VocabularyJobTests {
    private static let path = "/v1/jobs/vocabulary"

    /// What a job answered: results, and the last line.
    private struct Outcome: Equatable {
      var results: [VocabularyJobResult] = []
      var summary: VocabularyJobSummary?

      mutating func read(_ line: some Sequence<UInt8>) throws {
        let data = Data(line)
        if let result = try? JSONDecoder().decode(VocabularyJobResult.self, from: data) {
          results.append(result)
        } else {
          summary = try JSONDecoder().decode(VocabularyJobSummary.self, from: data)
        }
      }

      static func of(_ answer: APIClient.Answer) throws -> Outcome {
        var outcome = Outcome()
        for line in answer.body.split(separator: UInt8(ascii: "\n")) { try outcome.read(line) }
        return outcome
      }
    }

    private static func line(_ user: String, _ strings: [String], type: String = "contactName")
      -> String
    {
      json(["userId": user, "type": type, "strings": strings]) + "\n"
    }

    private static func run(
      _ body: (Deployment, RunningService, APIClient) async throws -> Void
    ) async throws {
      try await Deployment.serving { deployment, service in
        try await APIClient.run(service, user: nil) { nobody in
          let token = try await service.token("crm", scopes: [.vocabularyUpload])
          try await body(deployment, service, nobody.speaking(token))
        }
      }
    }

    private static func upload(
      _ client: APIClient, _ body: String, key: String? = nil
    ) async throws -> APIClient.Answer {
      var headers = [("Content-Type", "application/x-ndjson")]
      if let key { headers.append(("Idempotency-Key", key)) }
      return try await client.call(.POST, path, body, headers: headers)
    }

    @Test func badLinesAreReportedAndTheRestIsStored() async throws {
      try await Self.run { _, service, crm in
        let secret = "hush-hush"
        let body =
          Self.line("ada", ["Mum", "Dad", "Mum"]) + "not JSON \(secret)\n" + "\r\n"
          + #"{"userId":"jon","type":"contact","strings":["\#(secret)"]}"# + "\n"
          + Self.line("jon", ["", secret]) + Self.line("jon", ["王一然"])
          + #"{"userId":"","type":"carName","strings":[]}"# + "\n"
          + "{\"a\":\"" + String(repeating: "x", count: 9_000_000) + "\"}\n"
          + Self.line("ada", ["Mum", "Dad"]) + Self.line("ada", ["Bo"]).dropLast()
        let answer = try await Self.upload(crm, body)
        #expect(answer.status == 200 && !answer.text.contains(secret))
        let outcome = try Outcome.of(answer)
        #expect(outcome.results.map(\.line) == [1, 2, 4, 5, 6, 7, 8, 9, 10])
        #expect(
          outcome.results.map(\.status) == [
            .stored, .failed, .failed, .failed, .stored, .failed, .failed, .unchanged, .stored,
          ])
        #expect(
          outcome.results.map { $0.problem?.code } == [
            nil, "malformed-json", "invalid-request", "invalid-request", nil, "invalid-request",
            "line-too-long", nil, nil,
          ])
        try #require(outcome.results.count > 3)
        #expect(outcome.results[3].problem?.errors?.first?.pointer == "/strings/0")
        #expect(outcome.results[0].revision == 1 && outcome.results[0].count == 2)
        #expect(outcome.results.last?.revision == 2 && outcome.results.last?.count == 1)
        let summary = try #require(outcome.summary)
        #expect(summary.done && summary.lines == 9 && summary.stored == 3 && summary.failed == 5)
        for (user, phrases) in [("ada", ["Bo"]), ("jon", ["王一然"])] {
          let page = try await crm.speaking(try await service.token(user)).call(
            .GET, "/v1/vocabulary/contactName")
          let strings = page.json?["strings"] as? [[String: String]]
          #expect(strings?.map { $0["phrase"] } == phrases)
        }
        #expect(!service.log.contains(secret))
      }
    }

    @Test func onlyAnUploadersTokenMay() async throws {
      try await Self.run { deployment, service, crm in
        let before = try await deployment.dump()
        let ada = crm.speaking(try await service.token("ada"))
        let refused = try await Self.upload(ada, Self.line("ada", ["Mum"]))
        #expect(refused.status == 403 && refused.problem == "missing-scope")
        let form = try await crm.call(
          .POST, Self.path, Self.line("ada", ["Mum"]), headers: [("Content-Type", "text/csv")])
        #expect(form.status == 415)
        let long = try await Self.upload(
          crm, Self.line("ada", ["Mum"]), key: String(repeating: "k", count: 257))
        #expect(long.status == 400)
        #expect(try await deployment.dump() == before)
      }
    }

    /// Whoever sends a line and waits gets its result before the next.
    @Test(.timeLimit(.minutes(1))) func resultsComeAsTheJobGoes() async throws {
      try await Self.run { _, _, crm in
        let (lines, source) = AsyncStream.makeStream(of: ByteBuffer.self)
        var request = HTTPClientRequest(url: crm.baseURL + Self.path)
        request.method = .POST
        request.headers.add(name: "Authorization", value: "Bearer \(crm.token ?? "")")
        request.headers.add(name: "Content-Type", value: "application/x-ndjson")
        request.body = .stream(lines, length: .unknown)
        source.yield(ByteBuffer(string: Self.line("user-0", ["Mum"])))
        let response = try await crm.http.execute(request, timeout: .seconds(50))
        #expect(response.status == .ok)
        var outcome = Outcome()
        var partial: [UInt8] = []
        for try await part in response.body {
          partial += part.readableBytesView
          while let end = partial.firstIndex(of: UInt8(ascii: "\n")) {
            try outcome.read(partial[..<end])
            partial.removeSubrange(...end)
            if outcome.results.count < 5 {
              source.yield(
                ByteBuffer(string: Self.line("user-\(outcome.results.count)", ["Mum"])))
            } else {
              source.finish()
            }
          }
        }
        #expect(outcome.results.count == 5 && outcome.summary?.done == true)
      }
    }

    @Test func theSameJobAgainIsAnsweredAlikeAndTouchesNothing() async throws {
      try await Self.run { deployment, service, crm in
        let body = (0..<40).map { Self.line("user-\($0)", ["Mum \($0)", "Dad"]) }.joined() + "x\n"
        let first = try await Self.upload(crm, body, key: "job-1")
        // Somebody changes theirs in the meantime: what is done must not be done again.
        let user = crm.speaking(try await service.token("user-3"))
        _ = try await user.call(
          .PUT, "/v1/vocabulary/contactName", #"{"strings":["newer"]}"#)
        let before = try await deployment.dump()
        let second = try await Self.upload(crm, body, key: "job-1")
        #expect(second.body == first.body)
        #expect(try await deployment.dump() == before)
        let nothing = try Outcome.of(try await Self.upload(crm, "x\n\n", key: "job-0"))
        #expect(nothing.summary?.done == true && nothing.summary?.failed == 1)
        #expect(try Outcome.of(try await Self.upload(crm, "x\n\n", key: "job-0")) == nothing)
        // Another body under the same key, and the same key of another service.
        let noted = try await deployment.dump()
        let other = try await Self.upload(crm, Self.line("user-1", ["x"]), key: "job-1")
        #expect(try Outcome.of(other).summary?.problem?.code == "job-mismatch")
        #expect(try await deployment.dump() == noted)
        let erp = crm.speaking(try await service.token("erp", scopes: [.vocabularyUpload]))
        let theirs = try Outcome.of(try await Self.upload(erp, body, key: "job-1"))
        try #require(theirs.results.count > 3)
        #expect(theirs.results[3].status == .stored && theirs.results[3].revision == 3)
      }
    }

    /// The client is gone in the middle of a line. The half of it must not count as a line: the job
    /// could not be resumed.
    @Test(.timeLimit(.minutes(1)), arguments: [APIClient.Version.http1, .http2])
    func aClientThatIsCutOffCanResume(_ version: APIClient.Version) async throws {
      try await Deployment.serving { deployment, service in
        let token = try await service.token("crm", scopes: [.vocabularyUpload])
        let body = (0..<20).map { Self.line("user-\($0)", ["Mum", "Dad"]) }.joined()
        let half = body.utf8.prefix(body.utf8.count / 2 + 7)
        try await APIClient.run(
          service.baseURL, caFile: service.caFile, token: token, over: version
        ) { client in
          let (parts, source) = AsyncStream.makeStream(of: ByteBuffer.self)
          var request = HTTPClientRequest(url: client.baseURL + Self.path)
          request.method = .POST
          request.headers.add(name: "Authorization", value: "Bearer \(token)")
          request.headers.add(name: "Content-Type", value: "application/x-ndjson")
          request.headers.add(name: "Idempotency-Key", value: "cut")
          request.body = .stream(parts, length: .unknown)
          source.yield(ByteBuffer(bytes: half))
          let started = request
          let upload = Task {
            let response = try await client.http.execute(started, timeout: .seconds(50))
            for try await _ in response.body {}
          }
          try await eventually {
            try await PSQL.run(
              deployment.conninfo, "SELECT count(*) > 8 FROM vocative.vocabulary_set"
            ).contains("t")
          }
          upload.cancel()
          _ = await upload.result
        }
        try await APIClient.run(service, user: nil) { client in
          var outcome = Outcome()
          // The first run may not have ended yet.
          try await eventually {
            outcome = try Outcome.of(
              try await Self.upload(client.speaking(token), body, key: "cut"))
            return outcome.summary?.done == true
          }
          #expect(outcome.results.map(\.line) == Array(1...20))
          #expect(outcome.results.allSatisfy { $0.status == .stored && $0.revision == 1 })
        }
      }
    }

    /// A service that is told to stop in the middle of a job stores what is under way, and says so.
    @Test(.timeLimit(.minutes(1))) func aStoppingServiceEndsAJob() async throws {
      try await Deployment.run { deployment in
        let service = try await deployment.start()
        let token = try await service.token("crm", scopes: [.vocabularyUpload])
        // Not over HTTP/2, where the client of the tests (async-http-client 1.37) ends its process
        // when a response is over before the request.
        try await APIClient.run(
          service.baseURL, caFile: service.caFile, token: token, over: .http1
        ) { client in
          let (parts, source) = AsyncStream.makeStream(of: ByteBuffer.self)
          var request = HTTPClientRequest(url: client.baseURL + Self.path)
          request.method = .POST
          request.headers.add(name: "Authorization", value: "Bearer \(token)")
          request.headers.add(name: "Content-Type", value: "application/x-ndjson")
          request.body = .stream(parts, length: .unknown)
          source.yield(ByteBuffer(string: Self.line("ada", ["Mum"])))
          let response = try await client.http.execute(request, timeout: .seconds(50))
          var outcome = Outcome()
          var partial: [UInt8] = []
          var isStopped = false
          for try await part in response.body {
            partial += part.readableBytesView
            while let end = partial.firstIndex(of: UInt8(ascii: "\n")) {
              try outcome.read(partial[..<end])
              partial.removeSubrange(...end)
            }
            if !isStopped {
              isStopped = true
              Foundation.kill(service.processID, SIGTERM)
            }
            if outcome.summary != nil { break }
          }
          #expect(outcome.results.count == 1 && outcome.summary?.done == false)
          #expect(outcome.summary?.problem?.code == "unavailable")
          source.finish()
        }
        let status = try await service.stop()
        #expect(status == 0)
      }
    }

    /// The service is killed in the middle of a job, as by a power cut; what it has acknowledged is
    /// there, and the same job again completes it without doing anything twice.
    @Test(.timeLimit(.minutes(2))) func aKilledJobIsResumed() async throws {
      var random = SeededGenerator.announced()
      try await Deployment.run { deployment in
        let lines = (0..<3000).map { number in
          Self.line("user-\(number)", (0..<40).map { "contact \(number) \($0)" })
        }
        let body = ByteBuffer(string: lines.joined())
        var acknowledged: [Int64: VocabularyJobResult] = [:]
        for _ in 0..<3 {
          let service = try await deployment.start()
          let stop = Int.random(in: 1...1200, using: &random)
          let seen = try await Self.results(
            of: body, service, killAfter: acknowledged.count + stop)
          for result in seen {
            if let known = acknowledged[result.line] { #expect(known == result) }
            acknowledged[result.line] = result
          }
        }
        let service = try await deployment.start()
        let last = try await Self.results(of: body, service, killAfter: nil)
        #expect(last.count == lines.count)
        for result in last {
          #expect(result.status == .stored && result.revision == 1 && result.count == 40)
          if let known = acknowledged[result.line] { #expect(known == result) }
        }
        try await service.stop()
        let strings = try await PSQL.run(
          deployment.conninfo,
          "SELECT count(*), count(DISTINCT user_id) FROM vocative.vocabulary_string")
        #expect(strings.contains("120000") && strings.contains("3000"))
      }
    }

    /// Runs a job with a key until so many results were seen; then kills the service.
    private static func results(
      of body: ByteBuffer, _ service: RunningService, killAfter limit: Int?
    ) async throws -> [VocabularyJobResult] {
      try await APIClient.run(service, user: nil) { client in
        var request = HTTPClientRequest(url: client.baseURL + path)
        request.method = .POST
        let token = try await service.token("crm", scopes: [.vocabularyUpload])
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        request.headers.add(name: "Content-Type", value: "application/x-ndjson")
        request.headers.add(name: "Idempotency-Key", value: "nightly")
        request.body = .bytes(body)
        var outcome = Outcome()
        var partial: [UInt8] = []
        do {
          let response = try await client.http.execute(request, timeout: .seconds(60))
          for try await part in response.body {
            partial += part.readableBytesView
            while let end = partial.firstIndex(of: UInt8(ascii: "\n")) {
              try outcome.read(partial[..<end])
              partial.removeSubrange(...end)
            }
            if let limit, outcome.results.count >= limit { try await service.kill() }
          }
        } catch {
          if limit == nil { throw error }
        }
        // The job may have been done before it came to that.
        if limit != nil { try await service.kill() }
        return outcome.results
      }
    }
  }
}
