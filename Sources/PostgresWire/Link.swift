import DequeModule

/// One place for a connection in a pool, kept across reconnects: its life, what is in flight on it,
/// and who holds it.
package final class Link {
  enum Role { case read, write, lease, listen }

  enum Phase: Equatable {
    /// Waiting to connect (again).
    case down(until: UInt64)
    case resolving
    case connecting(until: UInt64)
    case settingUp(until: UInt64)
    case ready
    case closed
  }

  /// What the next result belongs to.
  enum Slot {
    case prepare(Statement, Work)
    case execute(Work)
    case sync
  }

  let id: Int
  let role: Role
  var phase = Phase.down(until: 0)
  /// Turns with each connection, so that a late event of an earlier one is told apart.
  var generation: UInt32 = 0
  var pq: (any LibPQConnection)?
  var backoff: Backoff

  /// The attempts of this round of connecting, and the next of them.
  var plan: [[ConnectParameter]] = []
  var nextAttempt = 0

  var slots = Deque<Slot>()
  var batches = Deque<Batch>()
  /// The batch that is being filled in this tick.
  var openBatch: Batch?
  var prepared = Set<Statement>()
  /// NULLs in a row from PQgetResult: more than two means that libpq and we disagree.
  var nulls = 0
  /// Whether libpq holds bytes that the socket did not take.
  var wantsWrite = false
  var watched: (reading: Bool, writing: Bool) = (false, false)

  /// The simple-protocol exchange under way: set-up, scripts, COPY, LISTEN.
  var script: Script?

  /// Whether a cancel request has been sent on this connection: it may hit a later statement.
  var cancelSent = false
  /// When to give the connection up if what was cancelled is not over.
  var cancelDeadline = UInt64.max
  /// The server said FATAL: nothing after that was run, let alone committed.
  var fatal = false
  /// Close and reconnect once nothing is in flight.
  var recycle = false

  var lease: Lease?
  var leaseQueue = Deque<Work>()
  /// The lease is over, what it left is being cleaned up.
  var releasing = false
  /// A ROLLBACK is under way; it is not tried twice.
  var rollingBack = false

  init(id: Int, role: Role, backoff: Backoff) {
    self.id = id
    self.role = role
    self.backoff = backoff
  }

  var isReady: Bool { phase == .ready }
  var isIdle: Bool { isReady && slots.isEmpty && script == nil }

  /// When the lease is revoked; `.max` without one, and while it is being cleaned up.
  var leaseEnd: UInt64 { releasing ? .max : lease?.holdDeadline ?? .max }

  /// The work that the server is at.
  var head: Work? {
    switch slots.first {
    case .prepare(_, let work), .execute(let work): work
    case .sync: batches.first?.members.last
    case nil: script?.work
    }
  }

  /// Forgets everything about the connection that is gone.
  func forget() {
    generation &+= 1
    pq = nil
    slots.removeAll(keepingCapacity: true)
    batches.removeAll()
    openBatch = nil
    prepared.removeAll(keepingCapacity: true)
    nulls = 0
    wantsWrite = false
    watched = (false, false)
    script = nil
    cancelSent = false
    cancelDeadline = .max
    fatal = false
    recycle = false
    releasing = false
    rollingBack = false
  }
}

/// Works that share a sync point, and so an implicit transaction.
final class Batch {
  var members: [Work] = []
  /// Everything up to the sync was handed to the socket: the server may have run it.
  var sent = false
  /// The first failure; the server skipped everything between it and the sync.
  var failure: PostgresError?
  /// A failure for no fault of the members, after which they run again.
  var failureIsSetback = false
}

/// A simple-protocol exchange.
struct Script {
  enum Phase: Equatable {
    /// Reading results up to the end.
    case results
    /// As `results`, and COPY is expected to start.
    case copyInStart, copyOutStart
    /// COPY has started and waits for its lease's next step.
    case copyInOpen, copyOutOpen
    /// The rows of a COPY have been read; what remains is whether it succeeded.
    case copyOutRead
    /// A chunk is being put; its bytes until libpq has queued them.
    case putting([UInt8]?)
    /// The end of a COPY is being put.
    case ending(failing: String?)
    /// A chunk is being read.
    case reading([UInt8])
  }
  /// The work to be answered next; nil while a COPY waits.
  var work: Work?
  var phase: Phase
  var last: (any LibPQResult)?
  var failure: PostgresError?

  init(work: Work, phase: Phase) {
    self.work = work
    self.phase = phase
  }
}
