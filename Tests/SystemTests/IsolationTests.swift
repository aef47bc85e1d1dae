import Foundation
import NIOHTTP1
import TestSupport
import Testing
import VocativeModel

extension ServiceTests {
  /// No user can read or change anything of a thread that they are not in: one property over every
  /// route of the contract that the service itself serves.
  struct IsolationTests {
    @Test(.timeLimit(.minutes(2)))
    func aThreadDoesNotExistToThoseWhoAreNotInIt() async throws {
      var random = SeededGenerator.announced()
      try await Deployment.serving(["--log-level", "trace"]) { deployment, service in
        try await APIClient.run(service, user: nil) { nobody in
          let operations = try await Operation.all(of: nobody)
          // Fewer would mean that the contract was not read right.
          #expect(operations.count >= 16)
          #expect(operations.filter(\.isAboutAThread).count >= 10)
          for _ in 0..<5 {
            let world = try await World.make(nobody, service, &random)
            let before = try await deployment.dump().split(separator: "\n")
            for operation in operations { try await Self.check(operation, world, &random) }
            let after = try await deployment.dump().split(separator: "\n")
            #expect(after == before, "\(after.difference(from: before))")
          }
        }
      }
    }

    private static func check(
      _ operation: Operation, _ world: World, _ random: inout SeededGenerator
    ) async throws {
      let variables = world.variables(&random)
      if !operation.isOpen {
        let answer = try await operation.call(world.nobody, variables)
        #expect(answer.status == 401, "\(operation) without a token: \(answer.text)")
        world.expectNothing(in: answer, "\(operation)")
      }
      for (name, outsider) in [
        ("a stranger", world.stranger), ("a former participant", world.former),
      ] {
        guard operation.isAboutAThread else {
          // A list or a feed of the outsider's own. What they write of their own changes what is
          // stored, and is tried by `oneUsersVocabularyIsNoOtherUsers`.
          if operation.isOpen || operation.streams || operation.writesOwn || operation.isForServices
          {
            continue
          }
          let answer = try await operation.call(outsider, variables)
          #expect(
            answer.status == (operation.needsConfirmation ? 400 : 200),
            "\(operation) by \(name): \(answer.text)")
          world.expectNothing(in: answer, "\(operation) by \(name)", isFormer: name != "a stranger")
          continue
        }
        let answer = try await operation.call(outsider, variables)
        #expect(answer.status == 404, "\(operation) by \(name): \(answer.text)")
        world.expectNothing(in: answer, "\(operation) by \(name)")
        // A thread that nobody has made answers alike; to make one is anybody's right.
        guard !operation.makesAThread else { continue }
        var absent = variables
        absent["threadId"] = lowercased(random.uuid())
        let reference = try await operation.call(outsider, absent)
        #expect(
          answer.body == reference.body && names(answer) == names(reference),
          "\(operation) by \(name) tells of a thread: \(answer.text)")
      }
    }

    private static func names(_ answer: APIClient.Answer) -> [String] {
      answer.headers.map { "\($0.name.lowercased()): \($0.name == "date" ? "" : $0.value)" }
        .sorted()
    }

    /// Vocabulary has no address that names a user: whatever somebody calls, it is their own.
    @Test(.timeLimit(.minutes(1)))
    func oneUsersVocabularyIsNoOtherUsers() async throws {
      var random = SeededGenerator.announced()
      try await Deployment.serving(["--log-level", "trace"]) { deployment, service in
        try await APIClient.run(service, user: nil) { nobody in
          let world = try await World.make(nobody, service, &random)
          for client in [world.owner, world.member] {
            let answer = try await client.call(
              .PUT, "/v1/vocabulary/contactName", json(["strings": [World.secret]]))
            #expect(answer.status == 200)
          }
          func others() async throws -> [Substring] {
            try await deployment.dump().split(separator: "\n").filter { line in
              !world.users.suffix(2).contains { line.contains($0) }
            }
          }
          let before = try await others()
          for operation in try await Operation.all(of: nobody) where operation.isVocabulary {
            let variables = world.variables(&random)
            for client in [world.former, world.stranger] {
              let answer = try await operation.call(client, variables)
              if operation.isForServices {
                #expect(answer.problem == "missing-scope")
              } else {
                #expect([200, 204].contains(answer.status), "\(operation): \(answer.text)")
              }
              #expect(!answer.text.contains(World.secret), "\(operation)")
              let derived = try await client.call(
                .GET, "/v1/vocabulary/contactName?derived=include")
              #expect(derived.status == 200 && !derived.text.contains(World.secret))
            }
          }
          #expect(try await others() == before)
          #expect(!service.log.contains(World.secret))
        }
      }
    }

    /// The stream of somebody who is not in a thread stays silent about it.
    @Test(.timeLimit(.minutes(1)))
    func streamsTellNothingToOutsiders() async throws {
      var random = SeededGenerator.announced()
      try await Deployment.serving { _, service in
        try await APIClient.run(service, user: nil) { nobody in
          let world = try await World.make(nobody, service, &random)
          let devices = [
            Device(of: "stranger", .events(cutAfter: .max)),
            Device(of: "former", .events(cutAfter: .max)), Device(of: "member", .longPoll),
          ]
          let clients = [world.stranger, world.former, world.member]
          try await withThrowingTaskGroup(of: Void.self) { group in
            for (device, client) in zip(devices, clients) {
              group.addTask { await device.follow { client } }
            }
            for _ in 0..<20 {
              let answer = try await world.owner.call(
                .PUT, "/v1/threads/\(world.thread)/entries/\(lowercased(random.uuid()))",
                json(["kind": "text", "text": World.secret]))
              #expect(answer.status == 201)
            }
            let seen = try await world.member.view()
            try await eventually { await devices[2].replica.view == seen }
            for device in devices.dropLast() {
              try await eventually { await device.replica.token != nil }
              #expect(await device.replica.threads.isEmpty)
            }
            // Their own lines are open all the same.
            let own = lowercased(random.uuid())
            for (device, client) in zip(devices, clients).dropLast() {
              let path = "/v1/threads/\(own.dropLast(1))\(device.user == "former" ? "a" : "b")"
              let answer = try await client.call(
                .PUT, path, #"{"kind":"message","participants":[]}"#)
              #expect(answer.status == 201)
              try await eventually { await device.replica.threads.count == 1 }
            }
            group.cancelAll()
          }
        }
      }
    }
  }
}

/// A thread with an owner, a member and a former participant, and somebody who was never in it.
private struct World {
  static let secret = "hush-hush"

  let nobody: APIClient
  let owner: APIClient
  let member: APIClient
  let former: APIClient
  let stranger: APIClient
  let users: [String]
  let thread: String
  /// One of the owner's, one of the former participant's, one deleted.
  let entries: [String]

  static func make(
    _ nobody: APIClient, _ service: RunningService, _ random: inout SeededGenerator
  ) async throws -> World {
    // Ids are any text: these want escapes in a path.
    let users = ["owner", "member", "former", "stranger"].map { "\($0)/\(random.next())%é早" }
    var clients: [APIClient] = []
    for user in users { clients.append(nobody.speaking(try await service.token(user))) }
    let world = World(
      nobody: nobody, owner: clients[0], member: clients[1], former: clients[2],
      stranger: clients[3], users: users, thread: lowercased(random.uuid()),
      entries: (0..<3).map { _ in lowercased(random.uuid()) })
    try await world.fill(&random)
    return world
  }

  private func fill(_ random: inout SeededGenerator) async throws {
    let path = "/v1/threads/\(thread)"
    let body = json([
      "kind": random.chance(50) ? "mail" : "message", "subject": Self.secret,
      "history": random.chance(50) ? "full" : "join",
      "participants": users[1...2].map { ["userId": $0, "name": ["display": Self.secret]] },
    ])
    try await require(201, owner.call(.PUT, path, body))
    let text = json(["kind": "text", "text": Self.secret])
    for (index, client) in [owner, former, member].enumerated() {
      try await require(201, client.call(.PUT, "\(path)/entries/\(entries[index])", text))
    }
    try await require(204, member.call(.DELETE, "\(path)/entries/\(entries[2])"))
    let leaves = random.chance(50)
    let out = "\(path)/participants/\(Operation.encoded(users[2]))"
    try await require(204, (leaves ? former : owner).call(.DELETE, out))
  }

  private func require(_ status: Int, _ answer: APIClient.Answer) async throws {
    guard answer.status == status else {
      throw UnexpectedStatus(status: answer.status, code: answer.problem)
    }
  }

  /// What stands for the variables of a path: often what is there, sometimes what is not.
  func variables(_ random: inout SeededGenerator) -> [String: String] {
    [
      "threadId": thread,
      "entryId": (entries + [lowercased(random.uuid())]).randomElement(using: &random) ?? "",
      "type": "contactName",
      "userId": Operation.encoded(
        (users + ["unheard-of-\(random.next())"]).randomElement(using: &random) ?? ""),
    ]
  }

  func expectNothing(in answer: APIClient.Answer, _ what: String, isFormer: Bool = false) {
    #expect(!answer.text.contains(Self.secret), "\(what) tells a content")
    for entry in entries { #expect(!answer.text.contains(entry), "\(what) tells an entry") }
    for user in users.prefix(2) { #expect(!answer.text.contains(user), "\(what) tells a user") }
    // A former participant's feed says that they are out, and nothing else.
    if isFormer, answer.text.contains(thread) {
      #expect(answer.text.contains(#"{"id":"\#(thread)","removed":true}"#), "\(what)")
    } else {
      #expect(!answer.text.contains(thread), "\(what) tells a thread")
    }
  }
}

/// One call of the contract, with the body that the contract gives as its example.
private struct Operation: CustomStringConvertible {
  var method: HTTPMethod
  var path: String
  var isOpen: Bool
  var streams: Bool
  var body: String?

  var description: String { "\(method) \(path)" }
  var isAboutAThread: Bool { path.contains("{threadId}") }
  /// Writes what is the caller's own, whoever that is.
  var writesOwn: Bool { path.hasPrefix("/v1/vocabulary") && method != .GET }
  /// For tokens of another scope than a device's.
  var isForServices: Bool { path.hasPrefix("/v1/jobs") }
  var isVocabulary: Bool { path.contains("/vocabulary") || path.contains("/resolve") }
  /// The contract's example is nobody's confirmation.
  var needsConfirmation: Bool { path.hasSuffix("/handle") }
  var makesAThread: Bool { method == .PUT && path.hasSuffix("{threadId}") }

  /// Every call of the document that the service serves.
  static func all(of client: APIClient) async throws -> [Operation] {
    let document = try #require(try await client.call(.GET, "/openapi.json").json)
    let paths = try #require(document["paths"] as? [String: [String: Any]])
    var operations: [Operation] = []
    for (path, item) in paths.sorted(by: { $0.key < $1.key }) {
      for method in ["get", "put", "post", "patch", "delete", "head", "options"] {
        guard let operation = item[method] as? [String: Any] else { continue }
        operations.append(try make(method, path, operation))
      }
    }
    return operations
  }

  private static func make(
    _ method: String, _ path: String, _ operation: [String: Any]
  ) throws -> Operation {
    var body: String?
    if let request = operation["requestBody"] as? [String: Any] {
      let content = request["content"] as? [String: [String: Any]]
      let example = try #require(
        content?.values.first?["example"],
        "\(method) \(path) has no example, so that it cannot be tried")
      // An example of lines is text.
      body =
        try example as? String
        ?? String(decoding: JSONSerialization.data(withJSONObject: example), as: UTF8.self)
    }
    let responses = operation["responses"] as? [String: Any]
    let success = (responses?["200"] as? [String: Any])?["content"] as? [String: Any]
    return Operation(
      method: HTTPMethod(rawValue: method.uppercased()), path: path,
      isOpen: (operation["security"] as? [Any])?.isEmpty == true,
      streams: success?["text/event-stream"] != nil, body: body)
  }

  func call(_ client: APIClient, _ variables: [String: String]) async throws -> APIClient.Answer {
    var target = path
    for (name, value) in variables {
      target = target.replacingOccurrences(of: "{\(name)}", with: value)
    }
    #expect(!target.contains("{"), "\(self) has a variable that this test does not know")
    return try await client.call(method, target, body)
  }

  static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }
}
