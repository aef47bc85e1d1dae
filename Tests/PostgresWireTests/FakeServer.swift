@testable import PostgresWire

/// A scripted libpq with a small server behind it, in which any one call can fail.
///
/// Statements are known by their SQL: `read`, `write` (commits its first parameter), `bad` (is
/// refused), `begin`/`COMMIT`/`ROLLBACK`, `hang` (is never answered), `fatal` (the server ends the
/// connection). Scripts and COPY are known by theirs.
final class FakeServer: LibPQ {
  /// How a failing call fails: before the server has seen what was sent, or after.
  enum Fault { case beforeServer, afterServer }

  var calls = 0
  var callNames: [String] = []
  var failingCall = Int.max
  var fault = Fault.beforeServer
  /// Every committed value, in the order of commits.
  var committed: [Int] = []
  var commits = 0
  var connections: [FakeConnection] = []
  var cancels = 0
  /// While true, connecting fails.
  var isDown = false
  /// While true, what the server answers is on its way.
  var isFarAway = false
  /// While true, answers come one batch at a time.
  var isSlow = false
  var lastParameters: [ConnectParameter] = []

  func fails(_ name: String) -> Bool {
    calls += 1
    callNames.append(name)
    return calls == failingCall
  }

  func connect(_ parameters: [ConnectParameter]) -> (any LibPQConnection)? {
    lastParameters = parameters
    if fails("connect") { return nil }
    let connection = FakeConnection(self, socket: Int32(connections.count + 10))
    connections.append(connection)
    return connection
  }
}

final class FakeResult: LibPQResult {
  let status: ResultStatus
  let fields: [ErrorField: String]
  init(_ status: ResultStatus, _ fields: [ErrorField: String] = [:]) {
    self.status = status
    self.fields = fields
  }
  func field(_ field: ErrorField) -> String? { fields[field] }

  static func error(_ sqlState: String, severity: String = "ERROR") -> FakeResult {
    FakeResult(.error, [.sqlState: sqlState, .severity: severity, .message: "refused"])
  }
}

final class FakeCancel: CancelRequest, @unchecked Sendable {
  func perform() {}
}

final class FakeConnection: LibPQConnection {
  private enum Message {
    case prepare(String)
    case execute(name: String, sql: String, value: Int?)
    case sync
    case script(String)
    case copyData(Int)
    case copyEnd(failing: Bool)
  }

  let server: FakeServer
  let socket: Int32
  var isDead = false
  var isFinished = false
  var polls = 0
  private var outgoing: [Message] = []
  /// Answers that the server has sent, and those that have been read from the socket.
  private var incoming: [FakeResult?] = []
  private var readable: [FakeResult?] = []
  private var rows = 0

  // The server's side of the session.
  private var prepared: Set<String> = []
  private var uncommitted: [Int] = []
  private var aborted = false
  private var block = TransactionStatus.idle
  private var isHung = false
  private var copied = 0
  private var notifications: [Notification] = []

  init(_ server: FakeServer, socket: Int32) {
    self.server = server
    self.socket = socket
  }

  var hasInput: Bool {
    !incoming.isEmpty && !server.isFarAway || isDead || rows > 0 || !notifications.isEmpty
  }

  /// A failing call: the connection is dead from now on.
  private func fails(_ name: String) -> Bool {
    if isDead { return true }
    guard server.fails(name) else { return false }
    if server.fault == .afterServer { deliver() }
    die()
    return true
  }

  func die() { isDead = true }

  func notify(_ channel: String) {
    notifications.append(Notification(channel: channel, payload: "", processID: 1))
  }

  // MARK: libpq

  var isBad: Bool { isDead }
  var errorMessage: String { "the fake connection is dead" }
  var transactionStatus: TransactionStatus {
    isDead ? .unknown : incoming.isEmpty && readable.isEmpty && outgoing.isEmpty ? block : .active
  }

  func connectPoll() -> PollStatus {
    polls += 1
    if server.isDown || fails("connectPoll") { return .failed }
    return polls == 1 ? .writing : polls == 2 ? .reading : .ok
  }

  func setNonblocking() -> Bool { !fails("setNonblocking") }
  func enterPipeline() -> Bool { !fails("enterPipeline") }
  func exitPipeline() -> Bool { !fails("exitPipeline") }

  func sendPrepare(_ statement: Statement) -> Bool { send(.prepare(statement.name), "sendPrepare") }

  func sendExecute(_ statement: Statement, _ parameters: Parameters) -> Bool {
    let value = parameters.count > 0 ? Int(parameters.buffer[11]) : nil
    return send(
      .execute(name: statement.name, sql: statement.sql, value: value), "sendExecute")
  }

  func sendScript(_ sql: String) -> Bool { send(.script(sql), "sendScript") }
  func pipelineSync() -> Bool { send(.sync, "pipelineSync") }

  private func send(_ message: Message, _ name: String) -> Bool {
    // The message that could not be sent does not reach the server.
    if fails(name) { return false }
    outgoing.append(message)
    return true
  }

  func flush() -> FlushStatus {
    if fails("flush") { return .failed }
    deliver()
    return .done
  }

  func consumeInput() -> Bool {
    // What the server had sent before it ended the connection is still read.
    if isDead { receive() }
    if fails("consumeInput") {
      if server.fault == .afterServer { receive() }
      return false
    }
    receive()
    return true
  }

  private func receive() {
    let end = server.isSlow ? incoming.firstIndex { $0?.status == .sync } : nil
    let count = end.map { $0 + 1 } ?? incoming.count
    readable += incoming[..<count]
    incoming.removeFirst(count)
  }

  // As libpq: without a socket it is never busy.
  var isBusy: Bool { readable.isEmpty && !isDead }

  func nextResult() -> (any LibPQResult)? {
    if readable.isEmpty, isDead { return FakeResult(.error) }
    if !isDead, server.fails("nextResult") {
      die()
      readable = []
      return FakeResult(.error)
    }
    return readable.isEmpty ? nil : readable.removeFirst()
  }

  func nextNotification() -> Notification? {
    notifications.isEmpty ? nil : notifications.removeFirst()
  }

  func putCopyData(_ bytes: [UInt8]) -> CopyPutStatus {
    send(.copyData(bytes.count), "putCopyData") ? .queued : .failed
  }

  func putCopyEnd(failing reason: String?) -> CopyPutStatus {
    send(.copyEnd(failing: reason != nil), "putCopyEnd") ? .queued : .failed
  }

  func getCopyData(into buffer: inout [UInt8]) -> CopyGetStatus {
    if fails("getCopyData") { return .failed }
    if rows == 0 {
      // As libpq: the end is told once.
      rows = -1
      return .end
    }
    if rows < 0 { return .failed }
    rows -= 1
    buffer.append(contentsOf: [1, 2, 3])
    return .row
  }

  func cancelRequest() -> (any CancelRequest)? {
    if server.fails("cancelRequest") { return nil }
    server.cancels += 1
    return FakeCancel()
  }

  func finish() {
    precondition(!isFinished, "a connection was finished twice")
    isFinished = true
    die()
  }

  // MARK: The server

  private func deliver() {
    let messages = outgoing
    outgoing = []
    for message in messages where !isDead && !isHung { answer(message) }
  }

  private func answer(_ message: Message) {
    switch message {
    case .prepare(let name):
      if aborted {
        incoming += [FakeResult(.aborted), nil]
      } else if prepared.insert(name).inserted {
        incoming += [FakeResult(.command), nil]
      } else {
        refuse("42P05")
      }
    case .execute(let name, let sql, let value):
      if aborted {
        incoming += [FakeResult(.aborted), nil]
      } else if !prepared.contains(name) {
        refuse("26000")
      } else {
        execute(sql, value)
      }
    case .sync:
      if !aborted, block == .idle { commit() } else if block == .idle { uncommitted = [] }
      if aborted, block == .inTransaction { block = .inError }
      aborted = false
      incoming.append(FakeResult(.sync))
    case .script("COPY IN"):
      copied = 0
      incoming.append(FakeResult(.copyIn))
    case .script("COPY IN bad"):
      copied = -1
      incoming.append(FakeResult(.copyIn))
    case .script("COPY OUT"):
      rows = 5
      incoming += [FakeResult(.copyOut), FakeResult(.command), nil]
    case .script("bad"): incoming += [FakeResult.error("42601"), nil]
    case .script: incoming += [FakeResult(.command), nil]
    case .copyData where copied < 0:
      if copied == -1 { incoming += [FakeResult.error("22P02"), nil] }
      copied = -2
    case .copyData(let count): copied += count
    case .copyEnd where copied < 0: break
    case .copyEnd(let failing):
      if !failing {
        uncommitted.append(copied)
        if block == .idle { commit() }
      }
      incoming += [failing ? FakeResult.error("57014") : FakeResult(.command), nil]
    }
  }

  private func execute(_ sql: String, _ value: Int?) {
    switch sql {
    case "bad": return refuse("23505")
    case "hang":
      isHung = true
      return
    case "fatal":
      incoming += [FakeResult.error("57P01", severity: "FATAL"), nil]
      uncommitted = []
      isHung = true
      die()
      return
    case "write": uncommitted.append(value ?? 0)
    case "ROLLBACK":
      uncommitted = []
      block = .idle
    case "COMMIT":
      commit()
      block = .idle
    case let sql where sql.hasPrefix("BEGIN"): block = .inTransaction
    default: break
    }
    incoming += [FakeResult(.rows), nil]
  }

  private func refuse(_ sqlState: String) {
    aborted = true
    if block == .idle { uncommitted = [] }
    incoming += [FakeResult.error(sqlState), nil]
  }

  private func commit() {
    if !uncommitted.isEmpty { server.commits += 1 }
    server.committed += uncommitted
    uncommitted = []
  }
}
