import Foundation
import Identity
import NIOCore
import TestSupport
import Testing
import VocativeModel

extension ServiceTests {
  /// What is wrong is refused with the right status and problem (RFC 9457), changes nothing, and is
  /// told to nobody: no answer and no log repeats what a user wrote.
  struct BadInputTests {
    @Test(.timeLimit(.minutes(2)))
    func badRequestsAreRefused() async throws {
      try await Deployment.serving(["--log-level", "trace"]) { deployment, service in
        try await APIClient.run(service, user: "ada") { ada in
          let target = Target()
          try await target.make(ada, ada.speaking(try await service.token("jon")))
          let before = try await deployment.dump()
          let table =
            target.badBodies + target.badMembers + target.badBatches + target.badAddresses
            + target.badVocabulary + target.badResolution + target.badIntents
          for bad in table {
            let answer = try await ada.call(
              bad.method, bad.path, bytes: bad.body, headers: bad.headers)
            Self.expect(answer, bad)
          }
          for bad in target.badIdentifiers {
            let connection = try await RawConnection.open(service)
            await connection.send(
              "\(bad.method) \(bad.path) HTTP/1.1\r\nHost: localhost\r\n"
                + "Authorization: Bearer \(ada.token ?? "")\r\n"
                + "Content-Length: \(bad.body?.count ?? 0)\r\n\r\n"
                + String(decoding: bad.body ?? Data(), as: UTF8.self))
            let answer = try await connection.answer()
            #expect(
              answer.status == bad.status && answer.json?["code"] as? String == bad.code,
              "\(bad): \(answer)")
            await connection.close()
          }
          #expect(try await deployment.dump() == before)
          #expect(!service.log.contains(BadRequest.canary))
          // The service is none the worse for it.
          let good = try await ada.call(.PUT, target.newEntry, #"{"kind":"text","text":"x"}"#)
          #expect(good.status == 201)
        }
      }
    }

    /// The answer is the problem that it has to be, and repeats nothing.
    private static func expect(
      _ answer: APIClient.Answer, _ bad: BadRequest,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(
        answer.status == bad.status && answer.problem == bad.code,
        "\(bad): \(answer.status) \(answer.text)", sourceLocation: sourceLocation)
      #expect(
        answer.headers["Content-Type"] == ["application/problem+json"], "\(bad)",
        sourceLocation: sourceLocation)
      let problem = answer.json ?? [:]
      #expect(
        problem["type"] as? String == "/problems/\(bad.code)"
          && problem["status"] as? Int == bad.status
          && (problem["title"] as? String)?.isEmpty == false
          && (problem["detail"] as? String)?.isEmpty == false,
        "\(bad): \(answer.text)", sourceLocation: sourceLocation)
      #expect(
        !answer.text.contains(BadRequest.canary), "\(bad): \(answer.text)",
        sourceLocation: sourceLocation)
      guard let pointer = bad.pointer else { return }
      let places = problem["errors"] as? [[String: Any]] ?? []
      #expect(
        places.map { $0["pointer"] as? String } == [pointer], "\(bad): \(answer.text)",
        sourceLocation: sourceLocation)
    }

    @Test(.timeLimit(.minutes(1)))
    func feedTokensOfOthersAreRefused() async throws {
      var random = SeededGenerator.announced()
      try await Deployment.serving { deployment, service in
        try await APIClient.run(service, user: "ada") { ada in
          let jon = ada.speaking(try await service.token("jon"))
          try await Target().make(ada, jon)
          let before = try await deployment.dump()
          let own = try await ada.get("/v1/changes", as: ChangesPage.self).next
          let others = try await jon.get("/v1/changes", as: ChangesPage.self).next
          var tokens = ["", "x", "null", others, own + "A", String(own.dropLast()), own + own]
          let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
          for index in own.indices {
            var mutated = own
            let other = alphabet.filter { $0 != own[index] }.randomElement(using: &random) ?? "A"
            mutated.replaceSubrange(index...index, with: String(other))
            tokens.append(mutated)
          }
          for (index, token) in tokens.enumerated() {
            let answer = try await ada.call(.GET, "/v1/changes?since=\(token)")
            Self.expect(
              answer,
              BadRequest("since=\(token), of \(own)", .GET, "/v1/changes", nil, 400, "bad-token"))
            // An empty header is one that is not there.
            guard !token.isEmpty, index % 8 < 2 else { continue }
            let stream = try await ada.call(
              .GET, "/v1/events", headers: [("Last-Event-ID", token)])
            Self.expect(
              stream, BadRequest("events of \(token)", .GET, "/v1/events", nil, 400, "bad-token"))
          }
          // A restore turns the epoch: what was good is told so, with where to go.
          try await PSQL.run(
            deployment.conninfo, "UPDATE vocative.installation SET epoch = gen_random_uuid()")
          let expired = try await ada.call(.GET, "/v1/changes?since=\(own)")
          Self.expect(
            expired, BadRequest("old epoch", .GET, "/v1/changes", nil, 410, "token-expired"))
          #expect(expired.json?["reconcile"] as? String == "/v1/changes")
          let stream = try await ada.call(.GET, "/v1/events", headers: [("Last-Event-ID", own)])
          Self.expect(
            stream, BadRequest("old epoch", .GET, "/v1/events", nil, 410, "token-expired"))
          #expect(
            try await deployment.dump().split(separator: "\n").dropFirst()
              == before.split(separator: "\n").dropFirst())
        }
      }
    }

    @Test(.timeLimit(.minutes(1)))
    func badCredentialsAreRefused() async throws {
      try await Deployment.serving { deployment, service in
        let identity = service.dataDirectory + "/identity"
        func issuer(
          _ directory: String = identity, issuer: String = DevelopmentIssuer.defaultIssuer,
          audience: String = DevelopmentIssuer.defaultAudience, ago seconds: Double = 0
        ) throws -> DevelopmentIssuer {
          try DevelopmentIssuer(
            directory: directory, mode: .development, issuer: issuer, audience: audience,
            now: { Date(timeIntervalSinceNow: -seconds) })
        }
        let good = try await issuer().token(userID: "ada")
        let parts = good.split(separator: ".").map(String.init)
        let header = Data(#"{"alg":"none","typ":"JWT"}"#.utf8).base64EncodedString()
          .replacingOccurrences(of: "=", with: "")
        let otherClaims = try await issuer().token(userID: "jon").split(separator: ".")[1]
        var bad: [(name: String, values: [String])] = [
          ("none", []), ("empty", [""]), ("another scheme", ["Basic YWRhOmFkYQ=="]),
          ("no token", ["Bearer"]), ("no JWT", ["Bearer x"]),
          ("two tokens", ["Bearer \(good) \(good)"]),
          ("alg none", ["Bearer \(header).\(parts[1])."]),
          ("alg none, signed", ["Bearer \(header).\(parts[1]).\(parts[2])"]),
          ("another's claims", ["Bearer \(parts[0]).\(otherClaims).\(parts[2])"]),
          ("no signature", ["Bearer \(parts[0]).\(parts[1])."]),
          ("a huge token", ["Bearer " + String(repeating: "a", count: 9000)]),
        ]
        let tokens: [(String, DevelopmentIssuer, Duration)] = [
          ("expired", try issuer(ago: 4000), .seconds(3600)),
          ("issued tomorrow", try issuer(ago: -86_400), .seconds(3600)),
          ("another audience", try issuer(audience: "another"), .seconds(3600)),
          ("another issuer", try issuer(issuer: "https://evil.example"), .seconds(3600)),
          ("forged", try issuer(Scratch.directory() + "/forger"), .seconds(3600)),
        ]
        for (name, issuer, lifetime) in tokens {
          bad.append(
            (name, ["Bearer " + (try await issuer.token(userID: "ada", lifetime: lifetime))]))
        }
        try await APIClient.run(service, user: nil) { client in
          let before = try await deployment.dump()
          for (name, values) in bad {
            for (method, path) in [("GET", "/v1/changes"), ("PUT", Target().newThread)] {
              let answer = try await client.call(
                .init(rawValue: method), path,
                bytes: method == "PUT" ? Data(#"{"kind":"mail","participants":[]}"#.utf8) : nil,
                headers: values.map { ("Authorization", $0) })
              Self.expect(answer, BadRequest(name, .GET, path, nil, 401, "unauthenticated"))
              #expect(answer.headers["WWW-Authenticate"].first?.hasPrefix("Bearer ") == true)
              #expect(!answer.text.contains(parts[1]))
            }
          }
          let job = client.speaking(
            try await service.token("ada", scopes: [Scope(rawValue: "vocabulary.upload")]))
          Self.expect(
            try await job.call(.GET, "/v1/changes"),
            BadRequest("a job's token", .GET, "/v1/changes", nil, 403, "missing-scope"))
          #expect(try await client.speaking(good).call(.GET, "/v1/changes").status == 200)
          #expect(try await deployment.dump() == before)
          for part in parts { #expect(!service.log.contains(part)) }
        }
      }
    }
  }
}
