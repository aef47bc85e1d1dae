// Exclusive leases: steps one after another, and a proof that the connection is idle before the next
// caller gets it.

extension Engine {
  /// A step, or the release, of a lease.
  func submit(_ work: Work, on lease: Lease, _ step: LeaseStep, now: UInt64) {
    if let error = lease.over { return fail(work, error) }
    guard let link = lease.link else { return fail(work, PostgresError(.connectionLost)) }
    if case .release(let close) = step {
      lease.over = PostgresError(.misuse, message: "a connection was used after its lease")
      complete(work, .results([]))
      return release(link, close: close, now: now)
    }
    link.leaseQueue.append(work)
    continueLease(link, now: now)
  }

  /// Begins the next step unless one is under way.
  private func continueLease(_ link: Link, now: UInt64) {
    while let lease = link.lease, !link.releasing, isFree(link),
      let work = link.leaseQueue.popFirst()
    {
      guard work.state == .queued, case .leased(_, let step) = work.kind else { continue }
      if work.deadline <= now {
        expire(work)
        continue
      }
      work.link = link
      begin(work, step, on: link, now: now)
      if link.lease !== lease { return }
    }
  }

  /// Whether the connection can take the lease's next step.
  private func isFree(_ link: Link) -> Bool {
    guard link.isReady, link.slots.isEmpty else { return false }
    return link.script == nil || link.script?.work == nil
  }

  private func begin(_ work: Work, _ step: LeaseStep, on link: Link, now: UInt64) {
    guard let pq = link.pq else { return }
    let insideTransaction = pq.transactionStatus == .inTransaction
    switch step {
    case .statements, .commit:
      guard link.script == nil else { return fail(work, copyUnderWay) }
      let mayCommit = step.isCommit || work.steps.contains { endsTransaction($0) }
      work.isCertainUnanswered = insideTransaction && !mayCommit
      send(work, on: link, now: now)
    case .script(let sql):
      guard link.script == nil else { return fail(work, copyUnderWay) }
      beginScript(work, sql, .results, on: link, now: now)
    case .copyIn(let sql):
      guard link.script == nil else { return fail(work, copyUnderWay) }
      work.isCertainUnanswered = true
      beginScript(work, sql, .copyInStart, on: link, now: now)
    case .copyOut(let sql):
      guard link.script == nil else { return fail(work, copyUnderWay) }
      work.isCertainUnanswered = true
      beginScript(work, sql, .copyOutStart, on: link, now: now)
    case .copyData, .copyEnd, .copyRead: beginCopyStep(work, step, on: link, now: now)
    case .release: break
    }
  }

  private var copyUnderWay: PostgresError {
    PostgresError(.misuse, message: "a COPY is under way on this connection")
  }

  /// Whether a statement may commit: what it leaves behind when unanswered is unknown.
  private func endsTransaction(_ step: Step) -> Bool {
    let word = step.statement.sql.drop(while: \.isWhitespace).prefix(while: \.isLetter).lowercased()
    return ["commit", "end", "prepare", "rollback", "abort", "call", "do"].contains(word)
  }

  /// A step on an exclusive connection was answered, or its transaction was.
  func leaseStepEnded(_ link: Link, now: UInt64) {
    link.cancelDeadline = .max
    if link.lease == nil || link.releasing {
      cleanUp(link, now: now)
    } else {
      continueLease(link, now: now)
    }
  }

  // MARK: Returning

  private func release(_ link: Link, close: Bool, now: UInt64) {
    link.releasing = true
    for work in link.leaseQueue {
      fail(work, PostgresError(.misuse, message: "the lease ended before this was begun"))
    }
    link.leaseQueue = []
    if close { link.recycle = true }
    if link.slots.isEmpty, link.script == nil { return cleanUp(link, now: now) }
    // The caller left something running, or a COPY open. It is over soon, or the connection is.
    if let work = link.head { fail(work, PostgresError(.cancelled)) }
    if link.script != nil { return lose(link, "a COPY or script was left unfinished", now: now) }
    requestCancel(link, now: now)
  }

  /// Gives the connection to the next once it is proven idle; an open transaction is rolled back.
  private func cleanUp(_ link: Link, now: UInt64) {
    guard let pq = link.pq, link.slots.isEmpty, link.script == nil else { return }
    if link.recycle { return retire(link, now: now) }
    switch pq.transactionStatus {
    case .idle:
      link.releasing = false
      link.rollingBack = false
      link.lease?.link = nil
      link.lease = nil
    case .inTransaction, .inError:
      if link.rollingBack {
        return lose(link, "a transaction could not be rolled back", now: now)
      }
      link.releasing = true
      link.rollingBack = true
      let work = Work(
        .housekeeping, [Step(Self.rollback, Parameters())], deadline: .max)
      send(work, on: link, now: now)
      if link.pq === pq { link.cancelDeadline = now &+ settings.cleanUpTimeout }
    case .active, .unknown:
      lose(link, "not idle when it was returned", now: now)
    }
  }

  private static let rollback = Statement(name: "vocative_rollback", sql: "ROLLBACK")

  /// The lease was held too long: its holder is told so, and the connection is closed.
  func revoke(_ lease: Lease, on link: Link, now: UInt64) {
    let error = PostgresError(.leaseTimeout, message: "the lease was held beyond its deadline")
    lease.over = error
    for work in link.leaseQueue { fail(work, error) }
    link.leaseQueue = []
    if let work = link.head {
      fail(work, mayHaveTakenEffect(work) ? outcomeUnknown("the lease ended") : error)
    }
    if !link.slots.isEmpty || link.script != nil, let request = link.pq?.cancelRequest() {
      effects.append(.cancel(request))
    }
    lose(link, "a lease was held beyond its deadline", now: now)
  }
}
