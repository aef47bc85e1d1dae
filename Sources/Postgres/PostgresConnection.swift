public import PostgresWire

extension PostgresClient {
  /// Calls `body` with a connection of its own.
  ///
  /// Afterwards the connection is returned only when libpq proves it idle; an open transaction is
  /// rolled back first, within a bound of its own and whatever becomes of the caller. Session state
  /// (SET, advisory locks, temporary tables) outlives the lease: use the transaction's forms, or
  /// ``PostgresConnection/discard()``.
  ///
  /// - Parameters:
  ///   - deadline: how long it may be held; beyond it the connection is closed and what is asked of
  ///     it throws `.leaseTimeout`. The configuration's `leaseDeadline` by default.
  ///   - body: what to do; the connection must not be used after it returns.
  /// - Throws: what `body` throws; `.leaseTimeout` when none became free within `leaseWait`.
  public func withConnection<R>(
    deadline: Duration? = nil, isolation actor: isolated (any Actor)? = #isolation,
    _ body: (PostgresConnection) async throws -> R
  ) async throws -> R {
    let hold = (deadline ?? configuration.leaseDeadline).nanoseconds
    let outcome = await reactor.perform(
      .acquire(holdNanoseconds: hold), [], reactor.deadline(configuration.leaseWait))
    let lease: Lease
    switch outcome {
    case .lease(let granted): lease = granted
    case .failure(let error): throw error
    case .result, .results, .chunk: throw unexpectedOutcome
    }
    let connection = PostgresConnection(lease: lease, client: self)
    do {
      let result = try await body(connection)
      reactor.release(lease, close: connection.isDiscarded)
      return result
    } catch {
      reactor.release(lease, close: connection.isDiscarded)
      throw error
    }
  }

  /// Calls `body` inside a transaction on a connection of its own; commits when it returns, rolls
  /// back when it throws.
  ///
  /// - Parameters:
  ///   - isolation: the isolation level.
  ///   - retries: how often `body` is called again after a serialization failure or a deadlock.
  ///   - deadline: as in ``withConnection(deadline:isolation:_:)``.
  ///   - body: what to do; it must not commit or roll back itself.
  /// - Throws: what `body` throws; `.outcomeUnknown` when the connection is lost during COMMIT.
  public func withTransaction<R>(
    isolation: Isolation = .readCommitted, retries: Int = 0, deadline: Duration? = nil,
    on actor: isolated (any Actor)? = #isolation,
    _ body: (PostgresConnection) async throws -> R
  ) async throws -> R {
    var left = retries
    while true {
      do {
        return try await withConnection(deadline: deadline, isolation: actor) { connection in
          try await connection.query(isolation.begin)
          let result = try await body(connection)
          try await connection.commit()
          return result
        }
      } catch let error as PostgresError where error.isTransactionRetryable && left > 0 {
        left -= 1
      }
    }
  }
}

/// A connection that one caller holds alone. Valid inside `withConnection` only; what is asked of it
/// at the same time runs one after another.
public final class PostgresConnection: Sendable {
  let lease: Lease
  private let client: PostgresClient
  private let discarded = Flag()

  init(lease: Lease, client: PostgresClient) {
    self.lease = lease
    self.client = client
  }

  /// Runs a statement.
  ///
  /// - Parameter deadline: how long it may take; the lease's by default.
  /// - Throws: `.server`; `.connectionLost` when the connection was lost inside a transaction, which
  ///   is thereby rolled back; `.outcomeUnknown` when it was lost outside of one, or during COMMIT.
  @discardableResult
  public func query(
    _ statement: Statement, _ parameters: Parameters = Parameters(), deadline: Duration? = nil
  ) async throws(PostgresError) -> Rows {
    try await perform(.statements, [Step(statement, parameters)], deadline).rows()
  }

  /// Runs a SQL script of one or several statements without parameters, for migrations. Without
  /// BEGIN and COMMIT of its own it is one transaction. Hold no user's values in it.
  ///
  /// - Returns: the result of its last statement, in text form.
  /// - Throws: as `query`; what a lost connection leaves behind is always `.outcomeUnknown`.
  @discardableResult
  public func execute(
    _ script: String, deadline: Duration? = nil
  ) async throws(PostgresError) -> Rows {
    try await perform(.script(script), [], deadline).rows()
  }

  /// Runs `COPY … FROM STDIN` with the given data. The next chunk is asked for when the last one has
  /// been handed to the socket.
  ///
  /// - Parameters:
  ///   - sql: the COPY statement.
  ///   - chunks: the data in COPY's format, split anywhere; an error it throws fails the COPY, and
  ///     is thrown on.
  ///   - deadline: how long it may take in all; the lease's by default.
  /// - Returns: the number of rows copied.
  @discardableResult
  public func copyIn<Chunks: AsyncSequence>(
    _ sql: String, _ chunks: Chunks, deadline: Duration? = nil,
    isolation actor: isolated (any Actor)? = #isolation
  ) async throws -> Int where Chunks.Element == [UInt8] {
    let end = client.reactor.deadline(deadline ?? .seconds(86_400))
    _ = try await perform(.copyIn(sql), [], end).rows()
    do {
      for try await chunk in chunks where !chunk.isEmpty {
        if case .failure(let error) = await perform(.copyData(chunk), [], end) { throw error }
      }
    } catch {
      _ = await perform(.copyEnd(failing: "the source of the data failed"), [], end)
      throw error
    }
    return try await perform(.copyEnd(failing: nil), [], end).rows().affected
  }

  /// Runs `COPY … TO STDOUT`. Rows are read from the socket only as the chunks are.
  ///
  /// - Parameters:
  ///   - sql: the COPY statement.
  ///   - deadline: how long it may take in all; the lease's by default.
  /// - Returns: chunks of whole rows in COPY's format, about 64 KiB each. Read it to its end, or
  ///   the connection is closed when it is returned.
  public func copyOut(
    _ sql: String, deadline: Duration? = nil
  ) async throws(PostgresError) -> CopyOutput {
    let end = client.reactor.deadline(deadline ?? .seconds(86_400))
    _ = try await perform(.copyOut(sql), [], end).rows()
    return CopyOutput(connection: self, deadline: end)
  }

  /// Commits; the error of a connection lost meanwhile is `.outcomeUnknown`.
  func commit() async throws(PostgresError) {
    _ = try await perform(.commit, [Step(Isolation.commit, Parameters())], nil).rows()
  }

  /// Has the connection closed, rather than used again, when the lease ends.
  public func discard() { discarded.set() }

  var isDiscarded: Bool { discarded.isSet }

  private func perform(
    _ step: LeaseStep, _ steps: [Step], _ deadline: Duration?
  ) async -> Outcome {
    await perform(step, steps, deadline.map { client.reactor.deadline($0) } ?? .max)
  }

  func perform(_ step: LeaseStep, _ steps: [Step], _ deadline: UInt64) async -> Outcome {
    await client.reactor.perform(.leased(lease, step), steps, deadline)
  }
}

/// The output of a COPY. Iterate over it once.
public struct CopyOutput: AsyncSequence, Sendable {
  let connection: PostgresConnection
  let deadline: UInt64

  public struct AsyncIterator: AsyncIteratorProtocol {
    let output: CopyOutput
    private var ended = false

    init(_ output: CopyOutput) { self.output = output }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(PostgresError) -> [UInt8]? {
      if ended { return nil }
      switch await output.connection.perform(.copyRead, [], output.deadline) {
      case .chunk(let bytes?): return bytes
      case .failure(let error):
        ended = true
        throw error
      case .chunk(nil), .result, .results, .lease:
        ended = true
        return nil
      }
    }

    public mutating func next() async throws(PostgresError) -> [UInt8]? {
      try await next(isolation: nil)
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}
