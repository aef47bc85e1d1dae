import Testing

@testable import PostgresWire

@Suite struct EngineTests {
  // MARK: Sharing

  @Test func writesShareACommit() {
    let harness = Harness()
    harness.settle()
    let works = (1...5).map { harness.submit(.write, [(write, Parameters($0))]) }
    harness.settle()
    #expect(works.allSatisfy { harness.succeeded($0) })
    #expect(harness.server.committed == [1, 2, 3, 4, 5])
    #expect(harness.server.commits == 1)
  }

  @Test func aFailureInAGroupFailsItsOwnCallerOnly() {
    let harness = Harness()
    let good = [1, 2].map { harness.submit(.write, [(write, Parameters($0))]) }
    let culprit = harness.submit(.write, [(bad, Parameters())])
    let after = harness.submit(.write, [(write, Parameters(3))])
    harness.settle()
    #expect((good + [after]).allSatisfy { harness.succeeded($0) })
    #expect(harness.error(culprit)?.sqlState == "23505")
    #expect(harness.error(culprit)?.statement == "b")
    #expect(harness.error(culprit)?.message == nil, "class 23 may quote values")
    #expect(harness.server.committed == [1, 2, 3])
  }

  @Test func aFailingReadFailsItsOwnCallerOnly() {
    let harness = Harness()
    let works = (0..<9).map { harness.submit(.read, [($0 % 3 == 1 ? bad : read, Parameters())]) }
    harness.settle()
    for (index, work) in works.enumerated() {
      #expect(harness.succeeded(work) == (index % 3 != 1))
    }
  }

  @Test func aStatementIsPreparedOncePerConnection() {
    let harness = Harness()
    for _ in 0..<3 {
      harness.submit(.read, [(read, Parameters())])
      harness.submit(.read, [(read, Parameters())])
      harness.settle()
    }
    #expect(harness.server.callNames.count { $0 == "sendPrepare" } == 1)
    #expect(harness.server.callNames.count { $0 == "sendExecute" } == 6)
    #expect(harness.server.callNames.count { $0 == "pipelineSync" } == 3)
  }

  /// The first batch fails before it prepares, the second counts on it, and the third, which is
  /// sent before the second is answered, prepares again.
  @Test func aStatementIsNotPreparedAgainWhileItsPreparationIsOnItsWay() {
    let harness = Harness()
    harness.settle()
    harness.server.isFarAway = true
    harness.submit(.read, [(bad, Parameters())])
    var works = [harness.submit(.read, [(read, Parameters())])]
    harness.turn()
    works.append(harness.submit(.read, [(read, Parameters())]))
    harness.turn()
    harness.server.isFarAway = false
    harness.server.isSlow = true
    harness.settle()
    #expect(works.map { harness.error($0)?.sqlState } == [nil, nil])
    #expect(works.allSatisfy { harness.succeeded($0) })
  }

  // MARK: Losing connections

  @Test func whatWasNeverSentIsSentAgain() {
    let harness = Harness()
    harness.settle()
    let work = harness.submit(.write, [(write, Parameters(1))])
    harness.server.connections.forEach { $0.die() }
    harness.settle()
    #expect(harness.succeeded(work))
    #expect(harness.server.committed == [1])
  }

  @Test func aSentWriteOfALostConnectionIsUnknownAndAReadRunsAgain() {
    let harness = Harness()
    harness.settle()
    let lost = harness.submit(.write, [(hang, Parameters())])
    let again = harness.submit(.read, [(read, Parameters())])
    harness.turn()
    harness.server.connections.forEach { $0.die() }
    harness.settle()
    #expect(harness.error(lost)?.code == .outcomeUnknown)
    #expect(harness.succeeded(again))
  }

  @Test func aReadThatKillsItsConnectionIsGivenUp() {
    let harness = Harness()
    let work = harness.submit(.read, [(fatal, Parameters())])
    harness.settle()
    #expect(harness.error(work)?.code == .connectionLost)
    #expect(harness.server.callNames.count { $0 == "sendExecute" } == 4)
  }

  @Test func aWriteThatTheServerEndedBeforeItsCommitIsNotUnknown() {
    let harness = Harness()
    let work = harness.submit(.write, [(write, Parameters(1)), (fatal, Parameters())])
    harness.settle()
    #expect(harness.error(work)?.code == .connectionLost)
    #expect(harness.server.committed.isEmpty)
  }

  @Test func connectingBacksOffAndRecovers() {
    let harness = Harness()
    harness.server.isDown = true
    let early = harness.submit(.read, [(read, Parameters())], within: 5 * second)
    harness.settle(seconds: 60)
    #expect(harness.error(early)?.code == .deadlineExceeded)
    #expect(harness.error(early)?.message?.contains("cannot connect") == true)
    // 60 s with pauses of 2.5 s to 5 s at the end, for three connections.
    #expect((30...150).contains(harness.server.connections.count))
    harness.server.isDown = false
    let work = harness.submit(.read, [(read, Parameters())])
    harness.settle()
    #expect(harness.succeeded(work))
  }

  // MARK: Hosts

  @Test func hostsAreTriedInOrderAndStandbysFirstWhenPreferred() {
    let hosts = [
      Host(name: "a.example", address: "", port: "1"),
      Host(name: "b.example", address: "", port: "2"),
      Host(name: "/socket", address: "", port: "3"),
      Host(name: "c", address: "10.9.9.9", port: "4"),
    ]
    let harness = Harness(hosts: hosts, target: "prefer-standby") {
      $0.readConnections = 1
      $0.connectTimeout = second
    }
    harness.server.isDown = true
    harness.turn()
    harness.turn()
    #expect(harness.names.first == ["a.example", "b.example"])
    let link = harness.engine.links[0]
    let places = link.plan.map { attempt in
      ["hostaddr", "host", "target_session_attrs"].map { keyword in
        attempt.first { $0.keyword == keyword }?.value ?? "-"
      }.joined(separator: " ")
    }
    let once = ["10.0.0.1 a.example", "10.0.0.2 a.example", "- /socket", "10.9.9.9 c"]
    #expect(places == once.map { "\($0) standby" } + once.map { "\($0) any" })
  }

  // MARK: Deadlines and cancellation

  @Test func anOverdueReadIsAnsweredAndItsConnectionFreed() {
    let harness = Harness()
    harness.settle()
    let slow = harness.submit(.read, [(hang, Parameters())], within: second)
    let behind = harness.submit(.read, [(read, Parameters())], within: 30 * second)
    harness.settle()
    #expect(harness.error(slow)?.code == .deadlineExceeded)
    #expect(harness.server.cancels == 1)
    // The fake server ignores the cancel request, so the connection is given up.
    #expect(harness.succeeded(behind))
    #expect(harness.engine.losses == 1)
  }

  @Test func anOverdueWriteIsUnknown() {
    let harness = Harness()
    let work = harness.submit(.write, [(hang, Parameters())], within: second)
    harness.settle()
    #expect(harness.error(work)?.code == .outcomeUnknown)
  }

  @Test func cancellation() {
    let harness = Harness()
    harness.settle()
    let queued = harness.submit(.write, [(write, Parameters(1))])
    harness.engine.cancel(queued)
    let sentRead = harness.submit(.read, [(hang, Parameters())], within: second)
    let sentWrite = harness.submit(.write, [(hang, Parameters())], within: second)
    harness.turn()
    harness.engine.cancel(sentRead)
    harness.engine.cancel(sentWrite)
    let early = Work(.write, [Step(write, Parameters(2))], deadline: .max)
    harness.engine.cancel(early)
    harness.engine.submit(early, now: harness.now)
    harness.settle()
    #expect(harness.error(queued)?.code == .cancelled)
    #expect(harness.error(sentRead)?.code == .cancelled)
    #expect(harness.error(sentWrite)?.code == .outcomeUnknown)
    #expect(harness.error(early)?.code == .cancelled)
    #expect(harness.server.committed.isEmpty)
  }

  @Test func theQueueIsBounded() {
    let harness = Harness { $0.maximumWaiting = 3 }
    harness.server.isDown = true
    let works = (0..<5).map { _ in harness.submit(.read, [(read, Parameters())]) }
    harness.turn()
    #expect(works.map { harness.error($0)?.code } == [nil, nil, nil, .queueFull, .queueFull])
  }

  // MARK: Leases

  private func acquire(_ harness: Harness, hold: UInt64 = 30 * second) throws -> Lease {
    let work = harness.submit(.acquire(holdNanoseconds: hold))
    harness.settle(until: { work.state == .finished })
    guard case .lease(let lease) = harness.outcome(work) else {
      throw PostgresError(.leaseTimeout)
    }
    return lease
  }

  @Test func aLeaseThatLeavesATransactionOpenIsRolledBack() throws {
    let harness = Harness()
    let lease = try acquire(harness)
    harness.submit(.leased(lease, .statements), [(Isolation.serializable.begin, Parameters())])
    harness.submit(.leased(lease, .statements), [(write, Parameters(1))])
    harness.settle(seconds: 1)
    harness.submit(.leased(lease, .release(close: false)))
    let late = harness.submit(.leased(lease, .statements), [(write, Parameters(2))])
    let next = try acquire(harness)
    let work = harness.submit(.leased(next, .statements), [(write, Parameters(3))])
    harness.settle(seconds: 1)
    #expect(harness.error(late)?.code == .misuse)
    #expect(harness.succeeded(work))
    #expect(harness.server.committed == [3])
    #expect(harness.server.connections.count == 3, "the connection was kept")
  }

  @Test func leasesTimeOutWaitingAndHeld() throws {
    let harness = Harness()
    let lease = try acquire(harness, hold: 10 * second)
    let waiting = harness.submit(.acquire(holdNanoseconds: second), within: second)
    harness.settle(seconds: 2)
    #expect(harness.error(waiting)?.code == .leaseTimeout)
    let running = harness.submit(.leased(lease, .statements), [(hang, Parameters())])
    harness.settle(seconds: 20)
    #expect(harness.error(running)?.code == .outcomeUnknown)
    let late = harness.submit(.leased(lease, .statements), [(read, Parameters())])
    harness.settle(seconds: 1)
    #expect(harness.error(late)?.code == .leaseTimeout)
    _ = try acquire(harness)
  }

  @Test func aLostCommitIsUnknownAndALostStatementInATransactionIsNot() throws {
    for (step, statement, code) in [
      (LeaseStep.commit, hang, PostgresError.Code.outcomeUnknown),
      (.statements, hang, .connectionLost),
    ] {
      let harness = Harness()
      let lease = try acquire(harness)
      harness.submit(.leased(lease, .statements), [(Isolation.serializable.begin, Parameters())])
      harness.settle(seconds: 1)
      let work = harness.submit(.leased(lease, step), [(statement, Parameters())])
      harness.turn()
      harness.server.connections.forEach { $0.die() }
      harness.settle(seconds: 1)
      #expect(harness.error(work)?.code == code)
    }
  }

  @Test func aCopyThatTheServerRefusedEarlyEnds() throws {
    let harness = Harness()
    let lease = try acquire(harness)
    let begin = harness.submit(.leased(lease, .copyIn("COPY IN bad")))
    harness.settle(seconds: 1)
    let data = harness.submit(.leased(lease, .copyData([1])))
    // The refusal is read from the socket here, long before the end is put.
    harness.settle(seconds: 1)
    let end = harness.submit(.leased(lease, .copyEnd(failing: nil)))
    harness.settle(seconds: 1)
    #expect(harness.succeeded(begin) && harness.succeeded(data))
    #expect(harness.error(end)?.sqlState == "22P02")
  }

  // MARK: LISTEN

  @Test func listeningIsAnnouncedAtFirstAndAfterEachLoss() {
    let harness = Harness()
    harness.engine.listen(to: ["a", "b"], announcing: "b")
    harness.settle()
    #expect(harness.listening == ["a", "b"])
    harness.server.connections.last?.notify("a")
    harness.settle()
    #expect(harness.notifications.map(\.channel) == ["a"])
    harness.server.connections.forEach { $0.die() }
    harness.settle()
    #expect(harness.listening == ["a", "b", "a", "b"])
    harness.engine.listen(to: ["a", "b"], announcing: "a")
    harness.settle()
    #expect(harness.listening == ["a", "b", "a", "b", "a"])
  }

  // MARK: Shutting down

  @Test func shutdownDrainsThenFailsWhatIsLeft() {
    let harness = Harness()
    harness.settle()
    let quick = harness.submit(.write, [(write, Parameters(1))])
    let stuckWrite = harness.submit(.transaction, [(hang, Parameters())])
    let stuckRead = harness.submit(.read, [(hang, Parameters())])
    harness.turn()
    harness.engine.shutDown(by: harness.now + 3 * second)
    let late = harness.submit(.read, [(read, Parameters())])
    harness.settle()
    harness.turn()
    #expect(harness.engine.isStopped)
    #expect(harness.succeeded(quick))
    #expect(harness.error(stuckWrite)?.code == .outcomeUnknown)
    #expect(harness.error(stuckRead)?.code == .poolShutDown)
    #expect(harness.error(late)?.code == .poolShutDown)
    #expect(!harness.server.connections.contains { !$0.isFinished })
  }
}
