// Statements in pipeline mode: batches go out with one sync each, results come back in order.

extension Engine {
  /// Whether an unanswered work may have changed anything.
  func mayHaveTakenEffect(_ work: Work) -> Bool {
    switch work.kind {
    case .read, .acquire, .housekeeping: false
    case .write, .transaction: true
    case .leased: !work.isCertainUnanswered
    }
  }

  // MARK: Sending

  /// Adds a work to the link's open batch. False when the connection was lost over it.
  func add(_ work: Work, to link: Link, now: UInt64) -> Bool {
    guard let pq = link.pq else { return false }
    let batch: Batch
    if let open = link.openBatch {
      batch = open
    } else {
      batch = Batch()
      link.openBatch = batch
      link.batches.append(batch)
    }
    batch.members.append(work)
    work.state = .sent
    work.link = link
    for step in work.steps {
      if link.prepared.insert(step.statement).inserted {
        guard pq.sendPrepare(step.statement) else { return sendFailed(work, link, now: now) }
        link.slots.append(.prepare(step.statement, work))
      }
      guard pq.sendExecute(step.statement, step.parameters) else {
        return sendFailed(work, link, now: now)
      }
      link.slots.append(.execute(work))
    }
    return true
  }

  private func sendFailed(_ work: Work, _ link: Link, now: UInt64) -> Bool {
    // A statement that can never be sent must not come back for ever.
    work.setbacks += 1
    lose(link, link.pq?.errorMessage ?? "send failed", now: now)
    return false
  }

  /// Ends the open batch with its sync and hands it to the socket.
  func closeBatch(_ link: Link, now: UInt64) {
    guard let batch = link.openBatch, let pq = link.pq else { return }
    link.openBatch = nil
    link.slots.append(.sync)
    guard pq.pipelineSync() else {
      batch.sent = true
      return lose(link, pq.errorMessage, now: now)
    }
    flush(link, now: now)
  }

  /// Sends one work as a batch of its own.
  func send(_ work: Work, on link: Link, now: UInt64) {
    if add(work, to: link, now: now) { closeBatch(link, now: now) }
  }

  func flush(_ link: Link, now: UInt64) {
    guard let pq = link.pq else { return }
    switch pq.flush() {
    case .done:
      link.wantsWrite = false
      for batch in link.batches.reversed() {
        if batch.sent { break }
        batch.sent = batch !== link.openBatch
      }
      continueCopy(link, now: now)
    case .more: link.wantsWrite = true
    case .failed:
      for batch in link.batches { batch.sent = true }
      link.wantsWrite = false
      // A server that ended the connection may have said so before: then nothing was done.
      let message = pq.errorMessage
      receive(link, now: now)
      if link.pq === pq { lose(link, message, now: now) }
    }
  }

  // MARK: Receiving

  func receive(_ link: Link, now: UInt64) {
    guard let pq = link.pq else { return }
    let alive = pq.consumeInput()
    let headBefore = link.head
    // What arrived before the end of the connection still counts.
    if link.script != nil {
      receiveScript(link, now: now)
    } else {
      receiveResults(link, now: now)
    }
    guard link.pq === pq else { return }
    while let notification = pq.nextNotification() { effects.append(.notification(notification)) }
    if !alive || pq.isBad { return lose(link, pq.errorMessage, now: now) }
    if link.cancelDeadline != .max, link.head !== headBefore || link.head == nil {
      link.cancelDeadline = .max
      cancelOverdueHead(link, now: now)
    }
    // Reading may have made room for writing (a server that waits for us to read).
    if link.wantsWrite { flush(link, now: now) }
  }

  private func receiveResults(_ link: Link, now: UInt64) {
    guard let pq = link.pq else { return }
    while let slot = link.slots.first, !pq.isBusy {
      guard let result = pq.nextResult() else {
        link.nulls += 1
        if link.nulls > 2 { return lose(link, "no result where one is due", now: now) }
        continue
      }
      link.nulls = 0
      if result.status == .error, result.field(.sqlState) == nil {
        // libpq's own: the connection is lost, or a result did not fit into memory.
        return lose(link, pq.errorMessage, now: now)
      }
      switch (slot, result.status) {
      case (.sync, .sync):
        link.slots.removeFirst()
        finish(link.batches.removeFirst(), on: link, now: now)
        if link.pq !== pq { return }
      case (.sync, .error): failed(link, result, of: nil, statement: nil)
      case (.prepare(let statement, let work), let status):
        link.slots.removeFirst()
        if status == .command { continue }
        link.prepared.remove(statement)
        if status == .error { failed(link, result, of: work, statement: statement) }
      case (.execute(let work), .rows), (.execute(let work), .command),
        (.execute(let work), .empty):
        link.slots.removeFirst()
        if case .read = work.kind {
          complete(work, .result(result))
        } else if work.state == .sent {
          work.results.append(result)
        }
      case (.execute(let work), .error):
        link.slots.removeFirst()
        failed(link, result, of: work, statement: nil)
      case (.execute, .aborted): link.slots.removeFirst()
      case (.execute(let work), _):
        fail(work, PostgresError(.misuse, message: "not a statement for pipelines, such as COPY"))
        return lose(link, "a statement began COPY", now: now)
      case (.sync, _):
        return lose(link, "a result where a sync is due", now: now)
      }
    }
  }

  /// The server refused a statement, or the commit at the sync (`work` is nil).
  private func failed(
    _ link: Link, _ result: any LibPQResult, of work: Work?, statement: Statement?
  ) {
    guard let batch = link.batches.first else { return }
    let name = statement?.name ?? work.flatMap { failingStep($0)?.name }
    let error = PostgresError(result, statement: name)
    if let severity = result.field(.severity), severity == "FATAL" || severity == "PANIC" {
      // Before the sync was answered, so nothing of this batch or a later one is committed; but at
      // the sync the commit may have come first.
      link.fatal = work != nil
      return
    }
    let isSetback = isSetback(error, routine: result.field(.routine), link)
    if batch.failure == nil {
      batch.failure = error
      batch.failureIsSetback = isSetback
    }
    if isSetback, error.sqlState == "26000", let work { forget(work.steps, on: link) }
    if let work, case .read = work.kind, !isSetback || work.setbacks + 1 >= settings.maximumSetbacks
    {
      fail(work, error)
    } else if let work, isSetback {
      work.setbacks += 1
    }
  }

  /// What is not prepared is prepared by the next that needs it, unless a later batch, which is on
  /// its way, does so.
  private func forget(_ steps: [Step], on link: Link) {
    for step in steps {
      let isUnderWay = link.slots.contains { slot in
        if case .prepare(step.statement, _) = slot { true } else { false }
      }
      if !isUnderWay { link.prepared.remove(step.statement) }
    }
  }

  private func failingStep(_ work: Work) -> Statement? {
    work.steps.count == 1
      ? work.steps[0].statement
      : work.results.count < work.steps.count ? work.steps[work.results.count].statement : nil
  }

  /// Whether a failure is none of the statement's doing, and it should run again.
  private func isSetback(_ error: PostgresError, routine: String?, _ link: Link) -> Bool {
    switch error.sqlState {
    case "26000":  // its preparation was skipped by a failure before it
      return true
    case "57014":  // a cancel request meant for a statement before it
      return link.cancelSent
    case "0A000" where routine == "RevalidateCachedQuery":
      // "cached plan must not change result type": the schema changed; prepare everything anew.
      link.recycle = true
      return true
    default: return false
    }
  }

  /// A batch's sync was answered.
  private func finish(_ batch: Batch, on link: Link, now: UInt64) {
    switch link.role {
    case .read: finishReads(batch)
    case .write: finishGroup(batch)
    case .lease: finishExclusive(batch, on: link, now: now)
    case .listen: break
    }
  }

  /// What is not answered was skipped after another's failure.
  private func finishReads(_ batch: Batch) {
    for work in batch.members.reversed() where work.state == .sent {
      work.isolated = true
      requeue(work, setback: false, otherwise: batch.failure ?? PostgresError(.connectionLost))
    }
  }

  private func finishGroup(_ batch: Batch) {
    guard let failure = batch.failure else {
      for work in batch.members { complete(work, .results(work.results)) }
      return
    }
    if batch.members.count == 1, !batch.failureIsSetback {
      return fail(batch.members[0], failure)
    }
    // All of it was rolled back: one by one, so that only the culprit fails.
    for work in batch.members.reversed() where work.state == .sent {
      work.isolated = true
      requeue(work, setback: batch.failureIsSetback, otherwise: failure)
    }
  }

  private func finishExclusive(_ batch: Batch, on link: Link, now: UInt64) {
    for work in batch.members {
      if let failure = batch.failure {
        if case .transaction = work.kind, batch.failureIsSetback, work.state == .sent {
          requeue(work, setback: true, otherwise: failure)
        } else {
          fail(work, failure)
        }
      } else {
        complete(work, .results(work.results))
      }
    }
    leaseStepEnded(link, now: now)
  }
}
