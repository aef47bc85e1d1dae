import CLibPQ
public import PostgresWire

/// The result of a statement. Immutable; may be read from any task.
public final class Rows: LibPQResult, @unchecked Sendable {
  // A finished PGresult is never written to again (libpq's manual, "Behavior in Threaded
  // Programs"), which makes it safe to share.
  let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { self.pointer = pointer }
  deinit { PQclear(pointer) }

  /// The number of rows.
  public var count: Int { Int(PQntuples(pointer)) }

  /// The number of rows that an INSERT, UPDATE, DELETE, MERGE, COPY or SELECT was about; 0 for other
  /// statements.
  public var affected: Int {
    guard let tuples = PQcmdTuples(pointer) else { return 0 }
    return Int(String(cString: tuples)) ?? 0
  }

  /// The columns, in order.
  public var columns: [Column] {
    (0..<PQnfields(pointer)).map { index in
      Column(
        name: PQfname(pointer, index).map { String(cString: $0) } ?? "",
        type: PostgresType(rawValue: PQftype(pointer, index)))
    }
  }

  /// The number of columns.
  public var columnCount: Int { Int(PQnfields(pointer)) }

  /// A row by its place, from 0.
  ///
  /// - Precondition: `index` is within `0..<count`.
  public subscript(index: Int) -> Row {
    precondition(index >= 0 && index < count, "row \(index) of \(count)")
    return Row(rows: self, index: Int32(index))
  }

  package var status: ResultStatus {
    switch PQresultStatus(pointer) {
    case PGRES_TUPLES_OK: .rows
    case PGRES_COMMAND_OK: .command
    case PGRES_EMPTY_QUERY: .empty
    case PGRES_PIPELINE_SYNC: .sync
    case PGRES_PIPELINE_ABORTED: .aborted
    case PGRES_COPY_IN: .copyIn
    case PGRES_COPY_OUT: .copyOut
    case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE: .error
    default: .other
    }
  }

  package func field(_ field: ErrorField) -> String? {
    // The codes of postgres_ext.h, which are character literals there.
    let code: UnicodeScalar =
      switch field {
      case .severity: "V"
      case .sqlState: "C"
      case .message: "M"
      case .position: "P"
      case .table: "t"
      case .column: "c"
      case .constraint: "n"
      case .routine: "R"
      }
    return PQresultErrorField(pointer, Int32(code.value)).map { String(cString: $0) }
  }

  /// A column's name and type.
  public struct Column: Sendable, Hashable {
    /// Its name, as the statement gives it.
    public var name: String
    /// Its type.
    public var type: PostgresType
  }
}

extension Rows: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { count }
}

/// One row of a result. Keeps the whole result alive.
public struct Row: Sendable {
  let rows: Rows
  let index: Int32

  /// The value of a column.
  ///
  /// - Parameters:
  ///   - type: what to make of it; an Optional where the column may be NULL.
  ///   - column: the column's place, from 0.
  /// - Throws: `.decoding` for a column that does not exist, NULL for a type that is not an
  ///   Optional, or bytes that are not of that type.
  public func decode<T: PostgresDecodable>(
    _ type: T.Type = T.self, at column: Int
  ) throws(PostgresError) -> T {
    guard column >= 0, column < rows.columnCount else {
      throw PostgresError(.decoding, message: "no column \(column) of \(rows.columnCount)")
    }
    let column = Int32(column)
    do throws(PostgresError) {
      if PQgetisnull(rows.pointer, index, column) == 1 { return try T.decodeNull() }
      guard PQfformat(rows.pointer, column) == 1 else {
        throw PostgresError(.decoding, message: "a result in text form")
      }
      return try T.decode(
        cell(column), type: PostgresType(rawValue: PQftype(rows.pointer, column)))
    } catch {
      var error = error
      error.column = PQfname(rows.pointer, column).map { String(cString: $0) }
      throw error
    }
  }

  /// Whether a column is NULL; true for a column that does not exist.
  public func isNull(_ column: Int) -> Bool {
    guard column >= 0, column < rows.columnCount else { return true }
    return PQgetisnull(rows.pointer, index, Int32(column)) == 1
  }

  /// A copy of a column's bytes in the result's form; empty for NULL and for a column that does not
  /// exist.
  public func bytes(_ column: Int) -> [UInt8] {
    guard column >= 0, column < rows.columnCount else { return [] }
    return Array(cell(Int32(column)))
  }

  /// Calls `body` with a column's bytes, without a copy; they are valid during the call only. Empty
  /// for NULL and for a column that does not exist.
  public func withBytes<R, E: Error>(
    _ column: Int, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    guard column >= 0, column < rows.columnCount else {
      return try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    return try body(cell(Int32(column)))
  }

  private func cell(_ column: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(rows.pointer, index, column),
      count: Int(PQgetlength(rows.pointer, index, column)))
  }
}
