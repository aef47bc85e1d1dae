public import Logging
import NIOConcurrencyHelpers
public import PostgresWire
public import ServiceLifecycle

/// A client of one PostgreSQL database.
///
/// One thread of its own drives all connections without blocking. Reads share a few of them, in
/// pipelines; single writes are grouped into shared commits; transactions, COPY and leases have a
/// connection of their own. Statements wait, up to their deadline, while there is no connection,
/// so calls may be made before `run()` and during a restart of the server.
public final class PostgresClient: Service, Sendable {
  let configuration: PostgresConfiguration
  let reactor: Reactor
  private let flaw: PostgresError?

  /// A client that connects once `run()` is called.
  public init(configuration: PostgresConfiguration, logger: Logger) {
    self.configuration = configuration
    let settings = Result { () throws(PostgresError) in try configuration.settings() }
    switch settings {
    case .success(let settings):
      flaw = nil
      reactor = Reactor(settings: settings, logger: logger)
    case .failure(let error):
      flaw = error
      reactor = Reactor(settings: EngineSettings(hosts: []), logger: logger)
    }
  }

  deinit { reactor.shutDown(within: .zero) }

  /// Runs the client until graceful shutdown or cancellation; then finishes what is under way
  /// within `drainTimeout`, fails the rest with `.poolShutDown` and closes all connections.
  ///
  /// - Throws: `.configuration` for a connection string that libpq refuses or a configuration out
  ///   of range, `.misuse` when run a second time.
  public func run() async throws {
    if let flaw { throw flaw }
    try reactor.start()
    await withTaskCancellationOrGracefulShutdownHandler {
      await reactor.stopped()
    } onCancelOrGracefulShutdown: { [reactor, configuration] in
      reactor.shutDown(within: configuration.drainTimeout)
    }
  }

  /// Runs a read on the shared pipelines.
  ///
  /// The connections are read-only (`default_transaction_read_only`), so that a read whose
  /// connection is lost can be, and is, run again.
  ///
  /// - Parameter deadline: how long it may take, waiting included; the configuration's by default.
  /// - Throws: `.server` with the SQLSTATE, `.deadlineExceeded`, `.cancelled`, `.connectionLost`
  ///   when it was lost several times, `.queueFull`, `.badParameter`, `.poolShutDown`.
  public func query(
    _ statement: Statement, _ parameters: Parameters = Parameters(), deadline: Duration? = nil
  ) async throws(PostgresError) -> Rows {
    try await single(.read, statement, parameters, deadline)
  }

  /// Runs a single data-modifying statement in a commit that it may share with other callers'.
  ///
  /// When one of a group fails, the group is rolled back and each runs again on its own: a failure
  /// reaches its own caller only. The statement must not control transactions.
  ///
  /// - Parameter deadline: how long it may take, waiting included; the configuration's by default.
  /// - Throws: as `query`, and `.outcomeUnknown` when the connection was lost, the deadline passed
  ///   or the task was cancelled after it was sent.
  public func write(
    _ statement: Statement, _ parameters: Parameters = Parameters(), deadline: Duration? = nil
  ) async throws(PostgresError) -> Rows {
    try await single(.write, statement, parameters, deadline)
  }

  /// Runs statements as one transaction, in one round trip.
  ///
  /// - Parameters:
  ///   - steps: the statements in order, without BEGIN and COMMIT; when one fails none takes effect.
  ///   - isolation: the isolation level; the server's default by default.
  ///   - grouped: lets the transaction share its commit with `write`s and other grouped
  ///     transactions, which raises throughput and holds its locks for as long as its group takes.
  ///     Only with the default isolation.
  ///   - retries: how often it is run again after a serialization failure or a deadlock.
  ///   - deadline: how long it may take, waiting and retries included; the configuration's by
  ///     default.
  /// - Returns: a result for each step.
  /// - Throws: as `write`; the error names the statement that failed.
  public func transaction(
    _ steps: [(Statement, Parameters)], isolation: Isolation? = nil, grouped: Bool = false,
    retries: Int = 0, deadline: Duration? = nil
  ) async throws(PostgresError) -> [Rows] {
    if steps.isEmpty { return [] }
    if grouped && isolation != nil {
      throw PostgresError(.misuse, message: "a grouped transaction has the default isolation")
    }
    let end = reactor.deadline(deadline ?? configuration.deadline)
    var work = steps.map { Step($0.0, $0.1) }
    if let isolation {
      work.insert(Step(isolation.begin, Parameters()), at: 0)
      work.append(Step(Isolation.commit, Parameters()))
    }
    var left = retries
    while true {
      let outcome = await reactor.perform(grouped ? .write : .transaction, work, end)
      switch outcome {
      case .results(let results):
        let own = isolation == nil ? results[...] : results.dropFirst().dropLast()
        return own.map { unsafeDowncast($0, to: Rows.self) }
      case .failure(let error):
        guard left > 0, error.isTransactionRetryable else { throw error }
        left -= 1
      case .result, .lease, .chunk: throw unexpectedOutcome
      }
    }
  }

  private func single(
    _ kind: Work.Kind, _ statement: Statement, _ parameters: Parameters, _ deadline: Duration?
  ) async throws(PostgresError) -> Rows {
    let outcome = await reactor.perform(
      kind, [Step(statement, parameters)], reactor.deadline(deadline ?? configuration.deadline))
    return try outcome.rows()
  }

  /// Listens to a channel until the sequence's last iterator is gone.
  ///
  /// Notifications are hints: they are lost while the connection is. `.reconnected` says that
  /// listening has begun, at first and after each loss, and what came before may have been missed.
  ///
  /// - Parameter channel: its name, 1 to 63 bytes, case-sensitive.
  public func listen(_ channel: String) -> Notifications {
    reactor.subscriptions.subscribe(to: channel, reactor: reactor)
  }

  /// Returns once each pool has a connection that works, or throws.
  ///
  /// - Parameter deadline: how long to wait; the configuration's by default.
  /// - Throws: as `query`; a `.deadlineExceeded` tells why connecting failed last.
  public func ready(deadline: Duration? = nil) async throws(PostgresError) {
    _ = try await query(Self.ping, deadline: deadline)
    _ = try await transaction([(Self.ping, Parameters())], deadline: deadline)
    _ = try await write(Self.ping, deadline: deadline)
  }

  private static let ping = Statement(name: "vocative_ping", sql: "SELECT 1", columns: [.int4])

  /// How the pools are at this moment.
  public var health: PostgresHealth { reactor.health.withLockedValue { $0 } }
}

let unexpectedOutcome = PostgresError(
  .protocolViolation, message: "the engine answered with another kind of outcome")

extension Outcome {
  func rows() throws(PostgresError) -> Rows {
    switch self {
    // All results are made by SystemLibPQ.
    case .result(let result): return unsafeDowncast(result, to: Rows.self)
    case .results(let results):
      guard let last = results.last else { throw unexpectedOutcome }
      return unsafeDowncast(last, to: Rows.self)
    case .failure(let error): throw error
    case .lease, .chunk: throw unexpectedOutcome
    }
  }
}
