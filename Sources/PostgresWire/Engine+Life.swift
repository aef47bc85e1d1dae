// The life of a connection: down, resolving, connecting, setting up, ready, and down again.

extension Engine {
  func runTimers(_ link: Link, now: UInt64) {
    switch link.phase {
    case .down(let until):
      if now >= until, link.role != .listen || !wantedChannels.isEmpty {
        beginRound(link, now: now)
      }
    case .connecting(let until):
      if now >= until { attemptFailed(link, "timed out", now: now) }
    case .settingUp(let until):
      if now >= until { attemptFailed(link, "timed out in set-up", now: now) }
    case .ready:
      if let lease = link.lease, now >= link.leaseEnd {
        revoke(lease, on: link, now: now)
      } else if now >= link.cancelDeadline {
        lose(link, "no answer to a cancel request", now: now)
      } else if link.recycle, link.isIdle, link.lease == nil {
        lose(link, "recycled", now: now)
      }
    case .resolving, .closed: break
    }
  }

  // MARK: Connecting

  private func beginRound(_ link: Link, now: UInt64) {
    let names = Set(settings.hosts.filter(\.needsResolving).map(\.name))
    guard !names.isEmpty else { return connect(link, addresses: [:], now: now) }
    link.phase = .resolving
    effects.append(.resolve(link: link.id, generation: link.generation, names: names.sorted()))
  }

  /// Host names were looked up; names without an address are passed over.
  package func resolved(
    link id: Int, generation: UInt32, addresses: [String: [String]], now: UInt64
  ) {
    let link = links[id]
    guard link.generation == generation, link.phase == .resolving else { return }
    connect(link, addresses: addresses, now: now)
  }

  private func connect(_ link: Link, addresses: [String: [String]], now: UInt64) {
    link.plan = connectPlan(addresses: addresses)
    link.nextAttempt = 0
    nextAttempt(link, failure: "no address found for any host", now: now)
  }

  /// One attempt after another: each host and address in order; for `prefer-standby` standbys
  /// first, then any. Trying each on its own gives each a time-out of its own, which libpq's
  /// non-blocking calls lack.
  private func connectPlan(addresses: [String: [String]]) -> [[ConnectParameter]] {
    let wanted = settings.targetSessionAttributes
    let passes = wanted == "prefer-standby" ? ["standby", "any"] : [wanted]
    return passes.flatMap { pass in
      settings.hosts.flatMap { host -> [[ConnectParameter]] in
        let candidates = host.needsResolving ? addresses[host.name] ?? [] : [host.address]
        return candidates.map { address in
          let place = [("host", host.name), ("hostaddr", address), ("port", host.port)]
            .filter { !$0.1.isEmpty }.map { ConnectParameter($0.0, $0.1) }
          return settings.parameters + place + [ConnectParameter("target_session_attrs", pass)]
        }
      }
    }
  }

  private func nextAttempt(_ link: Link, failure: String, now: UInt64) {
    guard link.nextAttempt < link.plan.count else {
      lastConnectError = failure
      effects.append(.connectFailed(link: link.id, message: failure))
      link.phase = .down(until: now &+ link.backoff.next(using: &random))
      return
    }
    let parameters = link.plan[link.nextAttempt]
    link.nextAttempt += 1
    guard let pq = libpq.connect(parameters) else {
      return nextAttempt(link, failure: "out of memory", now: now)
    }
    link.pq = pq
    link.phase = .connecting(until: now &+ settings.connectTimeout)
    if pq.isBad { return attemptFailed(link, pq.errorMessage, now: now) }
    // As libpq's manual says: before the first PQconnectPoll, wait until the socket can be written.
    watch(link, reading: false, writing: true, always: true)
  }

  func pollConnection(_ link: Link, now: UInt64) {
    guard let pq = link.pq else { return }
    // libpq may have replaced its socket, so each wait is registered anew.
    switch pq.connectPoll() {
    case .reading: watch(link, reading: true, writing: false, always: true)
    case .writing: watch(link, reading: false, writing: true, always: true)
    case .failed: attemptFailed(link, pq.errorMessage, now: now)
    case .ok:
      watch(link, reading: true, writing: false, always: true)
      beginSetUp(link, now: now)
    }
  }

  private func attemptFailed(_ link: Link, _ message: String, now: UInt64) {
    let pq = link.pq
    link.forget()
    pq?.finish()
    nextAttempt(link, failure: message, now: now)
  }

  // MARK: Setting up

  private func beginSetUp(_ link: Link, now: UInt64) {
    guard let pq = link.pq, pq.setNonblocking() else {
      return attemptFailed(link, "cannot be made non-blocking", now: now)
    }
    link.phase = .settingUp(until: now &+ settings.connectTimeout)
    let script = setUpScript(link.role)
    guard !script.isEmpty else { return becomeReady(link, now: now) }
    let work = Work(.housekeeping, [], deadline: .max)
    work.state = .sent
    link.script = Script(work: work, phase: .results)
    guard pq.sendScript(script) else { return attemptFailed(link, pq.errorMessage, now: now) }
    flush(link, now: now)
  }

  private func setUpScript(_ role: Link.Role) -> String {
    var statements = settings.onConnect.map {
      "SELECT pg_catalog.set_config(\(quotedLiteral($0.name)),\(quotedLiteral($0.value)),false)"
    }
    if role == .read { statements.append("SET default_transaction_read_only = on") }
    return statements.joined(separator: ";")
  }

  func setUpFinished(_ link: Link, _ failure: PostgresError?, now: UInt64) {
    if let failure { return attemptFailed(link, "set-up: \(failure)", now: now) }
    becomeReady(link, now: now)
  }

  private func becomeReady(_ link: Link, now: UInt64) {
    if link.role != .listen {
      guard let pq = link.pq, pq.enterPipeline() else {
        return attemptFailed(link, "cannot enter pipeline mode", now: now)
      }
    }
    link.phase = .ready
    link.backoff.reset()
    connects += 1
    lastConnectError = nil
    effects.append(.connected(link: link.id))
  }

  // MARK: Losing

  /// The connection is gone or given up: answers or takes back what was in flight, then connects
  /// anew after a pause.
  func lose(_ link: Link, _ why: String, now: UInt64) {
    switch link.phase {
    case .connecting, .settingUp: return attemptFailed(link, why, now: now)
    case .down, .resolving, .closed: return
    case .ready: break
    }
    losses += 1
    effects.append(.connectionLost(link: link.id, message: why))
    let fatal = link.fatal
    let batches = Array(link.batches)
    close(link, reason: PostgresError(.connectionLost, message: why))
    link.phase = .down(until: now &+ link.backoff.next(using: &random))
    for batch in batches.reversed() {
      for work in batch.members.reversed() where work.state == .sent {
        takeBack(work, certain: !batch.sent || fatal, setback: batch.sent, why)
      }
    }
  }

  /// Closes a connection that its holder is done with; a new one takes its place.
  func retire(_ link: Link, now: UInt64) {
    close(link, reason: PostgresError(.connectionLost, message: "closed after use"))
    link.phase = .down(until: now)
  }

  /// A work whose connection was lost: back to the head of its queue where that is safe.
  private func takeBack(_ work: Work, certain: Bool, setback: Bool, _ why: String) {
    if case .leased = work.kind {
      return fail(
        work,
        // A FATAL may come after a COMMIT has taken effect, so only "not sent" is certain here.
        !setback || !mayHaveTakenEffect(work)
          ? PostgresError(.connectionLost, message: why) : outcomeUnknown("connection lost"))
    }
    guard certain || !mayHaveTakenEffect(work) else {
      return fail(work, outcomeUnknown("connection lost"))
    }
    requeue(work, setback: setback, otherwise: PostgresError(.connectionLost, message: why))
  }

  /// Puts a work back to the head of its queue, unless it has had too many setbacks.
  func requeue(_ work: Work, setback: Bool, otherwise error: PostgresError) {
    if setback { work.setbacks += 1 }
    guard work.setbacks < settings.maximumSetbacks else { return fail(work, error) }
    work.state = .queued
    work.link = nil
    work.results = []
    earliestDeadline = min(earliestDeadline, work.deadline)
    switch work.kind {
    case .read: reads.prepend(work)
    case .write: writes.prepend(work)
    case .transaction, .acquire: exclusives.prepend(work)
    case .leased, .housekeeping: break
    }
  }

  /// Ends the connection and whatever hangs on it, except works in batches.
  func close(_ link: Link, reason: PostgresError) {
    let pq = link.pq
    let script = link.script
    let lease = link.lease
    let waiting = link.leaseQueue
    if link.role == .listen { heardChannels = [] }
    link.lease = nil
    link.leaseQueue = []
    link.forget()
    pq?.finish()
    if let work = script?.work {
      fail(work, mayHaveTakenEffect(work) ? outcomeUnknown("connection lost") : reason)
    }
    guard let lease else { return }
    lease.link = nil
    lease.over = lease.over ?? reason
    for work in waiting { fail(work, reason) }
  }

  // MARK: Watching

  func updateWatch(_ link: Link) {
    guard link.pq != nil else { return }
    switch link.phase {
    case .settingUp, .ready:
      // An unread COPY keeps its data in the socket: that is its back-pressure.
      let phase = link.script?.phase
      let paused = phase == .copyOutOpen || phase == .copyOutRead
      watch(link, reading: !paused, writing: link.wantsWrite, always: false)
    case .connecting, .down, .resolving, .closed: break
    }
  }

  private func watch(_ link: Link, reading: Bool, writing: Bool, always: Bool) {
    guard let pq = link.pq, always || link.watched != (reading, writing) else { return }
    link.watched = (reading, writing)
    effects.append(
      .watch(
        link: link.id, generation: link.generation, socket: pq.socket, reading: reading,
        writing: writing))
  }
}

/// An SQL identifier that stands for exactly this name.
func quotedIdentifier(_ name: String) -> String { quoted(name, "\"") }

/// An SQL string with exactly this content, whatever `standard_conforming_strings` is.
func quotedLiteral(_ text: String) -> String {
  " E" + quoted(escapedBackslashes(text), "'")
}

private func quoted(_ text: String, _ mark: Unicode.Scalar) -> String {
  // Scalar by scalar: as a Character, a mark with a combining accent is not the mark.
  var result = String.UnicodeScalarView([mark])
  for scalar in text.unicodeScalars {
    if scalar == mark { result.append(mark) }
    result.append(scalar)
  }
  result.append(mark)
  return String(result)
}

private func escapedBackslashes(_ text: String) -> String {
  String(String.UnicodeScalarView(text.unicodeScalars.flatMap { $0 == "\\" ? [$0, $0] : [$0] }))
}
