import DequeModule

/// All protocol logic of a client: connections, pipelines, groups, leases, deadlines.
///
/// Pure: it reaches libpq, time, randomness and the world through what it is given. Its one thread
/// calls an entry point for each thing that happens, then `advance`, then carries out `effects` and
/// delivers `completions`.
package final class Engine {
  let settings: EngineSettings
  let libpq: any LibPQ
  var random: SeededRandom

  let readLinks: [Link]
  let writeLinks: [Link]
  let leaseLinks: [Link]
  let listenLink: Link
  package let links: [Link]

  var reads = Deque<Work>()
  var writes = Deque<Work>()
  /// Transactions and acquisitions, first come first served.
  var exclusives = Deque<Work>()

  /// Channels that are wanted, and those that the connection listens to.
  var wantedChannels: Set<String> = []
  var heardChannels: Set<String> = []
  /// What the LISTEN under way brings about.
  var pendingChannels: Set<String> = []

  /// The earliest deadline of any work; may be of one that is over already.
  var earliestDeadline = UInt64.max
  private var started = false
  private var stopDeadline: UInt64?
  package private(set) var isStopped = false

  package var effects: [Effect] = []
  package var completions: [(work: Work, outcome: Outcome)] = []
  package var connects = 0
  package var losses = 0
  package var lastConnectError: String?

  /// - Parameter seed: of the jitter.
  package init(settings: EngineSettings, libpq: any LibPQ, seed: UInt64) {
    self.settings = settings
    self.libpq = libpq
    random = SeededRandom(seed: seed)
    let backoff = Backoff(base: settings.backoffBase, cap: settings.backoffCap)
    var id = 0
    func make(_ role: Link.Role, _ count: Int) -> [Link] {
      (0..<count).map { _ in
        defer { id += 1 }
        return Link(id: id, role: role, backoff: backoff)
      }
    }
    readLinks = make(.read, settings.readConnections)
    writeLinks = make(.write, settings.writeConnections)
    leaseLinks = make(.lease, settings.leaseConnections)
    listenLink = Link(id: id, role: .listen, backoff: backoff)
    links = readLinks + writeLinks + leaseLinks + [listenLink]
  }

  // MARK: What happens

  /// Begins to connect.
  package func start() { started = true }

  /// A caller asks for something.
  package func submit(_ work: Work, now: UInt64) {
    work.state = .queued
    if work.isCancelledEarly { return fail(work, PostgresError(.cancelled)) }
    if isStopped { return fail(work, PostgresError(.poolShutDown)) }
    if case .leased(let lease, let step) = work.kind {
      earliestDeadline = min(earliestDeadline, work.deadline)
      return submit(work, on: lease, step, now: now)
    }
    if stopDeadline != nil { return fail(work, PostgresError(.poolShutDown)) }
    if work.deadline <= now { return expire(work) }
    earliestDeadline = min(earliestDeadline, work.deadline)
    switch work.kind {
    case .read: enqueue(work, in: \.reads)
    case .write: enqueue(work, in: \.writes)
    case .transaction, .acquire: enqueue(work, in: \.exclusives)
    case .leased, .housekeeping: break
    }
  }

  private func enqueue(_ work: Work, in queue: ReferenceWritableKeyPath<Engine, Deque<Work>>) {
    if self[keyPath: queue].count >= settings.maximumWaiting {
      return fail(work, PostgresError(.queueFull, message: "\(settings.maximumWaiting) wait"))
    }
    self[keyPath: queue].append(work)
  }

  /// A caller's task was cancelled.
  ///
  /// What is sent runs on, and its result is thrown away: most is over before a cancel request would
  /// get there. Its deadline still bounds it.
  package func cancel(_ work: Work) {
    switch work.state {
    // Its caller does not wait yet; it is answered when it comes.
    case .new: work.isCancelledEarly = true
    case .queued: fail(work, PostgresError(.cancelled))
    case .sent:
      fail(work, mayHaveTakenEffect(work) ? outcomeUnknown("cancelled") : PostgresError(.cancelled))
    case .finished: break
    }
  }

  /// A socket can be read or written.
  package func socketReady(
    link id: Int, generation: UInt32, readable: Bool, writable: Bool, now: UInt64
  ) {
    let link = links[id]
    guard link.generation == generation, link.pq != nil else { return }
    switch link.phase {
    case .connecting: pollConnection(link, now: now)
    case .settingUp, .ready:
      if writable { flush(link, now: now) }
      if readable, link.pq != nil { receive(link, now: now) }
    case .down, .resolving, .closed: break
    }
  }

  /// The channels to listen to are now these.
  package func listen(to channels: Set<String>, announcing channel: String?) {
    wantedChannels = channels
    guard let channel, heardChannels.contains(channel) else { return }
    if listenLink.script == nil || pendingChannels.contains(channel) {
      effects.append(.listening(channel))
    }
  }

  /// Stops once all is done, or at `deadline`. Leases go on until then; nothing new is accepted.
  package func shutDown(by deadline: UInt64) {
    stopDeadline = min(stopDeadline ?? .max, deadline)
  }

  // MARK: Turning

  /// Does what is due: timers, sending, shutting down. Called after every round of events.
  package func advance(now: UInt64) {
    if isStopped { return }
    if now >= earliestDeadline { expireOverdue(now: now) }
    if started {
      for link in links { runTimers(link, now: now) }
      dispatchReads(now: now)
      dispatchWrites(now: now)
      dispatchExclusives(now: now)
      updateListening(now: now)
    }
    for link in links { updateWatch(link) }
    if let stopDeadline, now >= stopDeadline || isDrained { stop() }
  }

  /// When `advance` has to be called at the latest; `.max` for never.
  package var nextWakeUp: UInt64 {
    if isStopped { return .max }
    var next = min(earliestDeadline, stopDeadline ?? .max)
    guard started else { return next }
    for link in links {
      switch link.phase {
      case .down(let until):
        if link.role != .listen || !wantedChannels.isEmpty { next = min(next, until) }
      case .connecting(let until), .settingUp(let until): next = min(next, until)
      case .ready: next = min(next, link.cancelDeadline, link.leaseEnd)
      case .resolving, .closed: break
      }
    }
    return next
  }

  private var isDrained: Bool {
    reads.isEmpty && writes.isEmpty && exclusives.isEmpty
      && links.allSatisfy { $0.slots.isEmpty && $0.lease == nil }
  }

  private func stop() {
    isStopped = true
    for queue in [reads, writes, exclusives] {
      for work in queue { fail(work, PostgresError(.poolShutDown)) }
    }
    reads = []
    writes = []
    exclusives = []
    for link in links {
      for batch in link.batches {
        for work in batch.members where work.state == .sent {
          fail(
            work,
            mayHaveTakenEffect(work) && batch.sent
              ? outcomeUnknown("shut down") : PostgresError(.poolShutDown))
        }
      }
      close(link, reason: PostgresError(.poolShutDown))
      link.phase = .closed
    }
  }

  // MARK: Answering

  /// Answers a work, once.
  func complete(_ work: Work, _ outcome: Outcome) {
    guard work.state != .finished else { return }
    work.state = .finished
    work.results = []
    if case .housekeeping = work.kind { return }
    completions.append((work, outcome))
  }

  func fail(_ work: Work, _ error: PostgresError) { complete(work, .failure(error)) }

  func outcomeUnknown(_ why: String) -> PostgresError {
    PostgresError(.outcomeUnknown, message: "\(why) after it was sent and before it was answered")
  }
}

/// What the engine wants done.
package enum Effect {
  /// Watch a connection's socket for these; replaces what was watched.
  case watch(link: Int, generation: UInt32, socket: Int32, reading: Bool, writing: Bool)
  /// Look up host names; answer with `resolved`.
  case resolve(link: Int, generation: UInt32, names: [String])
  /// Perform a cancel request on a thread that may block.
  case cancel(any CancelRequest)
  case notification(Notification)
  /// Listening to the channel has begun, again or at first.
  case listening(String)
  case connected(link: Int)
  case connectFailed(link: Int, message: String)
  case connectionLost(link: Int, message: String)
}
