/// What went wrong with the database.
///
/// Neither its description nor its properties hold a parameter's or a column's value: the server's
/// DETAIL, HINT and CONTEXT are dropped, and its message is kept only for classes of SQLSTATE whose
/// messages speak of the schema, the statement or the server (see ``message``).
public struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of an error. New kinds may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's name in logs.
    public let description: String
    init(_ description: String) { self.description = description }

    /// The server refused the statement: `sqlState` says why. Nothing of it took effect.
    public static let server = Code("server")
    /// No connection, or it was lost; what was asked for has had no effect.
    public static let connectionLost = Code("connection-lost")
    /// The connection was lost, the deadline passed or the task was cancelled after a write was
    /// sent and before it was answered: it may or may not have taken effect.
    public static let outcomeUnknown = Code("outcome-unknown")
    /// The deadline passed; what was asked for has had no effect.
    public static let deadlineExceeded = Code("deadline-exceeded")
    /// The task was cancelled; what was asked for has had no effect.
    public static let cancelled = Code("cancelled")
    /// The client has shut down or is about to; what was asked for has had no effect.
    public static let poolShutDown = Code("pool-shut-down")
    /// No exclusive connection became free in time, or one was held beyond its deadline.
    public static let leaseTimeout = Code("lease-timeout")
    /// Too many statements are waiting already; what was asked for has had no effect.
    public static let queueFull = Code("queue-full")
    /// A result does not have the form that the caller asked for.
    public static let decoding = Code("decoding")
    /// A parameter cannot be sent, or their number is not the statement's.
    public static let badParameter = Code("bad-parameter")
    /// The connection string or the configuration cannot be used.
    public static let configuration = Code("configuration")
    /// The API was used against its contract, for example a lease after its end.
    public static let misuse = Code("misuse")
    /// libpq or the server answered what the protocol does not allow here.
    public static let protocolViolation = Code("protocol-violation")
  }

  /// The kind of error.
  public var code: Code
  /// The five characters of the server's SQLSTATE.
  public var sqlState: String?
  /// The constraint that was violated.
  public var constraint: String?
  /// The table, without its schema, that the error is about.
  public var table: String?
  /// The column that the error is about.
  public var column: String?
  /// Where in the statement's SQL the error is, in characters from 1.
  public var position: Int?
  /// The name of the statement that failed.
  public var statement: String?
  /// What happened. The server's own message for the classes 08, 0A, 0B, 25, 26, 28, 2D, 34, 3B,
  /// 3D, 3F, 40, 42, 53, 54, 55, 57, 58, F0 and XX; for all others (22 data exceptions, 23
  /// constraint violations, P0 raised by functions …) it may quote values and is left out.
  public var message: String?

  /// An error of the given kind.
  public init(_ code: Code, message: String? = nil, statement: String? = nil) {
    self.code = code
    self.message = message
    self.statement = statement
  }

  public var description: String {
    var text = "PostgreSQL: \(code)"
    if let sqlState { text += " SQLSTATE \(sqlState)" }
    if let message { text += ": \(message)" }
    if let statement { text += " (statement \(statement))" }
    if let constraint { text += " (constraint \(constraint))" }
    if let table { text += " (table \(table))" }
    if let column { text += " (column \(column))" }
    if let position { text += " (at character \(position))" }
    return text
  }

  /// Whether the server asks to run the whole transaction again: a serialization failure (40001)
  /// or a deadlock (40P01).
  public var isTransactionRetryable: Bool { sqlState == "40001" || sqlState == "40P01" }

  static func badParameter(number: Int, _ problem: String) -> PostgresError {
    PostgresError(.badParameter, message: "parameter $\(number) \(problem)")
  }

  static let classesWithSafeMessages: Set<String> = [
    "08", "0A", "0B", "25", "26", "28", "2D", "34", "3B", "3D", "3F", "40", "42", "53", "54", "55",
    "57", "58", "F0", "XX",
  ]

  /// The error of a result that the server refused.
  package init(_ result: any LibPQResult, statement: String?) {
    self.init(.server, statement: statement)
    sqlState = result.field(.sqlState)
    constraint = result.field(.constraint)
    table = result.field(.table)
    column = result.field(.column)
    position = result.field(.position).flatMap { Int($0) }
    if let sqlState, Self.classesWithSafeMessages.contains(String(sqlState.prefix(2))) {
      message = result.field(.message)
    }
  }
}
