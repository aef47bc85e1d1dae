/// What one caller asks of the engine, and what has become of it.
///
/// The engine's thread owns everything mutable from `Engine.submit` on. Every work is
/// answered once.
package final class Work: @unchecked Sendable {
  package enum Kind {
    /// A single read on the shared pipelines; run again when a connection is lost.
    case read
    /// Statements that commit together, grouped with others.
    case write
    /// Statements that commit together, on an exclusive connection.
    case transaction
    /// An exclusive connection.
    case acquire(holdNanoseconds: UInt64)
    /// One step on a leased connection.
    case leased(Lease, LeaseStep)
    /// The engine's own: set-up, ROLLBACK, LISTEN.
    case housekeeping
  }

  package enum State { case new, queued, sent, finished }

  package let kind: Kind
  package let steps: [Step]
  /// Monotonic nanoseconds by which the caller wants an answer; `.max` for never.
  package let deadline: UInt64

  /// The caller that waits, for whoever delivers the engine's completions.
  package var continuation: UnsafeContinuation<Outcome, Never>?
  package internal(set) var state = State.new
  /// Its task was cancelled before it was submitted.
  var isCancelledEarly = false
  /// The connection it was sent on.
  weak var link: Link?
  /// Results held back until the commit is known.
  var results: [any LibPQResult] = []
  /// How often it has to be run again for no fault of its own: the connection was lost, or its
  /// prepared statement had gone.
  var setbacks = 0
  /// A leased step that cannot have had an effect when its answer is missing: it only reads, or is
  /// inside a transaction that something later commits.
  var isCertainUnanswered = false
  /// Runs in a batch of its own after it was in a batch that failed.
  var isolated = false

  package init(_ kind: Kind, _ steps: [Step], deadline: UInt64) {
    self.kind = kind
    self.steps = steps
    self.deadline = deadline
  }

  /// Why its statements cannot be sent.
  package var flaw: PostgresError? {
    for step in steps {
      let statement = step.statement
      // The server keeps 63 bytes of a name, so longer ones could be taken for each other.
      guard (2...64).contains(statement.wireName.count) else {
        return PostgresError(
          .badParameter, message: "a statement's name has 1 to 63 bytes", statement: statement.name)
      }
      if var flaw = step.parameters.flaw {
        flaw.statement = statement.name
        return flaw
      }
      if step.parameters.count != statement.parameters.count {
        return PostgresError(
          .badParameter,
          message: "\(step.parameters.count) parameters for \(statement.parameters.count)",
          statement: statement.name)
      }
    }
    return nil
  }
}

/// A statement with its parameters.
package struct Step: Sendable {
  package var statement: Statement
  package var parameters: Parameters
  package init(_ statement: Statement, _ parameters: Parameters) {
    self.statement = statement
    self.parameters = parameters
  }
}

/// What can be done on a leased connection; the first two run the work's own steps.
package enum LeaseStep {
  case statements
  case commit
  case script(String)
  case copyIn(String)
  case copyData([UInt8])
  case copyEnd(failing: String?)
  case copyOut(String)
  case copyRead
  case release(close: Bool)

  var isCommit: Bool {
    if case .commit = self { true } else { false }
  }
}

/// The answer to a work.
package enum Outcome {
  case result(any LibPQResult)
  case results([any LibPQResult])
  case lease(Lease)
  /// A part of a COPY; nil at its end.
  case chunk([UInt8]?)
  case failure(PostgresError)
}

/// An exclusive hold on a connection, good until it is released, revoked or lost.
package final class Lease: @unchecked Sendable {
  // All of it is owned by the engine's thread.
  weak var link: Link?
  /// Why it is over, once it is.
  var over: PostgresError?
  /// Monotonic nanoseconds at which it is revoked.
  let holdDeadline: UInt64

  init(link: Link, holdDeadline: UInt64) {
    self.link = link
    self.holdDeadline = holdDeadline
  }
}

/// The isolation of a transaction (SET TRANSACTION in PostgreSQL's manual).
public enum Isolation: Sendable, Hashable {
  /// Each statement sees what was committed before it began; the server's default.
  case readCommitted
  /// All statements see one snapshot; conflicting writes fail with SQLSTATE 40001.
  case repeatableRead
  /// As if transactions ran one after another; conflicts fail with SQLSTATE 40001.
  case serializable

  /// The statement that begins such a transaction.
  package var begin: Statement {
    switch self {
    case .readCommitted: Self.beginReadCommitted
    case .repeatableRead: Self.beginRepeatableRead
    case .serializable: Self.beginSerializable
    }
  }

  package static let commit = Statement(name: "vocative_commit", sql: "COMMIT")
  private static let beginReadCommitted = Statement(
    name: "vocative_begin_read_committed", sql: "BEGIN ISOLATION LEVEL READ COMMITTED")
  private static let beginRepeatableRead = Statement(
    name: "vocative_begin_repeatable_read", sql: "BEGIN ISOLATION LEVEL REPEATABLE READ")
  private static let beginSerializable = Statement(
    name: "vocative_begin_serializable", sql: "BEGIN ISOLATION LEVEL SERIALIZABLE")
}
