import Testing

@testable import PostgresWire

/// Makes each call to libpq fail once, one at a time, in both ways it can fail, and checks that each
/// caller gets exactly one answer, that the answer is true, and that the pools recover.
@Suite struct FaultInjection {
  /// Everything that callers can do, some of it refused by the server.
  struct Scenario {
    var writes: [(value: Int, work: Work)] = []
    var reads: [Work] = []
    var refused: [Work] = []
    var lease: Work?
    var leased: [(value: Int?, work: Work)] = []

    init(_ harness: Harness, base: Int) {
      for index in 0..<4 {
        reads.append(harness.submit(.read, [(read, Parameters())]))
        writes.append((base + index, harness.submit(.write, [step(base + index)])))
        if index == 1 {
          refused.append(harness.submit(.read, [(bad, Parameters())]))
          refused.append(harness.submit(.write, [(bad, Parameters())]))
        }
      }
      for index in 10..<12 {
        writes.append((base + index, harness.submit(.transaction, [step(base + index)])))
      }
      refused.append(harness.submit(.transaction, [step(base + 20), (bad, Parameters())]))
      lease = harness.submit(.acquire(holdNanoseconds: 30 * second))
      harness.engine.listen(to: ["news"], announcing: "news")
    }

    func step(_ value: Int) -> (Statement, Parameters) { (write, Parameters(value)) }

    /// What the holder of the lease does, once it has it.
    mutating func useLease(_ harness: Harness, base: Int) {
      guard let work = lease, case .lease(let lease) = harness.outcome(work) else { return }
      func leased(_ step: LeaseStep, _ steps: [(Statement, Parameters)] = [], _ value: Int? = nil)
        -> (Int?, Work)
      {
        (value, harness.submit(.leased(lease, step), steps))
      }
      self.leased = [
        leased(.statements, [(Isolation.serializable.begin, Parameters())]),
        leased(.statements, [step(base + 30)]),
        leased(.commit, [(Isolation.commit, Parameters())], base + 30),
        leased(.script("anything")),
        leased(.copyIn("COPY IN")),
        leased(.copyData(Array(repeating: 7, count: base + 40))),
        leased(.copyEnd(failing: nil), [], base + 40),
        leased(.copyOut("COPY OUT")),
        leased(.copyRead),
        leased(.copyRead),
        leased(.statements, [(Isolation.serializable.begin, Parameters())]),
        leased(.statements, [step(base + 50)]),
      ]
      harness.settle(until: { [self] in self.leased.allSatisfy { $0.work.state == .finished } })
      harness.submit(.leased(lease, .release(close: false)))
    }

    func check(_ harness: Harness, _ context: String, perfect: Bool) {
      for work in reads + refused + writes.map(\.work) + leased.map(\.work) + [lease!] {
        #expect(harness.outcomes[ObjectIdentifier(work)]?.count == 1, "\(context): one answer")
      }
      for work in reads { #expect(harness.succeeded(work), "\(context): reads are run again") }
      for work in refused {
        guard let error = harness.error(work) else {
          Issue.record("\(context): a refused statement succeeded")
          continue
        }
        if error.code == .server { #expect(error.sqlState == "23505") } else { #expect(!perfect) }
      }
      for (value, work) in writes
        + leased.compactMap({ pair in pair.value.map { ($0, pair.work) } })
      {
        let times = harness.server.committed.count { $0 == value }
        switch harness.error(work)?.code {
        case nil: #expect(times == 1, "\(context): \(value) succeeded, committed \(times) times")
        case .outcomeUnknown: #expect(times <= 1 && !perfect, "\(context): \(value) unknown")
        default: #expect(times == 0 && !perfect, "\(context): \(value) failed but is committed")
        }
      }
    }
  }

  private func play(failing call: Int, _ fault: FakeServer.Fault) -> Harness {
    let harness = Harness()
    harness.server.failingCall = call
    harness.server.fault = fault
    let context = "call \(call) fails \(fault)"
    var first = Scenario(harness, base: 0)
    harness.settle(until: { first.lease?.state == .finished })
    first.useLease(harness, base: 0)
    harness.settle()
    first.check(harness, context, perfect: call == .max)
    // The fault is over: everything works again.
    harness.server.failingCall = .max
    var next = Scenario(harness, base: 100)
    harness.settle(until: { next.lease?.state == .finished })
    next.useLease(harness, base: 100)
    harness.settle()
    next.check(harness, context + ", afterwards", perfect: true)
    #expect(harness.listening.contains("news"), "\(context): listening")
    #expect(harness.server.connections.count { !$0.isFinished } == 4, "\(context): no leak")
    return harness
  }

  @Test func everyCallFailsOnce() {
    let clean = play(failing: .max, .beforeServer)
    let names = Set(clean.server.callNames)
    #expect(names.isSuperset(of: ["connect", "connectPoll", "setNonblocking", "enterPipeline"]))
    #expect(names.isSuperset(of: ["exitPipeline", "sendPrepare", "sendExecute", "pipelineSync"]))
    #expect(names.isSuperset(of: ["flush", "consumeInput", "nextResult", "putCopyData"]))
    #expect(names.isSuperset(of: ["putCopyEnd", "getCopyData", "sendScript"]))
    let calls = clean.server.calls / 2
    #expect(calls > 100)
    for call in 1...calls {
      _ = play(failing: call, .beforeServer)
      _ = play(failing: call, .afterServer)
    }
  }
}
