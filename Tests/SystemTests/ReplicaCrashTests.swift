import AsyncHTTPClient
import Foundation
import Synchronization
import TestSupport
import Testing
import VocativeModel

extension ServiceTests {
  /// Several replicas of the service over one database, and the loss of one.
  struct ReplicaCrashTests {
    @Test(.timeLimit(.minutes(3)))
    func aKilledReplicaLosesAndDoublesNothing() async throws {
      var random = SeededGenerator.announced()
      try await Deployment.run { deployment in
        let fleet = try await Fleet.start(deployment)
        let threads = (0..<3).map { _ in ThreadID(random.uuid()) }
        let users = ["ada", "jon", "mei", "cy"]
        try await fleet.withClients(users) { clients in
          for thread in threads {
            let body = json(["kind": "message", "participants": users.map { ["userId": $0] }])
            #expect(try await clients[0].call(.PUT, "/v1/threads/\(thread)", body).status == 201)
          }
          let devices = users.map {
            Device(of: $0, $0 == "cy" ? .longPoll : .events(cutAfter: .max))
          }
          let ledger = Ledger()
          try await withThrowingTaskGroup(of: Void.self) { followers in
            for (device, client) in zip(devices, clients) {
              followers.addTask {
                await device.follow(survivesFailures: true) { client.at(fleet.anyURL()) }
              }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
              for index in 0..<8 {
                let sender = Sender(
                  client: clients[index % clients.count], fleet: fleet, threads: threads,
                  ledger: ledger, seed: random.split())
                group.addTask { try await sender.send(count: 60) }
              }
              group.addTask {
                for kill in 1...2 {
                  try await eventually(within: .seconds(60)) { ledger.count >= 120 * kill }
                  try await fleet.killAndRestart(kill % 2)
                }
              }
              try await group.waitForAll()
            }
            try await Self.check(
              clients.map { $0.at(fleet.anyURL()) }, devices, ledger, threads)
            followers.cancelAll()
          }
        }
        try await fleet.stop()
      }
    }

    private static func check(
      _ clients: [APIClient], _ devices: [Device], _ ledger: Ledger, _ threads: [ThreadID]
    ) async throws {
      let view = try await clients[0].view()
      let sent = ledger.sent
      #expect(sent.count == 8 * 60)
      #expect(view.values.reduce(0) { $0 + $1.entries.count } == sent.count)
      for (id, line) in sent {
        let entry = try #require(view[line.thread]?.entries[id], "an acknowledged send is lost")
        #expect(entry.text == line.text && entry.senderId.string == line.sender)
        #expect(entry.seq == line.seq && entry.createdSeq == line.seq)
      }
      for thread in threads {
        let copy = try #require(view[thread])
        let numbers = copy.entries.values.map(\.seq).sorted()
        #expect(numbers == Array(1...copy.state.seq), "a number is missing or given twice")
      }
      for (device, client) in zip(devices, clients) {
        let expected = try await client.view()
        try await eventually(within: .seconds(20)) { await device.replica.view == expected }
        #expect(await device.replica.violations == [])
        #expect(await device.failure == nil)
      }
      // Otherwise the kills were not felt, and nothing was tested.
      var interruptions = ledger.retries
      for device in devices { interruptions += await device.interruptions }
      #expect(interruptions > 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func wakeUpsCrossReplicas() async throws {
      try await Deployment.run { deployment in
        let fleet = try await Fleet.start(deployment)
        try await fleet.withClients(["ada", "jon"]) { clients in
          let (ada, jon) = (clients[0].at(fleet.url(0)), clients[1])
          let thread = ThreadID(UUID())
          let body = json(["kind": "message", "participants": [["userId": "jon"]]])
          #expect(try await ada.call(.PUT, "/v1/threads/\(thread)", body).status == 201)
          let device = Device(of: "jon", .events(cutAfter: .max))
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await device.follow { jon.at(fleet.url(1)) } }
            try await eventually { await device.replica.threads[thread] != nil }
            var delays: [Duration] = []
            for _ in 0..<20 {
              let id = EntryID(UUID())
              let answer = try await ada.call(
                .PUT, "/v1/threads/\(thread)/entries/\(id)", json(["kind": "text", "text": "Hi"]))
              #expect(answer.status == 201)
              let acknowledged = ContinuousClock.now
              // The poll would take a minute.
              try await eventually(within: .seconds(5)) { await device.arrival(of: id) != nil }
              let arrival = try #require(await device.arrival(of: id))
              delays.append(arrival - acknowledged)
            }
            print(
              "from the acknowledgement at one replica to the follower at another:",
              "median \(delays.sorted()[delays.count / 2])")
            group.cancelAll()
          }
        }
        try await fleet.stop()
      }
    }
  }
}

/// Two replicas.
private final class Fleet: Sendable {
  private let deployment: Deployment
  private let replicas: Mutex<[RunningService]>
  private static let settings = ["--events-poll-seconds", "60"]

  static func start(_ deployment: Deployment) async throws -> Fleet {
    let first = try await deployment.start(settings)
    let second = try await deployment.start(settings)
    return Fleet(deployment, [first, second])
  }

  private init(_ deployment: Deployment, _ replicas: [RunningService]) {
    self.deployment = deployment
    self.replicas = Mutex(replicas)
  }

  func url(_ index: Int) -> String { replicas.withLock { $0[index].baseURL } }
  /// Also one that has just been killed, as a client would find it.
  func anyURL() -> String { url(Int.random(in: 0...1)) }

  func killAndRestart(_ index: Int) async throws {
    let victim = replicas.withLock { $0[index] }
    try await victim.kill()
    let successor = try await deployment.start(Self.settings)
    replicas.withLock { $0[index] = successor }
  }

  func stop() async throws {
    for service in replicas.withLock({ $0 }) { #expect(try await service.stop() == 0) }
  }

  /// A client with connections of its own for each user.
  func withClients(
    _ users: [String], _ body: ([APIClient]) async throws -> Void
  ) async throws {
    try await withClients(users[...], [], body)
  }

  private func withClients(
    _ users: ArraySlice<String>, _ clients: [APIClient], _ body: ([APIClient]) async throws -> Void
  ) async throws {
    guard let user = users.first else { return try await body(clients) }
    let service = replicas.withLock { $0[0] }
    let version = clients.count % 2 == 0 ? APIClient.Version.http2 : .http1
    try await APIClient.run(service, user: user, over: version) { client in
      try await withClients(users.dropFirst(), clients + [client], body)
    }
  }
}

/// What was acknowledged.
private final class Ledger: Sendable {
  struct Line: Sendable {
    var thread: ThreadID
    var sender: String
    var text: String
    var seq: Int64
  }

  private let state = Mutex((lines: [EntryID: Line](), retries: 0))

  var sent: [EntryID: Line] { state.withLock { $0.lines } }
  var count: Int { state.withLock { $0.lines.count } }
  var retries: Int { state.withLock { $0.retries } }

  func write(_ line: Line, _ id: EntryID) { state.withLock { $0.lines[id] = line } }
  func countRetry() { state.withLock { $0.retries += 1 } }
}

/// Sends to any replica, and sends again what was not acknowledged.
private struct Sender: Sendable {
  let client: APIClient
  let fleet: Fleet
  let threads: [ThreadID]
  let ledger: Ledger
  let seed: SeededGenerator

  func send(count: Int) async throws {
    var random = seed
    for _ in 0..<count {
      let id = EntryID(random.uuid())
      let thread = try #require(threads.randomElement(using: &random))
      let text = random.text()
      let body = json(["kind": "text", "text": text])
      let entry = try await acknowledged(thread, id, body, &random)
      ledger.write(
        Ledger.Line(
          thread: thread, sender: entry.senderId.string, text: text, seq: entry.seq),
        id)
    }
  }

  private func acknowledged(
    _ thread: ThreadID, _ id: EntryID, _ body: String, _ random: inout SeededGenerator
  ) async throws -> Entry {
    while true {
      let url = fleet.url(random.chance(50) ? 0 : 1)
      do {
        let answer = try await client.at(url).call(
          .PUT, "/v1/threads/\(thread)/entries/\(id)", bytes: Data(body.utf8),
          timeout: .seconds(10))
        if answer.status != 503 {
          // An acknowledgement may get lost, too: then the same send again is the same entry.
          guard random.chance(10) else { return try answer.decode(Entry.self) }
        }
      } catch let error where !(error is UnexpectedStatus) && !(error is DecodingError) {
        try await Task.sleep(for: .milliseconds(5))
      }
      ledger.countRetry()
    }
  }
}
