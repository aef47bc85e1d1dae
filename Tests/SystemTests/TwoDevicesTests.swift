import Foundation
import TestSupport
import Testing
import VocativeModel

extension ServiceTests {
  /// Users on several devices each, over TLS: what a device has by following its feed is what the
  /// service shows by its other calls.
  struct TwoDevicesTests {
    /// Lost wake-ups must not be made up for by the poll.
    private static let settings = ["--events-poll-seconds", "60"]

    @Test(.timeLimit(.minutes(2)))
    func aConversationArrivesOnEveryDevice() async throws {
      try await Deployment.serving(Self.settings) { _, service in
        try await Cast.run(service) { cast in
          let (ada, jon) = (cast.ada, cast.jon)
          let thread = ThreadID(UUID())
          let path = "/v1/threads/\(thread)"
          func entry(_ id: UUID) -> String { "\(path)/entries/\(lowercased(id))" }
          func step(_ expected: Int, _ answer: APIClient.Answer) async throws {
            #expect(answer.status == expected, "\(answer.text)")
            try await cast.expectConvergence()
          }
          let people = [["userId": "jon", "role": "admin", "name": ["display": "Jon Reyes"]]]
          let creation = json(["kind": "message", "subject": "Picnic", "participants": people])
          try await step(201, ada.call(.PUT, path, creation))

          let first = UUID()
          let hello = json(["kind": "text", "text": "Hello!"])
          try await step(201, ada.call(.PUT, entry(first), hello))
          let copy = await cast.devices[2].replica.threads[thread]
          #expect(copy?.entries[EntryID(first)]?.text == "Hello!")
          #expect(copy?.state.unreadCount == 1)

          let many = (0..<40).map {
            ["id": UUID().uuidString, "kind": "text", "text": "No. \($0)"]
          }
          try await step(201, jon.call(.POST, "\(path)/entries", json(["entries": many])))
          try await step(200, ada.call(.PATCH, entry(first), json(["text": "Hello again"])))
          try await step(200, jon.call(.PUT, "\(path)/read", json(["upTo": 30])))
          try await step(200, jon.call(.PUT, "\(path)/read", json(["unreadFrom": 1])))
          try await step(204, ada.call(.DELETE, entry(first)))
          let early = UUID()
          try await step(204, jon.call(.DELETE, entry(early)))
          try await step(200, jon.call(.PUT, entry(early), hello))

          try await step(204, ada.call(.DELETE, "\(path)/participants/jon"))
          #expect(await cast.devices[2].replica.removals == 1)
          #expect(await cast.devices[2].replica.threads.isEmpty)
          let unseen = UUID()
          try await step(
            201, ada.call(.PUT, entry(unseen), json(["kind": "text", "text": "Psst"])))
          try await step(201, ada.call(.PUT, "\(path)/participants/jon", "{}"))
          for device in cast.devices where device.user == "jon" {
            let copy = try #require(await device.replica.threads[thread])
            #expect(copy.entries[EntryID(unseen)] == nil)
            // Their own coming back, and nothing from before.
            #expect(copy.entries.values.map(\.system?.event) == [.joined])
          }
          try await step(
            201, jon.call(.PUT, entry(UUID()), json(["kind": "text", "text": "Back"])))
        }
      }
    }

    @Test(.timeLimit(.minutes(3)))
    func concurrentChangesConverge() async throws {
      var random = SeededGenerator.announced()
      try await Deployment.serving(Self.settings) { _, service in
        try await Cast.run(service) { cast in
          let threads = (0..<3).map { _ in ThreadID(random.uuid()) }
          for (index, thread) in threads.enumerated() {
            let people = [["userId": "jon", "role": "admin"], ["userId": "cy"]]
            let body = json([
              "kind": "message", "participants": people, "history": index == 0 ? "full" : "join",
            ])
            #expect(try await cast.ada.call(.PUT, "/v1/threads/\(thread)", body).status == 201)
          }
          // Ada is never removed, so that she has every entry; the others come and go.
          let authors = [
            Author(cast.ada, threads, random.split(), removes: ["jon", "cy"]),
            Author(cast.jon, threads, random.split(), removes: ["cy"]),
            Author(cast.cy, threads, random.split(), removes: []),
          ]
          var sent: [ThreadID: [EntryID: Author.Fate]] = [:]
          try await withThrowingTaskGroup(of: [ThreadID: [EntryID: Author.Fate]].self) { group in
            for author in authors { group.addTask { try await author.write(steps: 90) } }
            for try await fates in group {
              for (thread, entries) in fates {
                sent[thread, default: [:]].merge(entries) { first, _ in first }
              }
            }
          }
          try await cast.expectConvergence()
          try await Self.check(try await cast.ada.view(), holds: sent)
        }
      }
    }

    /// All that was acknowledged is there once, as it was left, in the order in which it was sent.
    private static func check(
      _ view: [ThreadID: Replica.View], holds sent: [ThreadID: [EntryID: Author.Fate]]
    ) async throws {
      for (thread, fates) in sent {
        let entries = try #require(view[thread]).entries
        for (id, fate) in fates {
          let entry = try #require(entries[id], "an acknowledged entry is lost")
          // 0 where the sender was removed before they could learn it.
          #expect(fate.createdSeq == 0 || fate.createdSeq == entry.createdSeq)
          #expect(fate.isDeleted ? entry.deleted == true : entry.text == fate.text)
        }
        let own = entries.values.filter { $0.kind != .system }
        #expect(Set(own.map(\.id)) == Set(fates.keys), "an entry that nobody sent")
        // Every number was given to one entry, and those that are gone were vacated by a move.
        let numbers = Set(entries.values.flatMap { [$0.seq, $0.createdSeq] })
        let last = try #require(view[thread]).state.seq
        #expect(numbers.isSubset(of: Set(1...last)))
        #expect(Set(entries.values.map(\.seq)).count == entries.count)
        #expect(Set(entries.values.map(\.createdSeq)).count == entries.count)
        #expect(last == Int64(entries.count) + fates.values.reduce(0) { $0 + $1.moves })
        for sender in Set(fates.values.map(\.sender)) {
          let numbers = fates.values.filter { $0.sender == sender && $0.createdSeq > 0 }
          let inOrder = numbers.sorted { ($0.order, $0.place) < ($1.order, $1.place) }
          #expect(inOrder.map(\.createdSeq) == numbers.map(\.createdSeq).sorted())
        }
      }
    }
  }
}

/// Ada and Jon with two devices each, and Cy with one; all of them follow.
private struct Cast {
  let ada: APIClient
  let jon: APIClient
  let cy: APIClient
  let devices: [Device]

  static func run(_ service: RunningService, _ body: (Cast) async throws -> Void) async throws {
    try await APIClient.run(service, user: "ada") { ada in
      try await APIClient.run(service, user: "jon", over: .http1) { jon in
        let cy = ada.speaking(try await service.token("cy"))
        let followers: [(Device, APIClient)] = [
          (Device(of: "ada", .events(cutAfter: .max)), ada),
          // Each event is the last of its stream: the next comes by Last-Event-ID.
          (Device(of: "ada", .events(cutAfter: 1)), jon.speaking(ada.token)),
          (Device(of: "jon", .events(cutAfter: 5)), jon),
          (Device(of: "jon", .longPoll), ada.speaking(jon.token)),
          (Device(of: "cy", .longPoll), cy),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
          for (device, client) in followers {
            group.addTask { await device.follow { client } }
          }
          try await body(Cast(ada: ada, jon: jon, cy: cy, devices: followers.map(\.0)))
          group.cancelAll()
        }
      }
    }
  }

  private func client(of user: String) -> APIClient {
    user == "ada" ? ada : user == "jon" ? jon : cy
  }

  /// Waits until each device has what the service shows, and checks that the rules were kept.
  func expectConvergence() async throws {
    for device in devices {
      let expected = try await client(of: device.user).view()
      do {
        try await eventually(within: .seconds(20)) {
          if let failure = await device.failure { throw ViewIsBroken(reason: failure) }
          return await device.replica.view == expected
        }
      } catch is ConditionNotMet {
        Issue.record("a device of \(device.user) has not arrived at the service's view")
      }
      #expect(await device.replica.violations == [])
      for copy in await device.replica.threads.values {
        #expect(copy.unread(of: device.user) == copy.state.unreadCount)
      }
    }
  }
}

/// Somebody who writes, edits, deletes, reads, adds and removes at random.
private struct Author: Sendable {
  /// What became of an entry, as its sender was told.
  struct Fate: Sendable {
    var sender: String
    /// The step in which it was sent, and its place in the batch.
    var order: Int
    var place = 0
    var text: String
    var createdSeq: Int64
    var isDeleted = false
    /// How often it was given a new number.
    var moves: Int64 = 0
  }

  let client: APIClient
  let threads: [ThreadID]
  let seed: SeededGenerator
  let removes: [String]

  init(
    _ client: APIClient, _ threads: [ThreadID], _ seed: SeededGenerator, removes: [String]
  ) {
    self.client = client
    self.threads = threads
    self.seed = seed
    self.removes = removes
  }

  func write(steps: Int) async throws -> [ThreadID: [EntryID: Fate]] {
    var random = seed
    var fates: [ThreadID: [EntryID: Fate]] = [:]
    for order in 0..<steps {
      guard let thread = threads.randomElement(using: &random) else { break }
      var own = fates[thread] ?? [:]
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<40: try await send(thread, count: 1, order, &own, &random)
      case 40..<52:
        try await send(
          thread, count: Int.random(in: 2...25, using: &random), order, &own, &random)
      case 52..<64: try await edit(thread, &own, &random)
      case 64..<72: try await delete(thread, &own, &random)
      case 72..<78: try await deleteEarly(thread, order, &own, &random)
      case 78..<90: try await read(thread, &random)
      default: try await moveSomebody(thread, &random)
      }
      fates[thread] = own
    }
    return fates
  }

  private func path(_ thread: ThreadID, _ entry: EntryID) -> String {
    "/v1/threads/\(thread)/entries/\(entry)"
  }

  private func send(
    _ thread: ThreadID, count: Int, _ order: Int, _ own: inout [EntryID: Fate],
    _ random: inout SeededGenerator
  ) async throws {
    var items: [[String: String]] = []
    for _ in 0..<count {
      items.append(["id": lowercased(random.uuid()), "kind": "text", "text": random.text()])
    }
    let answer: APIClient.Answer
    let entries: [Entry]
    if count == 1 {
      var item = items[0]
      let id = try #require(EntryID(item.removeValue(forKey: "id") ?? ""))
      answer = try await client.call(.PUT, path(thread, id), json(item))
      guard try wasAccepted(answer, 201) else { return }
      entries = [try answer.decode(Entry.self)]
    } else {
      answer = try await client.call(
        .POST, "/v1/threads/\(thread)/entries", json(["entries": items]))
      guard try wasAccepted(answer, 201) else { return }
      entries = try answer.decode(EntryPage.self).entries
    }
    #expect(entries.map(\.id.description) == items.map { $0["id"] })
    for (place, (entry, item)) in zip(entries, items).enumerated() {
      #expect(entry.text == item["text"])
      own[entry.id] = Fate(
        sender: entry.senderId.string, order: order, place: place, text: entry.text ?? "",
        createdSeq: entry.createdSeq)
    }
  }

  private func edit(
    _ thread: ThreadID, _ own: inout [EntryID: Fate], _ random: inout SeededGenerator
  ) async throws {
    guard
      let (id, fate) = own.sorted(by: { $0.value.createdSeq < $1.value.createdSeq })
        .randomElement(using: &random)
    else { return }
    let text = random.text() + " (edited)"
    let answer = try await client.call(.PATCH, path(thread, id), json(["text": text]))
    if fate.isDeleted, answer.status == 409 { return }
    guard try wasAccepted(answer, 200) else { return }
    if text != fate.text { own[id]?.moves += 1 }
    own[id]?.text = text
  }

  private func delete(
    _ thread: ThreadID, _ own: inout [EntryID: Fate], _ random: inout SeededGenerator
  ) async throws {
    guard
      let (id, fate) = own.sorted(by: { $0.value.createdSeq < $1.value.createdSeq })
        .randomElement(using: &random)
    else { return }
    guard try wasAccepted(try await client.call(.DELETE, path(thread, id)), 204) else { return }
    if !fate.isDeleted { own[id]?.moves += 1 }
    own[id]?.isDeleted = true
  }

  private func deleteEarly(
    _ thread: ThreadID, _ order: Int, _ own: inout [EntryID: Fate],
    _ random: inout SeededGenerator
  ) async throws {
    let id = EntryID(random.uuid())
    let body = json(["kind": "text", "text": random.text()])
    guard try wasAccepted(try await client.call(.DELETE, path(thread, id)), 204) else { return }
    // Who is removed in between never learns its number.
    own[id] = Fate(sender: "", order: order, text: "", createdSeq: 0, isDeleted: true)
    let answer = try await client.call(.PUT, path(thread, id), body)
    guard try wasAccepted(answer, 200) else { return }
    let entry = try answer.decode(Entry.self)
    #expect(entry.deleted == true && entry.text == nil)
    own[id]?.sender = entry.senderId.string
    own[id]?.createdSeq = entry.createdSeq
  }

  private func read(_ thread: ThreadID, _ random: inout SeededGenerator) async throws {
    let seq = Int.random(in: 1...120, using: &random)
    let body = random.chance(80) ? ["upTo": seq] : ["unreadFrom": seq]
    _ = try wasAccepted(
      try await client.call(.PUT, "/v1/threads/\(thread)/read", json(body)), 200)
  }

  private func moveSomebody(_ thread: ThreadID, _ random: inout SeededGenerator) async throws {
    guard let user = removes.randomElement(using: &random) else { return }
    let path = "/v1/threads/\(thread)/participants/\(user)"
    if random.chance(50) {
      _ = try wasAccepted(try await client.call(.DELETE, path), 204)
    } else {
      let body = json(["role": user == "jon" ? "admin" : "member"])
      let answer = try await client.call(.PUT, path, body)
      if answer.status != 201 { _ = try wasAccepted(answer, 200) }
    }
  }

  /// False where the author, or whom they meant, is not in the thread at the moment.
  private func wasAccepted(_ answer: APIClient.Answer, _ status: Int) throws -> Bool {
    if answer.status == 404 { return false }
    // An admin who was removed and came back meanwhile is a member first.
    if answer.status == 403 { return false }
    guard answer.status == status else {
      throw UnexpectedStatus(status: answer.status, code: answer.problem)
    }
    return true
  }
}
