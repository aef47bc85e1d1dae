import Crypto
import DequeModule
import FoundationEssentials
import NIOConcurrencyHelpers
import Postgres
import PostgresWire
import VocativeModel

/// Sends that succeed or fail together: one, or a batch, of one sender to one thread.
struct SendUnit: Sendable {
  struct Item: Sendable {
    var id: EntryID
    var entry: SendEntry
    var hash: [UInt8]

    init(id: EntryID, entry: SendEntry) {
      self.id = id
      self.entry = entry
      hash = Array(SHA256.hash(data: entry.normalized).prefix(16))
    }
  }

  var thread: ThreadID
  var sender: UserID
  var items: [Item]
}

/// Groups the sends of many callers into one transaction, so that they share its commit.
///
/// A lane takes what waits once its last transaction is answered; nothing waits for a timer, so a
/// lone send goes out at once, in the task of its caller. Sends are idempotent by their ids. So a group whose outcome is not
/// known, because the connection was lost, is simply sent again, and a group that fails is taken
/// apart, so that the one at fault fails alone.
final class SendGroups: Sendable {
  /// Entries in one transaction, at most (a batch may alone be more).
  private static let groupSize = 32
  /// Transactions at the same time. More only wait for each other's commits.
  private static let lanes = 2
  /// Until when a group is sent again when its outcome is not known. A statement's own deadline is
  /// longer: what ran into that is not sent again.
  private static let patience = Duration.seconds(8)
  /// Units that may wait; beyond it the service says so at once.
  private static let maximumWaiting = 4096

  private typealias Answer = CheckedContinuation<
    Result<[EntryStore.SendOutcome], PostgresError>, Never
  >
  private struct Waiting {
    var unit: SendUnit
    var answer: Answer
  }
  private struct State {
    var waiting: Deque<Waiting> = []
    var busyLanes = 0
  }

  private let database: any Database
  private let wakeUps: WakeUps
  private let state = NIOLockedValueBox(State())

  init(database: any Database, wakeUps: WakeUps) {
    self.database = database
    self.wakeUps = wakeUps
  }

  func send(_ unit: SendUnit) async throws(PostgresError) -> [EntryStore.SendOutcome] {
    guard takeFreeLane() else { return try await enqueue(unit) }
    defer { passLaneOn() }
    return try await store([unit])[0]
  }

  private func enqueue(_ unit: SendUnit) async throws(PostgresError) -> [EntryStore.SendOutcome] {
    let result = await withCheckedContinuation { (answer: Answer) in
      let isFull = state.withLockedValue { state in
        guard state.waiting.count < Self.maximumWaiting else { return true }
        state.waiting.append(Waiting(unit: unit, answer: answer))
        return false
      }
      if isFull { return answer.resume(returning: .failure(PostgresError(.queueFull))) }
      // A lane may have become free since the caller looked.
      if takeFreeLane() { passLaneOn() }
    }
    return try result.get()
  }

  private func takeFreeLane() -> Bool {
    state.withLockedValue { state in
      guard state.busyLanes < Self.lanes else { return false }
      state.busyLanes += 1
      return true
    }
  }

  /// A caller is done with a lane: it serves those who wait, or is free.
  private func passLaneOn() {
    let isWanted = state.withLockedValue { state in
      if state.waiting.isEmpty { state.busyLanes -= 1 }
      return !state.waiting.isEmpty
    }
    if isWanted { Task { await runLane() } }
  }

  private func runLane() async {
    while let group = nextGroup() {
      await run(group)
    }
  }

  /// What a lane does next; nil ends it.
  private func nextGroup() -> [Waiting]? {
    state.withLockedValue { state in
      var group: [Waiting] = []
      var deferred: [Waiting] = []
      var entries = 0
      var keys: Set<Key> = []
      while let next = state.waiting.first {
        guard group.isEmpty || entries + next.unit.items.count <= Self.groupSize else { break }
        state.waiting.removeFirst()
        let new = next.unit.items.map { Key(thread: next.unit.thread, entry: $0.id) }
        // The statement judges ids by what is stored, so the same id must not be in it twice.
        if new.contains(where: keys.contains) {
          deferred.append(next)
        } else {
          keys.formUnion(new)
          entries += new.count
          group.append(next)
        }
      }
      for waiting in deferred.reversed() { state.waiting.prepend(waiting) }
      if group.isEmpty {
        state.busyLanes -= 1
        return nil
      }
      return group
    }
  }

  private struct Key: Hashable {
    var thread: ThreadID
    var entry: EntryID
  }

  private func run(_ group: [Waiting]) async {
    do throws(PostgresError) {
      let outcomes = try await store(group.map(\.unit))
      for (waiting, outcome) in zip(group, outcomes) {
        waiting.answer.resume(returning: .success(outcome))
      }
    } catch {
      guard group.count > 1, error.code == .server || error.code == .badParameter else {
        for waiting in group { waiting.answer.resume(returning: .failure(error)) }
        return
      }
      for waiting in group { await run([waiting]) }
    }
  }

  private func store(
    _ units: [SendUnit]
  ) async throws(PostgresError) -> [[EntryStore.SendOutcome]] {
    let steps = [
      (
        Statements.lockThreads,
        Parameters(units.map(\.thread.uuid), units.map(\.sender.string))
      ),
      (Statements.lockFeeds, Parameters([String]())),
      (Statements.sendEntries, Self.parameters(units)),
      (Statements.threadsAdvance, Parameters([UUID]())),
    ]
    let deadline = ContinuousClock.now + Self.patience
    var unknown: PostgresError?
    while true {
      do throws(PostgresError) {
        let results = try await database.transaction(steps)
        wakeUps.moved(try FeedHead.decode(results[3]))
        return try Self.outcomes(results[2], units)
      } catch {
        if error.code == .outcomeUnknown { unknown = error }
        guard error.code == .outcomeUnknown || error.code == .connectionLost,
          ContinuousClock.now < deadline
        else {
          // Whatever comes later, what was sent before may have been stored.
          throw error.code == .server ? error : unknown ?? error
        }
      }
    }
  }

  private static func parameters(_ units: [SendUnit]) -> Parameters {
    var items: [(unit: Int32, SendUnit, SendUnit.Item)] = []
    for (number, unit) in units.enumerated() {
      for item in unit.items { items.append((Int32(number), unit, item)) }
    }
    var parameters = Parameters()
    parameters.append(items.map { $0.1.thread.uuid })
    parameters.append(items.map { $0.2.id.uuid })
    parameters.append(items.map { $0.unit })
    parameters.append(items.map { $0.1.sender.string })
    parameters.append(items.map { $0.2.entry.kind.rawValue })
    parameters.append(items.map { $0.2.entry.text })
    parameters.append(items.map { $0.2.entry.sentAt?.timestamp })
    parameters.append(items.map { $0.2.entry.replyTo?.uuid })
    parameters.append(items.map { $0.2.entry.recipients.map(JSONB.init(utf8:)) })
    parameters.append(items.map { $0.2.entry.attachmentsJSON.map(JSONB.init(utf8:)) })
    parameters.append(items.map { $0.2.hash })
    return parameters
  }

  private static func outcomes(
    _ rows: Rows, _ units: [SendUnit]
  ) throws(PostgresError) -> [[EntryStore.SendOutcome]] {
    var next = 0
    var outcomes: [[EntryStore.SendOutcome]] = []
    for unit in units {
      var ofUnit: [EntryStore.SendOutcome] = []
      for _ in unit.items {
        ofUnit.append(try outcome(rows[next]))
        next += 1
      }
      outcomes.append(ofUnit)
    }
    return outcomes
  }

  private static func outcome(_ row: Row) throws(PostgresError) -> EntryStore.SendOutcome {
    switch try row.decode(String.self, at: 0) {
    case "created": .created(try EntryRecord(row, from: 1))
    case "replayed": .replayed(try EntryRecord(row, from: 1))
    case "absent": .absent
    case "conflict": .conflict
    case "recipients": .badRecipients
    case "reply": .badReply
    case "refused": .refused
    default: throw .unknownOutcome(Statements.sendEntries)
    }
  }
}
