import DequeModule

// Who goes next, and where.

extension Engine {
  // MARK: Reads

  /// Everything that waits goes to the least busy connections, with one sync for each of them.
  func dispatchReads(now: UInt64) {
    while let work = popLive(\.reads) {
      guard let link = leastBusyReadLink() else {
        reads.prepend(work)
        break
      }
      if work.isolated {
        closeBatch(link, now: now)
        if link.isReady { send(work, on: link, now: now) } else { reads.prepend(work) }
      } else {
        _ = add(work, to: link, now: now)
      }
    }
    for link in readLinks where link.openBatch != nil { closeBatch(link, now: now) }
  }

  private func leastBusyReadLink() -> Link? {
    var best: Link?
    for link in readLinks
    where link.isReady && !link.wantsWrite && !link.recycle
      && link.slots.count < (best?.slots.count ?? settings.maximumDepth)
    {
      best = link
    }
    return best
  }

  // MARK: Writes

  /// A connection takes its next group when the last is answered, so that one commit serves all
  /// that came meanwhile.
  func dispatchWrites(now: UInt64) {
    for link in writeLinks where !writes.isEmpty && link.isIdle && !link.recycle {
      var size = 0
      while size < settings.maximumGroup, link.isReady, let work = popLive(\.writes) {
        // Those that run one by one follow each other, and no group follows them.
        if !work.isolated, link.openBatch == nil, size > 0 {
          writes.prepend(work)
          break
        }
        if work.isolated {
          closeBatch(link, now: now)
          guard link.isReady else {
            writes.prepend(work)
            break
          }
          send(work, on: link, now: now)
        } else if !add(work, to: link, now: now) {
          break
        }
        size += work.steps.count
      }
      closeBatch(link, now: now)
    }
  }

  // MARK: Transactions and leases

  func dispatchExclusives(now: UInt64) {
    while !exclusives.isEmpty,
      let link = leaseLinks.first(where: { $0.isIdle && $0.lease == nil && !$0.recycle }),
      let work = popLive(\.exclusives)
    {
      if case .acquire(let hold) = work.kind {
        let lease = Lease(link: link, holdDeadline: now &+ min(hold, UInt64.max - now - 1))
        link.lease = lease
        complete(work, .lease(lease))
      } else {
        send(work, on: link, now: now)
      }
    }
  }

  /// The next work that nobody has given up.
  private func popLive(_ queue: ReferenceWritableKeyPath<Engine, Deque<Work>>) -> Work? {
    while let work = self[keyPath: queue].popFirst() {
      if work.state == .queued { return work }
    }
    return nil
  }

  // MARK: Deadlines

  /// Answers every work whose deadline has passed, and finds the next deadline.
  func expireOverdue(now: UInt64) {
    var earliest = UInt64.max
    func check(_ work: Work) {
      if work.state != .finished, work.deadline <= now { expire(work) }
      if work.deadline > now { earliest = min(earliest, work.deadline) }
    }
    for queue in [reads, writes, exclusives] { queue.forEach(check) }
    for link in links {
      link.batches.forEach { $0.members.forEach(check) }
      link.leaseQueue.forEach(check)
      if let work = link.script?.work { check(work) }
      cancelOverdueHead(link, now: now)
    }
    earliestDeadline = earliest
  }

  func expire(_ work: Work) {
    let sent = work.state == .sent
    if sent && mayHaveTakenEffect(work) { return fail(work, outcomeUnknown("the deadline passed")) }
    if case .acquire = work.kind {
      return fail(work, PostgresError(.leaseTimeout, message: "no connection became free"))
    }
    let reason = sent ? nil : lastConnectError.map { "cannot connect: \($0)" }
    fail(
      work,
      PostgresError(
        .deadlineExceeded, message: reason, statement: work.steps.first?.statement.name))
  }

  /// Has the server stop what nobody waits for any more, so that others get on.
  func cancelOverdueHead(_ link: Link, now: UInt64) {
    guard let head = link.head, head.state == .finished, head.deadline <= now else { return }
    requestCancel(link, now: now)
  }

  func requestCancel(_ link: Link, now: UInt64) {
    guard link.isReady, link.cancelDeadline == .max, link.head != nil else { return }
    link.cancelDeadline = now &+ settings.cleanUpTimeout
    link.cancelSent = true
    // On an exclusive connection a late request would hit the next caller's statement.
    if link.role == .lease { link.recycle = true }
    if let request = link.pq?.cancelRequest() { effects.append(.cancel(request)) }
  }
}
