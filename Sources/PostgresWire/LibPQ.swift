// What the state machines need of libpq. The real one stands in the Postgres target; tests script a
// fake that fails at any call. One thread owns a `LibPQ` and everything made by it, except results
// and cancel requests, which may go to any thread.

/// Makes connections.
package protocol LibPQ: AnyObject {
  /// PQconnectStartParams: begins to connect, without blocking; nil when out of memory.
  func connect(_ parameters: [ConnectParameter]) -> (any LibPQConnection)?
}

/// A keyword and its value in a connection string.
package struct ConnectParameter: Sendable, Hashable {
  package var keyword: String
  package var value: String
  package init(_ keyword: String, _ value: String) {
    self.keyword = keyword
    self.value = value
  }
}

/// A `PGconn` in non-blocking use.
package protocol LibPQConnection: AnyObject {
  /// PQconnectPoll.
  func connectPoll() -> PollStatus
  /// PQsocket: negative when there is none.
  var socket: Int32 { get }
  /// PQstatus is CONNECTION_BAD.
  var isBad: Bool { get }
  /// PQtransactionStatus.
  var transactionStatus: TransactionStatus { get }
  /// PQerrorMessage: for connection errors; may be empty.
  var errorMessage: String { get }
  /// PQsetnonblocking(1).
  func setNonblocking() -> Bool
  func enterPipeline() -> Bool
  func exitPipeline() -> Bool
  func sendPrepare(_ statement: Statement) -> Bool
  /// PQsendQueryPrepared with binary parameters, asking for binary results.
  func sendExecute(_ statement: Statement, _ parameters: Parameters) -> Bool
  /// PQsendQuery: the simple protocol.
  func sendScript(_ sql: String) -> Bool
  func pipelineSync() -> Bool
  func flush() -> FlushStatus
  func consumeInput() -> Bool
  var isBusy: Bool { get }
  /// PQgetResult.
  func nextResult() -> (any LibPQResult)?
  /// PQnotifies.
  func nextNotification() -> Notification?
  func putCopyData(_ bytes: [UInt8]) -> CopyPutStatus
  /// PQputCopyEnd; a reason makes the server fail the COPY.
  func putCopyEnd(failing reason: String?) -> CopyPutStatus
  /// PQgetCopyData(async): appends a row to the buffer.
  func getCopyData(into buffer: inout [UInt8]) -> CopyGetStatus
  /// PQgetCancel.
  func cancelRequest() -> (any CancelRequest)?
  /// PQfinish. Nothing else is called afterwards.
  func finish()
}

package enum PollStatus: Sendable { case reading, writing, ok, failed }
package enum TransactionStatus: Sendable { case idle, active, inTransaction, inError, unknown }
package enum FlushStatus: Sendable { case done, more, failed }
package enum CopyPutStatus: Sendable { case queued, full, failed }
package enum CopyGetStatus: Sendable { case row, wait, end, failed }

/// A finished `PGresult`.
package protocol LibPQResult: AnyObject, Sendable {
  var status: ResultStatus { get }
  func field(_ field: ErrorField) -> String?
}

package enum ResultStatus: Sendable {
  case empty, command, rows, copyOut, copyIn, error, sync, aborted, other
}

/// The fields of an error that are kept; DETAIL, HINT and CONTEXT may hold values and are not here.
package enum ErrorField: Sendable {
  case severity, sqlState, message, position, table, column, constraint, routine
}

/// A prepared PQcancel, which blocks: performed on a thread of its own.
package protocol CancelRequest: AnyObject, Sendable {
  /// PQcancel: asks the server to cancel what runs on the connection just then.
  func perform()
}

/// What a NOTIFY brought.
public struct Notification: Sendable, Hashable {
  /// The channel it was sent to.
  public var channel: String
  /// Its payload; empty without one.
  public var payload: String
  /// The process id of the server process that sent it.
  public var processID: Int32

  /// A notification.
  public init(channel: String, payload: String, processID: Int32) {
    self.channel = channel
    self.payload = payload
    self.processID = processID
  }
}
