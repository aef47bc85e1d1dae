import Foundation
import NIOHTTP1
import TestSupport
import Testing
import VocativeModel

extension ServiceTests {
  /// SiriKit's steps through the real binary.
  struct IntentTests {
    private struct Recipient: Decodable, Equatable {
      var userId: String?
      var threadId: String?
      var phrase: String
    }
    private struct Results: Decodable {
      struct Result: Decodable {
        var phrase: String
        var outcome: String
        var value: Recipient?
        var candidates: [Recipient]
        var reason: String?
      }
      var results: [Result]
    }
    private struct Confirmed: Decodable {
      var code: String
      var confirmation: String?
      var threadId: String?
      var reason: String?
    }
    private struct Sent: Decodable {
      var code: String
      var threadId: String
      var entry: Entry
    }

    private static func recipients(
      _ client: APIClient, _ phrases: [String], step: String = "send-message/resolve-recipients"
    ) async throws -> [Results.Result] {
      let answer = try await client.call(
        .POST, "/v1/intents/\(step)", json(["phrases": phrases]))
      #expect(answer.status == 200, "\(answer.text)")
      return try answer.decode(Results.self).results
    }

    private static func content(_ client: APIClient, _ content: String) async throws -> [String] {
      let answer = try await client.call(
        .POST, "/v1/intents/send-message/resolve-content", json(["content": content]))
      #expect(answer.status == 200)
      return ["outcome", "value", "reason"].compactMap { answer.json?[$0] as? String }
    }

    private static func confirm(
      _ client: APIClient, _ recipients: [[String: String]], _ content: String,
      isDeviceLocked: Bool = false
    ) async throws -> Confirmed {
      let answer = try await client.call(
        .POST, "/v1/intents/send-message/confirm",
        json([
          "recipients": recipients, "content": content, "isDeviceLocked": isDeviceLocked,
        ]))
      #expect(answer.status == 200, "\(answer.text)")
      return try answer.decode(Confirmed.self)
    }

    private static func handle(
      _ client: APIClient, _ recipients: [[String: String]], _ content: String,
      _ confirmation: String?
    ) async throws -> APIClient.Answer {
      try await client.call(
        .POST, "/v1/intents/send-message/handle",
        json([
          "recipients": recipients, "content": content, "confirmation": confirmation ?? "",
        ]))
    }

    private static func upload(
      _ client: APIClient, _ type: String, _ strings: [[String: String]]
    ) async throws {
      let answer = try await client.call(
        .PUT, "/v1/vocabulary/\(type)", json(["strings": strings]))
      #expect(answer.status == 200)
    }

    private static func texts(_ client: APIClient, _ thread: String) async throws -> [String] {
      let answer = try await client.call(.GET, "/v1/threads/\(thread)/entries")
      return try answer.decode(EntryPage.self).entries.compactMap(\.text)
    }

    /// The QQ article, from the first step to the last: "用QQ发消息给王一然说你好".
    @Test func aSpokenMessageArrives() async throws {
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          let wang = ada.speaking(try await service.token("wang"))
          try await Self.upload(
            ada, "contactName",
            [["phrase": "王一然", "identifier": "wang"], ["phrase": "李荣桃", "identifier": "li"]])
          let results = try await Self.recipients(ada, ["王一然"])
          #expect(results.map(\.outcome) == ["success"])
          #expect(results[0].value == Recipient(userId: "wang", phrase: "王一然"))
          #expect(try await Self.content(ada, "  我很生气 ") == ["success", "我很😠"])
          #expect(try await Self.content(ada, " ") == ["needsValue"])
          #expect(try await Self.content(ada, "他们生气勃勃") == ["success", "他们生气勃勃"])

          let to = [["userId": "wang"]]
          let confirmed = try await Self.confirm(ada, to, "你好")
          #expect(confirmed.code == "ready" && confirmed.threadId == nil)
          let first = try await Self.handle(ada, to, "你好", confirmed.confirmation)
          #expect(first.status == 201)
          let sent = try first.decode(Sent.self)
          #expect(sent.code == "success" && sent.entry.text == "你好")
          #expect(try await Self.texts(wang, sent.threadId) == ["你好"])

          // The answer was lost: the same again sends nothing.
          let again = try await Self.handle(ada, to, "你好", confirmed.confirmation)
          #expect(try again.decode(Sent.self).entry == sent.entry && again.status == 200)
          // The next message goes into the same conversation, from either side.
          let answer = try await Self.confirm(wang, [["userId": "ada"]], "收到")
          #expect(answer.threadId == sent.threadId)
          let back = try await Self.handle(
            wang, [["userId": "ada"]], "收到", answer.confirmation)
          #expect(back.status == 201)
          #expect(try await Self.texts(ada, sent.threadId) == ["你好", "收到"])
        }
      }
    }

    /// A confirmation is for its user, its recipients and its content, and for a while.
    @Test func aConfirmationBinds() async throws {
      try await Deployment.serving(["--intents-confirmation-seconds", "10"]) { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          let to = [["userId": "jon"], ["userId": "eve"]]
          let confirmation = try await Self.confirm(ada, to, "x").confirmation
          func refused(
            _ client: APIClient, _ to: [[String: String]], _ content: String
          ) async throws -> String? {
            try await Self.handle(client, to, content, confirmation).problem
          }
          #expect(try await refused(ada, to, "y") == "confirmation-mismatch")
          #expect(try await refused(ada, [["userId": "jon"]], "x") == "confirmation-mismatch")
          let eve = ada.speaking(try await service.token("eve"))
          #expect(try await refused(eve, to, "x") == "bad-confirmation")
          // In whatever order.
          let sent = try await Self.handle(ada, to.reversed(), "x", confirmation)
          #expect(sent.status == 201)
          let unsent = try await Self.confirm(ada, to, "z").confirmation
          // Somebody comes in who was not confirmed.
          let thread = try sent.decode(Sent.self).threadId
          let joined = try await ada.call(.PUT, "/v1/threads/\(thread)/participants/mallory", "{}")
          #expect(joined.status == 201)
          #expect(
            try await Self.handle(ada, to, "z", unsent).problem == "recipients-changed")
          #expect(try await Self.handle(ada, to, "x", confirmation).status == 200)
          // Another conversation is made for those who were meant, once and for all.
          let anew = try await Self.confirm(ada, to, "z")
          let second = try await Self.handle(ada, to, "z", anew.confirmation)
          let made = try second.decode(Sent.self).threadId
          #expect(made != thread)
          let theirs = try await Self.confirm(eve, [["userId": "ada"], ["userId": "jon"]], "ok")
          #expect(theirs.threadId == made)
          // Too late for what was not sent; what was sent stays sent.
          let late = try await Self.confirm(ada, to, "late").confirmation
          try await eventually(within: .seconds(20)) { Self.isExpired(late) }
          #expect(try await Self.handle(ada, to, "late", late).problem == "confirmation-expired")
          #expect(try await Self.handle(ada, to, "x", confirmation).status == 200)
        }
      }
    }

    /// Whether the time in a confirmation has come.
    private static func isExpired(_ confirmation: String?) -> Bool {
      guard let bytes = confirmation.flatMap(Base64URL.decode) else { return false }
      let end = bytes[1..<9].reduce(Int64(0)) { $0 << 8 | Int64($1) }
      return Int64(Date().timeIntervalSince1970 * 1000) > end
    }

    /// However many say so at the same time, from both sides: one conversation, each message once.
    @Test func whoeverSpeaksFirstThereIsOneConversation() async throws {
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          let jon = ada.speaking(try await service.token("jon"))
          var confirmed: [(client: APIClient, to: String, text: String, confirmation: String?)] = []
          for (client, other) in [(ada, "jon"), (jon, "ada")] {
            for number in 0..<4 {
              let answer = try await Self.confirm(client, [["userId": other]], "\(number)")
              #expect(answer.code == "ready" && answer.threadId == nil)
              confirmed.append((client, other, "\(number)", answer.confirmation))
            }
          }
          let threads = try await withThrowingTaskGroup(of: String.self) { group in
            for each in confirmed + confirmed + confirmed {
              group.addTask {
                let answer = try await Self.handle(
                  each.client, [["userId": each.to]], each.text, each.confirmation)
                #expect([200, 201].contains(answer.status), "\(answer.text)")
                return try answer.decode(Sent.self).threadId
              }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
          }
          #expect(threads.count == 1)
          let texts = try await Self.texts(ada, try #require(threads.first))
          #expect(texts.sorted() == ["0", "0", "1", "1", "2", "2", "3", "3"])
        }
      }
    }

    @Test func groupsAndThoseWhoCannotBeReached() async throws {
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          let jon = ada.speaking(try await service.token("jon"))
          let thread = lowercased(UUID())
          let made = try await ada.call(
            .PUT, "/v1/threads/\(thread)",
            #"{"kind":"message","subject":"Choir","participants":[{"userId":"jon"}]}"#)
          #expect(made.status == 201)
          try await Self.upload(
            ada, "contactName",
            [
              ["phrase": "Sam"], ["phrase": "Kim", "identifier": "kim-1"], ["phrase": "Kim"],
              ["phrase": "Tom", "identifier": "tom"], ["phrase": "Jerry", "identifier": "jerry"],
            ])
          try await Self.upload(
            ada, "contactGroupName", [["phrase": "Rowing", "identifier": "not-a-thread"]])
          let results = try await Self.recipients(
            ada, ["Choir", "Sam", "Kim", "Tom and Jerry", "Rowing", "Nobody Atall"])
          #expect(
            results.map(\.outcome) == [
              "success", "unsupported", "confirmationRequired", "success", "success",
              "unsupported", "unsupported",
            ])
          #expect(results[0].value?.threadId == thread)
          #expect(results[2].candidates.map(\.userId) == ["kim-1"])
          #expect(results[3...4].map(\.value?.userId) == ["tom", "jerry"])
          #expect(
            results.compactMap(\.reason) == [
              "noValidHandle", "requestedHandleInvalid", "noAccount",
            ])
          #expect(try await Self.recipients(ada, []).map(\.outcome) == ["needsValue"])
          let call = try await Self.recipients(
            ada, ["Tom", "Nobody Atall"], step: "start-call/resolve-contacts")
          #expect(call.map(\.reason) == [nil, "noContactFound"])

          // A group is written to as it is; a stranger to it does not get there.
          let to = [["threadId": thread]]
          let confirmed = try await Self.confirm(ada, to, "tonight at eight")
          #expect(confirmed.threadId == thread)
          let sent = try await Self.handle(ada, to, "tonight at eight", confirmed.confirmation)
          #expect(sent.status == 201)
          #expect(try await Self.texts(jon, thread) == ["tonight at eight"])
          let eve = ada.speaking(try await service.token("eve"))
          let refused = try await Self.confirm(eve, to, "x")
          #expect(refused.code == "failure" && refused.reason == "requestedHandleInvalid")
        }
      }
    }

    /// Among equals, who one had to do with last comes first, and is no success for it.
    @Test func recencySortsTies() async throws {
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          try await Self.upload(
            ada, "contactName",
            (1...7).map { ["phrase": "Alex", "identifier": "alex-\($0)"] })
          #expect(
            try await Self.recipients(ada, ["Alex"])[0].candidates.map(\.userId)
              == (1...5).map { "alex-\($0)" })
          for number in [4, 7] {
            let to = [["userId": "alex-\(number)"]]
            let confirmation = try await Self.confirm(ada, to, "hi").confirmation
            #expect(try await Self.handle(ada, to, "hi", confirmation).status == 201)
          }
          let result = try await Self.recipients(ada, ["Alex"])[0]
          #expect(result.outcome == "disambiguation")
          #expect(
            result.candidates.map(\.userId)
              == ["alex-7", "alex-4", "alex-1", "alex-2", "alex-3"])
        }
      }
    }

    @Test func whatALockedDeviceMayDoIsTheInstallations() async throws {
      let table = FileManager.default.temporaryDirectory
        .appending(path: "adaptations-\(UUID()).json")
      try Data(#"{"party": "🎉", "party line": "party line"}"#.utf8).write(to: table)
      defer { try? FileManager.default.removeItem(at: table) }
      let settings = [
        "--intents-restrict-while-locked", "true", "--intents-adaptations", table.path,
      ]
      try await Deployment.serving(settings) { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          let to = [["userId": "jon"]]
          let locked = try await Self.confirm(ada, to, "x", isDeviceLocked: true)
          #expect(locked.code == "failureRequiringAppLaunch")
          #expect(locked.reason == "restrictedWhileLocked" && locked.confirmation == nil)
          #expect(try await Self.confirm(ada, to, "x").code == "ready")
          #expect(
            try await Self.content(ada, "Party! The party line, partying")
              == ["success", "🎉! The party line, partying"])
        }
      }
    }

    /// The List-o-Mat tutorial's steps.
    @Test func listsAndTasks() async throws {
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: "ada") { ada in
          try await Self.upload(
            ada, "notebookItemTitle",
            [["phrase": "Grocery Store"], ["phrase": "Hardware Store"], ["phrase": "Packing"]])
          for step in [
            "add-tasks/resolve-target-task-list", "search-for-notebook-items/resolve-title",
          ] {
            let results = try await Self.recipients(
              ada, ["grocery store", "store", "hardware", "garden"], step: step)
            #expect(
              results.map(\.outcome) == [
                "success", "disambiguation", "confirmationRequired", "unsupported",
              ])
            #expect(try await Self.recipients(ada, [], step: step)[0].outcome == "needsValue")
          }
          let titles = try await ada.call(
            .POST, "/v1/intents/add-tasks/resolve-task-titles",
            #"{"phrases":[" milk ","mac and cheese",""]}"#)
          let results = titles.json?["results"] as? [[String: Any]]
          #expect(results?.map { $0["value"] as? String } == ["milk", "mac and cheese", nil])
          #expect(results?.last?["outcome"] as? String == "needsValue")
        }
      }
    }
  }
}
