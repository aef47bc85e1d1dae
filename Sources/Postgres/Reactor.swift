import CLibPQ
import Glibc
import Logging
import NIOConcurrencyHelpers
import PostgresWire

/// The thread that owns all connections: takes what callers ask for from an inbox, waits for
/// sockets with epoll, turns the engine, and resumes the callers.
final class Reactor: Sendable {
  private enum Command {
    case submit(Work)
    case cancel(Work)
    case channels(announcing: String?)
    case resolved(link: Int, generation: UInt32, addresses: [String: [String]])
    case start
    case shutDown(by: UInt64)
  }

  private struct Inbox {
    var commands: [Command] = []
    /// Whether the thread waits, or is about to, and has to be woken.
    var asleep = false
    var closed = false
    var started = false
    var waiters: [UnsafeContinuation<Void, Never>] = []
  }

  let subscriptions = Subscriptions()
  let health = NIOLockedValueBox(PostgresHealth())
  private let inbox = NIOLockedValueBox(Inbox())
  private let resolver = BlockingThread(named: "pq-resolver")
  private let canceller = BlockingThread(named: "pq-cancel")
  private let logger: Logger
  private let wakeUp: Int32

  /// Starts the thread. It ends after `shutDown`.
  init(settings: EngineSettings, logger: Logger) {
    self.logger = logger
    wakeUp = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    precondition(wakeUp >= 0, "no eventfd: errno \(errno)")
    startThread(named: "pq-reactor") { [self] in
      Loop(reactor: self, settings: settings).run()
      glibcClose(wakeUp)
    }
  }

  // MARK: From any thread

  /// The monotonic time so long from now.
  func deadline(_ after: Duration) -> UInt64 {
    let (sum, overflow) = monotonicNanoseconds().addingReportingOverflow(after.nanoseconds)
    return overflow ? .max : sum
  }

  func perform(_ kind: Work.Kind, _ steps: [Step], _ deadline: UInt64) async -> Outcome {
    let work = Work(kind, steps, deadline: deadline)
    if let flaw = work.flaw { return .failure(flaw) }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        work.continuation = continuation
        if !send(.submit(work)) { continuation.resume(returning: .failure(.init(.poolShutDown))) }
      }
    } onCancel: {
      send(.cancel(work))
    }
  }

  func release(_ lease: Lease, close: Bool) {
    send(.submit(Work(.leased(lease, .release(close: close)), [], deadline: .max)))
  }

  /// The set of channels has changed; a new listener of a channel is told when it is heard already.
  func listen(announcing channel: String?) { send(.channels(announcing: channel)) }

  func start() throws(PostgresError) {
    let first = inbox.withLockedValue { inbox in
      defer { inbox.started = true }
      return !inbox.started
    }
    guard first else { throw PostgresError(.misuse, message: "run() may be called once only") }
    send(.start)
  }

  func shutDown(within bound: Duration) { send(.shutDown(by: deadline(bound))) }

  /// Returns once the thread has answered everybody and closed all connections.
  func stopped() async {
    await withUnsafeContinuation { continuation in
      let closed = inbox.withLockedValue { inbox in
        if !inbox.closed { inbox.waiters.append(continuation) }
        return inbox.closed
      }
      if closed { continuation.resume() }
    }
  }

  @discardableResult
  private func send(_ command: Command) -> Bool {
    let (accepted, wake) = inbox.withLockedValue { inbox in
      if inbox.closed { return (false, false) }
      inbox.commands.append(command)
      defer { inbox.asleep = false }
      return (true, inbox.asleep)
    }
    if wake { eventfd_write(wakeUp, 1) }
    return accepted
  }

  // MARK: On the thread

  private final class Loop {
    let reactor: Reactor
    let engine: Engine
    let poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    var commands: [Command] = []
    var events = [epoll_event](repeating: epoll_event(), count: 64)
    var now = monotonicNanoseconds()
    var reported = PostgresHealth()
    var reportedAt: UInt64 = 0

    init(reactor: Reactor, settings: EngineSettings) {
      self.reactor = reactor
      precondition(poll >= 0, "no epoll: errno \(errno)")
      engine = Engine(
        settings: settings, libpq: SystemLibPQ(), seed: UInt64.random(in: .min ... .max))
      // Edge-triggered, it never has to be read; its counter would take centuries to overflow.
      var event = epoll_event(
        events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data_t(u64: .max))
      epoll_ctl(poll, EPOLL_CTL_ADD, reactor.wakeUp, &event)
    }

    deinit { glibcClose(poll) }

    func run() {
      var hadCommands = false
      while !engine.isStopped {
        let any = takeCommands()
        now = monotonicNanoseconds()
        for command in commands { obey(command) }
        commands.removeAll(keepingCapacity: true)
        engine.advance(now: now)
        deliver()
        // Under load once in a while, and always before it sleeps.
        if !any || now &- reportedAt > 50_000_000 { report() }
        // While commands keep coming, the sockets are looked at every other time, without waiting.
        if !engine.isStopped, !any || hadCommands { wait(any ? 0 : timeout()) }
        hadCommands = any
      }
      finish()
    }

    private func takeCommands() -> Bool {
      reactor.inbox.withLockedValue { inbox in
        swap(&commands, &inbox.commands)
        inbox.asleep = commands.isEmpty
        return !commands.isEmpty
      }
    }

    private func obey(_ command: Command) {
      switch command {
      case .submit(let work): engine.submit(work, now: now)
      case .cancel(let work): engine.cancel(work)
      case .channels(let channel):
        engine.listen(to: reactor.subscriptions.channels, announcing: channel)
      case .resolved(let link, let generation, let addresses):
        engine.resolved(link: link, generation: generation, addresses: addresses, now: now)
      case .start: engine.start()
      case .shutDown(let deadline): engine.shutDown(by: deadline)
      }
    }

    /// Milliseconds until the engine has to turn; rounded up, or it would turn idly until then.
    private func timeout() -> Int32 {
      let next = engine.nextWakeUp
      if next == .max { return -1 }
      if next <= now { return 0 }
      return Int32(min((next - now + 999_999) / 1_000_000, 60_000))
    }

    private func wait(_ timeout: Int32) {
      let count = epoll_wait(poll, &events, Int32(events.count), timeout)
      guard count > 0 else { return }
      now = monotonicNanoseconds()
      for event in events[0..<Int(count)] {
        let tag = event.data.u64
        if tag == .max { continue }
        let flags = event.events
        let ended = flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        engine.socketReady(
          link: Int(tag & 0xFFFF_FFFF), generation: UInt32(truncatingIfNeeded: tag >> 32),
          readable: ended || flags & EPOLLIN.rawValue != 0,
          writable: flags & EPOLLOUT.rawValue != 0, now: now)
      }
    }

    private func deliver() {
      if !engine.effects.isEmpty {
        for effect in engine.effects { carryOut(effect) }
        engine.effects.removeAll(keepingCapacity: true)
      }
      for (work, outcome) in engine.completions {
        // Nobody waits for the end of a lease.
        work.continuation?.resume(returning: outcome)
        work.continuation = nil
      }
      engine.completions.removeAll(keepingCapacity: true)
    }

    private func finish() {
      let (left, waiters) = reactor.inbox.withLockedValue { inbox in
        inbox.closed = true
        defer {
          inbox.commands = []
          inbox.waiters = []
        }
        return (inbox.commands, inbox.waiters)
      }
      now = monotonicNanoseconds()
      for command in left { obey(command) }
      deliver()
      reactor.subscriptions.finish()
      for waiter in waiters { waiter.resume() }
    }

    private func carryOut(_ effect: Effect) {
      switch effect {
      case .watch(let link, let generation, let socket, let reading, let writing):
        watch(UInt64(generation) << 32 | UInt64(link), socket, reading, writing)
      case .resolve(let link, let generation, let names):
        reactor.resolver.run { [reactor] in
          let addresses = Dictionary(uniqueKeysWithValues: names.map { ($0, lookUp($0)) })
          reactor.send(.resolved(link: link, generation: generation, addresses: addresses))
        }
      case .cancel(let request): reactor.canceller.run { request.perform() }
      case .notification(let notification):
        reactor.subscriptions.yield(.notification(notification), on: notification.channel)
      case .listening(let channel): reactor.subscriptions.yield(.reconnected, on: channel)
      case .connected(let link):
        reactor.logger.debug("PostgreSQL connection opened", metadata: ["connection": "\(link)"])
      case .connectFailed(let link, let message):
        reactor.logger.warning(
          "PostgreSQL cannot be connected to",
          metadata: ["connection": "\(link)", "reason": "\(message)"])
      case .connectionLost(let link, let message):
        reactor.logger.warning(
          "PostgreSQL connection lost",
          metadata: ["connection": "\(link)", "reason": "\(message)"])
      }
    }

    private func watch(_ tag: UInt64, _ socket: Int32, _ reading: Bool, _ writing: Bool) {
      guard socket >= 0 else { return }
      var event = epoll_event(
        events: (reading ? EPOLLIN.rawValue : 0) | (writing ? EPOLLOUT.rawValue : 0),
        data: epoll_data_t(u64: tag))
      // The kernel forgets a socket that is closed, and libpq may open another of the same number.
      if epoll_ctl(poll, EPOLL_CTL_MOD, socket, &event) != 0 {
        epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event)
      }
    }

    private func report() {
      reportedAt = now
      let health = PostgresHealth(engine)
      guard health != reported else { return }
      reported = health
      reactor.health.withLockedValue { $0 = health }
    }
  }
}

/// CLOCK_MONOTONIC.
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

private func glibcClose(_ descriptor: Int32) { _ = close(descriptor) }
