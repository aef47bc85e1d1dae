import AsyncHTTPClient
import Foundation
import Identity
import NIOCore
import Testing
import VocativeModel

extension ServiceTests {
  /// Vocabulary through the real binary.
  struct VocabularyTests {
    private let path = "/v1/vocabulary/contactName"

    @Test func aTypeIsReplacedReadAndRemoved() async throws {
      try await Deployment.serving { deployment, service in
        try await APIClient.run(service, user: "ada") { ada in
          let body = #"{"strings":["Mum",{"phrase":"王一然","identifier":"w"},"Mum"]}"#
          let put = try await ada.call(.PUT, path, body)
          #expect(put.status == 200 && put.headers["ETag"] == ["\"1\""])
          #expect(try put.decode(VocabularyState.self) == VocabularyState(revision: 1, count: 2))
          let before = try await deployment.dump()
          #expect(try await ada.call(.PUT, path, body).body == put.body)
          #expect(try await deployment.dump() == before)

          let page = try await ada.call(.GET, path)
          let strings = page.json?["strings"] as? [[String: String]]
          #expect(strings == [["phrase": "Mum"], ["phrase": "王一然", "identifier": "w"]])
          #expect(page.json?["revision"] as? Int == 1 && page.json?["next"] == nil)
          let fresh = try await ada.call(.GET, path, headers: [("If-None-Match", "\"1\"")])
          #expect(fresh.status == 304 && fresh.body.isEmpty)

          #expect(try await ada.call(.DELETE, path).status == 204)
          #expect(try await ada.call(.DELETE, path).status == 204)
          let map = try await ada.call(.GET, "/v1/vocabulary")
          #expect(map.json?["vocabulary"] as? [String: Int] == ["contactName": 2])
          #expect(try await ada.call(.PUT, path, body).json?["revision"] as? Int == 3)
          #expect(try await ada.call(.DELETE, "/v1/vocabulary").status == 204)
          #expect(try await ada.call(.GET, path).json?["revision"] as? Int == 4)
        }
      }
    }

    @Test func writersWhoRaceAreTold() async throws {
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          func put(_ phrase: String, _ name: String, _ value: String) async throws
            -> APIClient.Answer
          {
            try await ada.call(
              .PUT, path, json(["strings": [phrase]]), headers: [(name, value)])
          }
          #expect(try await put("a", "If-None-Match", "*").status == 200)
          #expect(try await put("b", "If-None-Match", "*").status == 412)
          #expect(try await put("b", "If-Match", "\"1\"").status == 200)
          let late = try await put("c", "If-Match", "\"1\"")
          #expect(late.status == 412 && late.problem == "revision-mismatch")
          #expect(late.headers["ETag"] == ["\"2\""])
          // The answer was lost, and the call comes again: it has been done.
          #expect(try await put("b", "If-Match", "\"1\"").status == 200)
          let removal = try await ada.call(.DELETE, path, headers: [("If-Match", "\"1\"")])
          #expect(removal.status == 412)
        }
      }
    }

    @Test func revisionsAreInTheFeed() async throws {
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          let first = try await ada.get("/v1/changes", as: ChangesPage.self)
          #expect(first.vocabulary == [:])
          async let waiting = ada.get(
            "/v1/changes?since=\(first.next)&wait=20", as: ChangesPage.self)
          _ = try await ada.call(.PUT, path, #"{"strings":["Mum"]}"#)
          let next = try await waiting
          #expect(next.vocabulary == ["contactName": 1] && next.threads.isEmpty)
          let quiet = try await ada.get("/v1/changes?since=\(next.next)", as: ChangesPage.self)
          #expect(quiet.vocabulary == ["contactName": 1] && quiet.next == next.next)
          // Pushed, too: at first what was missed, then what comes.
          var expected: [Int64] = [1, 2]
          try await ada.events(after: first.next) { event in
            guard event.type == "changes" else { return true }
            let page = try JSONDecoder().decode(ChangesPage.self, from: Data(event.data.utf8))
            #expect(page.vocabulary["contactName"] == expected.first)
            expected = Array(expected.dropFirst())
            if expected.isEmpty { return false }
            _ = try await ada.call(.PUT, path, #"{"strings":["Dad"]}"#)
            return true
          }
        }
      }
    }

    @Test func aLargeVocabularyComesInPages() async throws {
      try await Deployment.serving(["--limits-page-bytes", "65536"]) { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          let phrases = (0..<20_000).map { "contact \($0) " + String(repeating: "x", count: 60) }
          let put = try await ada.call(.PUT, path, json(["strings": phrases]))
          #expect(try put.decode(VocabularyState.self).count == 20_000)
          var found: [String] = []
          var target: String? = path
          var pages = 0
          while let next = target {
            let page = try await ada.call(.GET, next)
            let strings = try #require(page.json?["strings"] as? [[String: String]])
            found += strings.compactMap { $0["phrase"] }
            target = (page.json?["next"] as? String).map { "\(path)?after=\($0)" }
            pages += 1
            if pages == 1 { #expect(target != nil) }
          }
          #expect(found == phrases && pages > 20)
          let second = "\(path)?after=1.100"
          #expect(try await ada.call(.GET, second).status == 200)
          _ = try await ada.call(.PUT, path, #"{"strings":["Mum"]}"#)
          #expect(try await ada.call(.GET, second).problem == "vocabulary-changed")
        }
      }
    }

    @Test func namesOfParticipantsJoinIn() async throws {
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          let people = [["userId": "wang", "name": ["display": "王一然"]]]
          _ = try await ada.call(
            .PUT, "/v1/threads/\(lowercased(UUID()))",
            json(["kind": "message", "participants": people]))
          _ = try await ada.call(.PUT, path, #"{"strings":["Mum"]}"#)
          let plain = try await ada.call(.GET, path).json?["strings"] as? [[String: String]]
          #expect(plain == [["phrase": "Mum"]])
          let all = try await ada.call(.GET, "\(path)?derived=include")
          #expect(
            all.json?["strings"] as? [[String: String]] == [
              ["phrase": "Mum"],
              ["phrase": "王一然", "identifier": "wang", "source": "participant"],
            ])
        }
      }
    }
  }
}
