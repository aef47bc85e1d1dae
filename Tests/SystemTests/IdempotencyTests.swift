import Foundation
import Testing
import VocativeModel

extension ServiceTests {
  /// The contract's fine print 3, 4, 5 and 19: the same request again is the same request.
  struct IdempotencyTests {
    /// A thread of Ada's with Jon, who is a member, and Mei, who is an admin.
    private struct Scene {
      let ada: APIClient
      let jon: APIClient
      let mei: APIClient
      let path = "/v1/threads/\(lowercased(UUID()))"

      static func run(_ body: (Deployment, Scene) async throws -> Void) async throws {
        try await Deployment.serving { deployment, service in
          try await APIClient.run(service, user: "ada") { ada in
            let scene = Scene(
              ada: ada, jon: ada.speaking(try await service.token("jon")),
              mei: ada.speaking(try await service.token("mei")))
            let people = [["userId": "jon"], ["userId": "mei", "role": "admin"]]
            let answer = try await ada.call(
              .PUT, scene.path, json(["kind": "message", "participants": people]))
            #expect(answer.status == 201)
            try await body(deployment, scene)
          }
        }
      }

      func entry(_ id: UUID = UUID()) -> String { "\(path)/entries/\(lowercased(id))" }
    }

    private func text(_ text: String) -> String { json(["kind": "text", "text": text]) }

    @Test func theSameSendAgainIsTheSameEntryAsItIsNow() async throws {
      try await Scene.run { deployment, scene in
        let path = scene.entry()
        let first = try await scene.ada.call(.PUT, path, text("one"))
        #expect(first.status == 201)
        let before = try await deployment.dump()
        let again = try await scene.ada.call(.PUT, path, text("one"))
        #expect(again.status == 200)
        #expect(again.body == first.body)
        // Members in another order, escapes, spaces and an absent null are the same JSON.
        let reordered = try await scene.ada.call(
          .PUT, path, #" { "text" : "\u006fne" , "kind":"text", "replyTo":null } "#)
        #expect(reordered.status == 200 && reordered.body == first.body)
        #expect(try await deployment.dump() == before)

        let edited = try await scene.ada.call(.PATCH, path, #"{"text":"two"}"#)
        #expect(edited.status == 200)
        let afterEdit = try await scene.ada.call(.PUT, path, text("one"))
        #expect(afterEdit.status == 200 && afterEdit.body == edited.body)
        // What it was edited to is not what it was created from.
        #expect(try await scene.ada.call(.PUT, path, text("two")).problem == "entry-exists")

        #expect(try await scene.ada.call(.DELETE, path).status == 204)
        let deleted = try await deployment.dump()
        let afterDelete = try await scene.ada.call(.PUT, path, text("one"))
        let tombstone = try afterDelete.decode(Entry.self)
        #expect(afterDelete.status == 200 && tombstone.deleted == true && tombstone.text == nil)
        #expect(try await scene.ada.call(.DELETE, path).status == 204)
        #expect(try await scene.ada.call(.PATCH, path, #"{"text":"x"}"#).problem == "entry-deleted")
        #expect(try await deployment.dump() == deleted)
      }
    }

    @Test func anotherBodyOrSenderIsAConflict() async throws {
      try await Scene.run { deployment, scene in
        let path = scene.entry()
        let sentAt = #"{"kind":"text","text":"one","sentAt":"2026-01-01T00:00:00Z"}"#
        #expect(try await scene.ada.call(.PUT, path, sentAt).status == 201)
        let before = try await deployment.dump()
        // The same moment, written in another way.
        let sameMoment = #"{"kind":"text","text":"one","sentAt":"2026-01-01T01:00:00.000+01:00"}"#
        #expect(try await scene.ada.call(.PUT, path, sameMoment).status == 200)
        for body in [
          text("one"), text("two"),
          #"{"kind":"text","text":"one","sentAt":"2026-01-01T00:00:01Z"}"#,
        ] {
          let answer = try await scene.ada.call(.PUT, path, body)
          #expect(answer.status == 409 && answer.problem == "entry-exists")
        }
        let others = try await scene.jon.call(.PUT, path, sentAt)
        #expect(others.status == 409 && others.problem == "entry-exists")
        #expect(try await scene.jon.call(.PATCH, path, #"{"text":"x"}"#).status == 403)
        #expect(try await scene.jon.call(.DELETE, path).status == 403)
        #expect(try await scene.mei.call(.PATCH, path, #"{"text":"x"}"#).status == 403)
        #expect(try await deployment.dump() == before)
        #expect(try await scene.mei.call(.DELETE, path).status == 204)
        // The same id in another thread is another entry.
        let other = Scene(ada: scene.ada, jon: scene.jon, mei: scene.mei)
        #expect(
          try await scene.ada.call(.PUT, other.path, #"{"kind":"message","participants":[]}"#)
            .status == 201)
        let id = path.split(separator: "/").last ?? ""
        #expect(
          try await scene.ada.call(.PUT, "\(other.path)/entries/\(id)", text("two")).status == 201)
      }
    }

    @Test func aDeleteThatComesFirstReservesTheID() async throws {
      try await Scene.run { deployment, scene in
        let path = scene.entry()
        #expect(try await scene.jon.call(.DELETE, path).status == 204)
        let before = try await deployment.dump()
        #expect(try await scene.jon.call(.DELETE, path).status == 204)
        for _ in 0..<2 {
          let answer = try await scene.jon.call(.PUT, path, text("late"))
          let entry = try answer.decode(Entry.self)
          #expect(answer.status == 200 && entry.deleted == true && entry.text == nil)
        }
        #expect(try await scene.ada.call(.PUT, path, text("late")).status == 409)
        #expect(try await deployment.dump() == before)
      }
    }

    @Test func aBatchIsAllOrNothing() async throws {
      try await Scene.run { deployment, scene in
        let (first, second, third, taken) = (UUID(), UUID(), UUID(), UUID())
        func item(_ id: UUID, _ text: String) -> [String: Any] {
          ["id": id.uuidString, "kind": "text", "text": text]
        }
        func batch(_ items: [[String: Any]]) async throws -> APIClient.Answer {
          try await scene.ada.call(.POST, "\(scene.path)/entries", json(["entries": items]))
        }
        #expect(try await scene.jon.call(.PUT, scene.entry(taken), text("mine")).status == 201)
        let before = try await deployment.dump()
        let missing = item(third, "c").merging(["replyTo": UUID().uuidString]) { $1 }
        let refused = try await batch([item(first, "a"), item(taken, "mine"), item(second, "b")])
        #expect(refused.status == 409)
        #expect(Self.pointers(refused) == ["/entries/1"])
        let mixed = try await batch([item(taken, "mine"), item(first, "a"), missing])
        #expect(mixed.status == 422)
        #expect(Self.pointers(mixed) == ["/entries/0", "/entries/2/replyTo"])
        #expect(try await deployment.dump() == before)

        // A reply to an earlier item of the batch is fine.
        let reply = item(second, "b").merging(["replyTo": first.uuidString]) { $1 }
        let made = try await batch([item(first, "a"), reply])
        #expect(made.status == 201)
        let entries = try made.decode(EntryPage.self).entries
        #expect(entries.map(\.id) == [EntryID(first), EntryID(second)])
        #expect(entries.map(\.seq) == [2, 3])
        let after = try await deployment.dump()
        let again = try await batch([item(first, "a"), reply])
        #expect(again.status == 200 && again.body == made.body)
        #expect(try await deployment.dump() == after)
        // An outbox that was flushed in part: what is there is answered, what is new is stored.
        let more = try await batch([reply, item(third, "c")])
        #expect(more.status == 201)
        #expect(try more.decode(EntryPage.self).entries.map(\.seq) == [3, 4])
      }
    }

    private static func pointers(_ answer: APIClient.Answer) -> [String] {
      (answer.json?["errors"] as? [[String: Any]] ?? []).compactMap { $0["pointer"] as? String }
    }

    @Test func theSameThreadAgainIsTheSameThread() async throws {
      try await Scene.run { deployment, scene in
        let path = "/v1/threads/\(lowercased(UUID()))"
        let body =
          #"{"kind":"mail","subject":"S","participants":[{"userId":"jon"},{"userId":"mei"}]}"#
        let made = try await scene.ada.call(.PUT, path, body)
        #expect(made.status == 201)
        let before = try await deployment.dump()
        let again = try await scene.ada.call(.PUT, path, body)
        #expect(again.status == 200 && again.body == made.body)
        let reordered =
          #"{"participants":[{"userId":"mei"},{"userId":"jon"}],"subject":"S","kind":"mail"}"#
        let same = try await scene.ada.call(.PUT, path, reordered)
        #expect(same.status == 200 && same.body == made.body)
        for other in [
          #"{"kind":"mail","subject":"T","participants":[{"userId":"jon"},{"userId":"mei"}]}"#,
          #"{"kind":"mail","participants":[{"userId":"jon"},{"userId":"mei"}]}"#,
          #"{"kind":"message","subject":"S","participants":[{"userId":"jon"},{"userId":"mei"}]}"#,
          #"{"kind":"mail","subject":"S","participants":[{"userId":"jon"}]}"#,
        ] {
          let answer = try await scene.ada.call(.PUT, path, other)
          #expect(answer.status == 409 && answer.problem == "thread-exists")
        }
        #expect(try await deployment.dump() == before)
      }
    }

    @Test func whatChangesNothingWritesNothing() async throws {
      try await Scene.run { deployment, scene in
        let path = scene.entry()
        #expect(try await scene.jon.call(.PUT, path, text("one")).status == 201)
        #expect(
          try await scene.ada.call(.PUT, "\(scene.path)/read", #"{"upTo":99}"#).json?["readUpTo"]
            as? Int == 1)
        let before = try await deployment.dump()
        for (client, method, path, body) in [
          (scene.jon, "PATCH", path, #"{"text":"one"}"#),
          (scene.ada, "PUT", "\(scene.path)/participants/jon", "{}"),
          (scene.ada, "PUT", "\(scene.path)/participants/jon", #"{"role":"member"}"#),
          (scene.ada, "PUT", "\(scene.path)/read", #"{"upTo":0}"#),
          (scene.ada, "PUT", "\(scene.path)/read", #"{"upTo":1}"#),
        ] {
          let answer = try await client.call(.init(rawValue: method), path, body)
          #expect(answer.status == 200, "\(answer.text)")
        }
        #expect(try await deployment.dump() == before)
      }
    }
  }
}
