import CLibPQ
import Glibc
import PostgresWire

/// libpq, as the state machines see it. Lives on the reactor's thread.
final class SystemLibPQ: LibPQ {
  func connect(_ parameters: [ConnectParameter]) -> (any LibPQConnection)? {
    let keywords = parameters.map { strdup($0.keyword) }
    let values = parameters.map { strdup($0.value) }
    defer { for pointer in keywords + values { free(pointer) } }
    let keywordList = keywords.map { UnsafePointer<CChar>($0) } + [nil]
    let valueList = values.map { UnsafePointer<CChar>($0) } + [nil]
    guard let pointer = PQconnectStartParams(keywordList, valueList, 0) else { return nil }
    return SystemConnection(pointer)
  }
}

final class SystemConnection: LibPQConnection {
  private let pointer: OpaquePointer
  /// The server has said that it ends the session, though the socket may still be open.
  private var hasEnded = false

  init(_ pointer: OpaquePointer) {
    self.pointer = pointer
    // The server's notices (which may quote values) must not go to stderr. What it says while
    // nothing is asked of it comes as one, too.
    _ = PQsetNoticeReceiver(
      pointer,
      { connection, notice in
        // PG_DIAG_SEVERITY_NONLOCALIZED
        guard let connection, let severity = PQresultErrorField(notice, Int32(UInt8(ascii: "V")))
        else { return }
        if strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0 {
          Unmanaged<SystemConnection>.fromOpaque(connection).takeUnretainedValue().hasEnded = true
        }
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func connectPoll() -> PollStatus {
    switch PQconnectPoll(pointer) {
    case PGRES_POLLING_OK: .ok
    case PGRES_POLLING_READING: .reading
    case PGRES_POLLING_WRITING: .writing
    default: .failed
    }
  }

  var socket: Int32 { PQsocket(pointer) }
  var isBad: Bool { hasEnded || PQstatus(pointer) == CONNECTION_BAD }

  var transactionStatus: TransactionStatus {
    switch PQtransactionStatus(pointer) {
    case PQTRANS_IDLE: .idle
    case PQTRANS_ACTIVE: .active
    case PQTRANS_INTRANS: .inTransaction
    case PQTRANS_INERROR: .inError
    default: .unknown
    }
  }

  var errorMessage: String {
    guard let text = PQerrorMessage(pointer), text.pointee != 0 else { return "connection lost" }
    var message = String(cString: text)
    while message.last?.isWhitespace == true { message.removeLast() }
    return message
  }

  func setNonblocking() -> Bool { PQsetnonblocking(pointer, 1) == 0 }
  func enterPipeline() -> Bool { PQenterPipelineMode(pointer) == 1 }
  func exitPipeline() -> Bool { PQexitPipelineMode(pointer) == 1 }

  func sendPrepare(_ statement: Statement) -> Bool {
    let types = statement.parameters.map { Oid($0.rawValue) }
    return statement.wireName.withUnsafeBufferPointer { name in
      PQsendPrepare(pointer, name.baseAddress, statement.sql, Int32(types.count), types) == 1
    }
  }

  func sendExecute(_ statement: Statement, _ parameters: Parameters) -> Bool {
    statement.wireName.withUnsafeBufferPointer { name in
      parameters.withWireForm { count, values, lengths, formats in
        PQsendQueryPrepared(pointer, name.baseAddress, count, values, lengths, formats, 1) == 1
      }
    }
  }

  func sendScript(_ sql: String) -> Bool { PQsendQuery(pointer, sql) == 1 }
  func pipelineSync() -> Bool { PQpipelineSync(pointer) == 1 }

  func flush() -> FlushStatus {
    switch PQflush(pointer) {
    case 0: .done
    case 1: .more
    default: .failed
    }
  }

  func consumeInput() -> Bool { PQconsumeInput(pointer) == 1 }
  var isBusy: Bool { PQisBusy(pointer) == 1 }
  func nextResult() -> (any LibPQResult)? { PQgetResult(pointer).map { Rows($0) } }

  func nextNotification() -> Notification? {
    guard let notify = PQnotifies(pointer) else { return nil }
    defer { PQfreemem(notify) }
    return Notification(
      channel: String(cString: notify.pointee.relname),
      payload: String(cString: notify.pointee.extra), processID: notify.pointee.be_pid)
  }

  func putCopyData(_ bytes: [UInt8]) -> CopyPutStatus {
    guard let count = Int32(exactly: bytes.count) else { return .failed }
    return bytes.withUnsafeBytes { buffer in
      status(PQputCopyData(pointer, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), count))
    }
  }

  func putCopyEnd(failing reason: String?) -> CopyPutStatus {
    status(PQputCopyEnd(pointer, reason))
  }

  private func status(_ code: Int32) -> CopyPutStatus {
    switch code {
    case 1: .queued
    case 0: .full
    default: .failed
    }
  }

  func getCopyData(into buffer: inout [UInt8]) -> CopyGetStatus {
    var row: UnsafeMutablePointer<CChar>?
    let count = PQgetCopyData(pointer, &row, 1)
    if let row {
      buffer.append(contentsOf: UnsafeRawBufferPointer(start: row, count: Int(count)))
      PQfreemem(row)
    }
    switch count {
    case 1...: return .row
    case 0: return .wait
    case -1: return .end
    default: return .failed
    }
  }

  func cancelRequest() -> (any CancelRequest)? { PQgetCancel(pointer).map { SystemCancel($0) } }
  func finish() { PQfinish(pointer) }
}

/// What PQcancel needs, independent of the connection it is about.
final class SystemCancel: CancelRequest, @unchecked Sendable {
  private let pointer: OpaquePointer
  init(_ pointer: OpaquePointer) { self.pointer = pointer }
  deinit { PQfreeCancel(pointer) }

  func perform() {
    // A request that fails is not repeated: its connection is given up after a bound of its own.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { error in
      _ = PQcancel(pointer, error.baseAddress, 256)
    }
  }
}

extension Parameters {
  /// Calls `body` with the arrays that libpq takes.
  fileprivate func withWireForm<R>(
    _ body: (
      Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> R
  ) -> R {
    if count == 0 { return body(0, nil, nil, nil) }
    return buffer.withUnsafeBytes { bytes in
      withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 2 * count) { numbers in
          var offset = 0
          for index in 0..<count {
            let length = Int32(
              bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
            offset += 4
            let start = bytes.baseAddress! + offset
            values[index] = length < 0 ? nil : start.assumingMemoryBound(to: CChar.self)
            numbers[index] = max(length, 0)
            numbers[count + index] = 1
            offset += Int(max(length, 0))
          }
          return body(
            Int32(count), values.baseAddress, numbers.baseAddress, numbers.baseAddress! + count)
        }
      }
    }
  }
}
