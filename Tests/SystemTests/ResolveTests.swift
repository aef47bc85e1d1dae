import Foundation
import NIOCore
import Testing
import VocativeModel

extension ServiceTests {
  /// Resolution through the real binary.
  struct ResolveTests {
    private struct Answer: Decodable {
      struct Candidate: Decodable, Equatable {
        var identifier: String?
        var phrase: String
        var source: String?
        var reason: String?
      }
      struct Result: Decodable {
        var phrase: String
        var outcome: String
        var value: Candidate?
        var candidates: [Candidate]
        var reason: String?
        var parts: [Result]?
      }
      var results: [Result]
      var vocabularyRevision: Int
    }

    private static func resolve(
      _ client: APIClient, _ phrases: [String], type: String = "contactName",
      atLeast revision: Int? = nil, explain: Bool = false
    ) async throws -> Answer {
      var body: [String: Any] = ["type": type, "phrases": phrases, "explain": explain]
      if let revision { body["atLeast"] = ["vocabularyRevision": revision] }
      let answer = try await client.call(.POST, "/v1/resolve", json(body))
      #expect(answer.status == 200, "\(answer.text)")
      return try answer.decode(Answer.self)
    }

    private static func upload(
      _ client: APIClient, _ strings: [Any], type: String = "contactName"
    ) async throws -> Int {
      let answer = try await client.call(
        .PUT, "/v1/vocabulary/\(type)", json(["strings": strings]))
      #expect(answer.status == 200)
      return Int(try answer.decode(VocabularyState.self).revision)
    }

    /// The QQ article: nicknames are uploaded, and the recogniser's text finds them.
    @Test func aMessageIsForTheNicknameThatWasSpoken() async throws {
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          let revision = try await Self.upload(
            ada, [["phrase": "王一然", "identifier": "w"], ["phrase": "✿李荣桃✿", "identifier": "l"]])
          let answer = try await Self.resolve(
            ada, ["用QQ发消息给王一然说你好", "王依然", "小桃", "王小明", ""], explain: true)
          #expect(answer.vocabularyRevision == revision)
          #expect(
            answer.results.map(\.outcome) == [
              "success", "confirmationRequired", "confirmationRequired", "unsupported",
              "needsValue",
            ])
          #expect(answer.results.map(\.value?.identifier) == ["w", "w", "l", nil, nil])
          #expect(answer.results[1].value?.reason == "sound")
          #expect(answer.results[3].reason == "noMatch")
        }
      }
    }

    /// The List-o-Mat tutorial.
    @Test func aListIsFoundConfirmedOrDisambiguated() async throws {
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          let type = "notebookItemTitle"
          _ = try await Self.upload(
            ada, ["Grocery Store", "Hardware Store", "Packing"], type: type)
          let answer = try await Self.resolve(
            ada, ["grocery store", "Hardware", "store", "all", "garden"], type: type)
          #expect(
            answer.results.map(\.outcome) == [
              "success", "confirmationRequired", "disambiguation", "disambiguation",
              "unsupported",
            ])
          #expect(
            answer.results[2].candidates.map(\.phrase) == ["Grocery Store", "Hardware Store"])
          #expect(answer.results[3].candidates.count == 3)
        }
      }
    }

    @Test func severalRecipientsAreResolvedEach() async throws {
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          _ = try await Self.upload(ada, ["Tom", "Jerry", "小王", "小李"])
          let answer = try await Self.resolve(ada, ["text Tom and Jerry", "小王和小李"])
          #expect(answer.results.map(\.outcome) == ["success", "success"])
          #expect(answer.results[0].parts?.compactMap(\.value?.phrase) == ["Tom", "Jerry"])
          #expect(answer.results[1].parts?.compactMap(\.value?.phrase) == ["小王", "小李"])
        }
      }
    }

    /// Names that the user's own threads carry, below what was uploaded, and nobody else's.
    @Test func participantsAreFoundByTheirNames() async throws {
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          try await APIClient.run(service, user: "eve") { eve in
            #expect(try await Self.resolve(ada, ["Jonathan"]).results[0].outcome == "unsupported")
            let thread = "/v1/threads/\(UUID().uuidString.lowercased())"
            let body =
              #"{"kind":"message","participants":[{"userId":"jon","name":{"display":"Jonathan"}}]}"#
            #expect(try await ada.call(.PUT, thread, body).status == 201)
            let found = try await Self.resolve(ada, ["Jonathan"]).results[0]
            #expect(found.outcome == "success" && found.value?.identifier == "jon")
            #expect(found.value?.source == "thread")
            // What the user calls somebody counts for more than what a thread does.
            _ = try await Self.upload(ada, [["phrase": "Jonathan", "identifier": "other"]])
            let uploaded = try await Self.resolve(ada, ["Jonathan"]).results[0]
            #expect(uploaded.outcome == "success" && uploaded.value?.identifier == "other")
            #expect(try await Self.resolve(eve, ["Jonathan"]).results[0].outcome == "unsupported")
          }
        }
      }
    }

    /// After an acknowledged upload no replica answers from before it.
    @Test(.timeLimit(.minutes(2)))
    func noReplicaAnswersFromBefore() async throws {
      try await Deployment.run { deployment in
        let first = try await deployment.start()
        let second = try await deployment.start()
        try await APIClient.run(first, user: "ada") { one in
          try await APIClient.run(second, user: "ada") { other in
            for round in 1...20 {
              let (writer, reader) = round % 2 == 0 ? (one, other) : (other, one)
              let name = "Name \(round) of many"
              let revision = try await Self.upload(writer, [name, "Somebody Else"])
              for client in [reader, writer] {
                let answer = try await Self.resolve(client, [name], atLeast: revision)
                #expect(answer.results[0].outcome == "success", "round \(round)")
                #expect(answer.vocabularyRevision >= revision)
              }
            }
            let late = try await one.call(
              .POST, "/v1/resolve",
              #"{"type":"contactName","phrases":["a"],"atLeast":{"vocabularyRevision":9999}}"#)
            #expect(late.status == 409 && late.problem == "revision-not-reached")
          }
        }
        #expect(try await first.stop() == 0)
        #expect(try await second.stop() == 0)
      }
    }
  }
}
