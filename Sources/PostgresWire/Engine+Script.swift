// The simple protocol: set-up, scripts, COPY, LISTEN.

extension Engine {
  func beginScript(
    _ work: Work, _ sql: String, _ phase: Script.Phase, on link: Link, now: UInt64
  ) {
    guard let pq = link.pq else { return }
    work.state = .sent
    work.link = link
    link.script = Script(work: work, phase: phase)
    if link.role != .listen, !pq.exitPipeline() {
      return lose(link, "cannot leave pipeline mode", now: now)
    }
    guard pq.sendScript(sql) else { return lose(link, pq.errorMessage, now: now) }
    flush(link, now: now)
  }

  func receiveScript(_ link: Link, now: UInt64) {
    guard let pq = link.pq else { return }
    while let script = link.script, !pq.isBusy {
      switch script.phase {
      case .reading: return readCopy(link, now: now)
      case .copyInOpen, .copyOutOpen, .copyOutRead, .putting, .ending: return
      case .results, .copyInStart, .copyOutStart: break
      }
      guard let result = pq.nextResult() else { return scriptEnded(link, script, now: now) }
      switch result.status {
      case .rows, .command, .empty: link.script?.last = result
      case .error:
        guard result.field(.sqlState) != nil else {
          return lose(link, pq.errorMessage, now: now)
        }
        if script.failure == nil { link.script?.failure = PostgresError(result, statement: nil) }
      case .copyIn where script.phase == .copyInStart:
        return copyBegan(link, .copyInOpen, result, now: now)
      case .copyOut where script.phase == .copyOutStart:
        return copyBegan(link, .copyOutOpen, result, now: now)
      default:
        if let work = script.work {
          fail(work, PostgresError(.misuse, message: "COPY where a script or another COPY is due"))
        }
        return lose(link, "an unexpected COPY", now: now)
      }
    }
  }

  private func scriptEnded(_ link: Link, _ script: Script, now: UInt64) {
    link.script = nil
    if case .settingUp = link.phase { return setUpFinished(link, script.failure, now: now) }
    if link.role == .listen { return listenScriptEnded(link, script.failure, now: now) }
    if let work = script.work {
      if let failure = script.failure {
        fail(work, failure)
      } else if script.phase != .results {
        fail(work, PostgresError(.misuse, message: "not a COPY of the right direction"))
      } else if let last = script.last {
        complete(work, .result(last))
      } else {
        fail(work, PostgresError(.protocolViolation, message: "a script without a result"))
      }
    }
    guard let pq = link.pq, pq.enterPipeline() else {
      return lose(link, "cannot enter pipeline mode", now: now)
    }
    leaseStepEnded(link, now: now)
  }

  // MARK: COPY

  private func copyBegan(
    _ link: Link, _ phase: Script.Phase, _ result: any LibPQResult, now: UInt64
  ) {
    guard let work = link.script?.work else { return }
    link.script?.work = nil
    link.script?.phase = phase
    complete(work, .result(result))
    leaseStepEnded(link, now: now)
  }

  func beginCopyStep(_ work: Work, _ step: LeaseStep, on link: Link, now: UInt64) {
    guard let phase = link.script?.phase else {
      return fail(work, PostgresError(.misuse, message: "no COPY is under way"))
    }
    switch (step, phase) {
    case (.copyData(let bytes), .copyInOpen):
      work.isCertainUnanswered = true
      link.script?.phase = .putting(bytes)
    case (.copyEnd(let reason), .copyInOpen):
      work.isCertainUnanswered = reason != nil
      link.script?.phase = .ending(failing: reason)
    case (.copyRead, .copyOutOpen):
      work.isCertainUnanswered = true
      link.script?.phase = .reading([])
    case (.copyRead, .copyOutRead):
      work.isCertainUnanswered = true
      link.script?.phase = .results
    case (.copyRead, _) where link.script?.work == nil:
      return fail(work, PostgresError(.misuse, message: "no COPY TO STDOUT is under way"))
    default:
      return fail(work, PostgresError(.misuse, message: "another COPY is under way"))
    }
    work.state = .sent
    work.link = link
    link.script?.work = work
    switch link.script?.phase {
    case .reading: readCopy(link, now: now)
    case .results: receiveScript(link, now: now)
    default: continueCopy(link, now: now)
    }
  }

  /// Puts what is to be put, as far as the socket takes it.
  func continueCopy(_ link: Link, now: UInt64) {
    guard let pq = link.pq, let script = link.script else { return }
    switch script.phase {
    case .putting(let bytes?):
      put(link, pq.putCopyData(bytes), now: now) { link.script?.phase = .putting(nil) }
    case .putting(nil):
      // All is with the socket: the next chunk may come.
      link.script?.phase = .copyInOpen
      link.script?.work = nil
      if let work = script.work { complete(work, .chunk(nil)) }
      leaseStepEnded(link, now: now)
    case .ending(let reason):
      put(link, pq.putCopyEnd(failing: reason), now: now) { link.script?.phase = .results }
      // The server may have refused the data long ago, and its answer be read already.
      if link.script?.phase == .results { receiveScript(link, now: now) }
    default: break
    }
  }

  private func put(
    _ link: Link, _ status: CopyPutStatus, now: UInt64, then: () -> Void
  ) {
    switch status {
    case .queued:
      then()
      flush(link, now: now)
    case .full: link.wantsWrite = true
    case .failed: lose(link, link.pq?.errorMessage ?? "COPY failed", now: now)
    }
  }

  /// Reads rows up to the size of a chunk, or as many as have arrived.
  private func readCopy(_ link: Link, now: UInt64) {
    guard let pq = link.pq, case .reading(var chunk) = link.script?.phase else { return }
    link.script?.phase = .reading([])
    while true {
      switch pq.getCopyData(into: &chunk) {
      case .row:
        if chunk.count >= Self.chunkBytes {
          return deliver(chunk, link, next: .copyOutOpen, now: now)
        }
      case .wait:
        if !chunk.isEmpty { return deliver(chunk, link, next: .copyOutOpen, now: now) }
        link.script?.phase = .reading(chunk)
        return
      case .end:
        if chunk.isEmpty {
          link.script?.phase = .results
          return receiveScript(link, now: now)
        }
        return deliver(chunk, link, next: .copyOutRead, now: now)
      case .failed:
        return lose(link, pq.errorMessage, now: now)
      }
    }
  }

  private static let chunkBytes = 65_536

  private func deliver(_ chunk: [UInt8], _ link: Link, next: Script.Phase, now: UInt64) {
    guard let work = link.script?.work else { return }
    link.script?.phase = next
    link.script?.work = nil
    complete(work, .chunk(chunk))
    leaseStepEnded(link, now: now)
  }
}
