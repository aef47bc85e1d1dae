import Testing

@testable import PostgresWire

let read = Statement(name: "r", sql: "read")
let write = Statement(name: "w", sql: "write", parameters: [.int8])
let bad = Statement(name: "b", sql: "bad")
let hang = Statement(name: "h", sql: "hang")
let fatal = Statement(name: "f", sql: "fatal")
let second: UInt64 = 1_000_000_000

/// Turns an engine over a fake server, with a clock that jumps to whatever is due next.
final class Harness {
  let server = FakeServer()
  let engine: Engine
  var now: UInt64 = second
  var outcomes: [ObjectIdentifier: [Outcome]] = [:]
  var listening: [String] = []
  var notifications: [Notification] = []
  var names: [[String]] = []
  /// Keeps works alive, so that their identities stay theirs.
  private var works: [Work] = []

  init(
    hosts: [Host] = [Host(name: "/fake", address: "", port: "")], target: String = "any",
    change: (inout EngineSettings) -> Void = { _ in }
  ) {
    var settings = EngineSettings(hosts: hosts, targetSessionAttributes: target)
    settings.readConnections = 1
    settings.writeConnections = 1
    settings.leaseConnections = 1
    change(&settings)
    engine = Engine(settings: settings, libpq: server, seed: 1)
    engine.start()
  }

  @discardableResult
  func submit(
    _ kind: Work.Kind, _ steps: [(Statement, Parameters)] = [], within: UInt64 = 60 * second
  ) -> Work {
    let work = Work(kind, steps.map { Step($0.0, $0.1) }, deadline: now &+ within)
    works.append(work)
    engine.submit(work, now: now)
    return work
  }

  /// One round: sockets, the engine, its effects. True while there is something to do.
  @discardableResult
  func turn() -> Bool {
    engine.advance(now: now)
    var progress = drain()
    for link in engine.links {
      guard let connection = link.pq as? FakeConnection else { continue }
      let connecting: Bool
      if case .connecting = link.phase { connecting = true } else { connecting = false }
      if connecting || (link.watched.reading && connection.hasInput) {
        progress = true
        engine.socketReady(
          link: link.id, generation: link.generation, readable: true, writable: connecting, now: now
        )
      }
    }
    return drain() || progress
  }

  private func drain() -> Bool {
    let any = !engine.effects.isEmpty || !engine.completions.isEmpty
    let effects = engine.effects
    engine.effects = []
    for effect in effects {
      switch effect {
      case .listening(let channel): listening.append(channel)
      case .notification(let notification): notifications.append(notification)
      case .resolve(let link, let generation, let asked):
        names.append(asked)
        engine.resolved(
          link: link, generation: generation, addresses: ["a.example": ["10.0.0.1", "10.0.0.2"]],
          now: now)
      default: break
      }
    }
    for (work, outcome) in engine.completions {
      outcomes[ObjectIdentifier(work), default: []].append(outcome)
    }
    engine.completions = []
    return any
  }

  /// Turns until nothing moves, letting time pass up to `seconds` while `done` is not true.
  func settle(seconds: UInt64 = 120, until done: () -> Bool = { false }) {
    let end = now + seconds * second
    var rounds = 0
    while rounds < 100_000 {
      rounds += 1
      if turn() { continue }
      if done() { return }
      let next = engine.nextWakeUp
      guard next <= end else { return }
      now = max(now, next)
    }
    Issue.record("the engine never comes to rest")
  }

  func outcome(_ work: Work) -> Outcome? {
    let all = outcomes[ObjectIdentifier(work)] ?? []
    #expect(all.count <= 1, "answered \(all.count) times")
    return all.first
  }

  func error(_ work: Work) -> PostgresError? {
    guard case .failure(let error) = outcome(work) else { return nil }
    return error
  }

  func succeeded(_ work: Work) -> Bool {
    guard let outcome = outcome(work) else { return false }
    if case .failure = outcome { return false }
    return true
  }
}
