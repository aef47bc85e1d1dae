/// A named SQL statement with its parameter and result types.
///
/// A connection prepares it once, in the same round trip as its first use. Copying one is cheap.
/// Make each once (`static let`) and keep their number bounded: the server holds a plan for each on
/// every connection. Two statements of the same name must be equal.
public struct Statement: Sendable, Hashable, CustomStringConvertible {
  private let storage: Storage

  /// The name under which the server keeps it prepared; also what errors and logs show.
  public var name: String { storage.name }
  /// One SQL statement with `$1`, `$2` … as parameters.
  public var sql: String { storage.sql }
  /// The types of `$1`, `$2` …, sent when the statement is prepared.
  public var parameters: [PostgresType] { storage.parameters }
  /// The types of the result's columns; empty for a statement that returns no rows.
  public var columns: [PostgresType] { storage.columns }

  /// A statement.
  ///
  /// - Parameters:
  ///   - name: 1 to 63 bytes, unique among all statements of the process.
  ///   - sql: one SQL statement.
  ///   - parameters: the types of its parameters, in order.
  ///   - columns: the types of its result's columns, in order.
  public init(
    name: String, sql: String, parameters: [PostgresType] = [], columns: [PostgresType] = []
  ) {
    storage = Storage(name: name, sql: sql, parameters: parameters, columns: columns)
  }

  /// NUL-terminated name, ready for libpq.
  public var wireName: ContiguousArray<CChar> { storage.wireName }

  public var description: String { name }

  public static func == (a: Statement, b: Statement) -> Bool {
    a.storage === b.storage
      || (a.storage.digest == b.storage.digest && a.name == b.name && a.sql == b.sql
        && a.parameters == b.parameters && a.columns == b.columns)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(storage.digest) }

  /// Shared by all copies; `digest` makes the look-up "is it prepared here" one integer hash.
  private final class Storage: Sendable {
    let name: String
    let sql: String
    let parameters: [PostgresType]
    let columns: [PostgresType]
    let wireName: ContiguousArray<CChar>
    let digest: Int

    init(name: String, sql: String, parameters: [PostgresType], columns: [PostgresType]) {
      self.name = name
      self.sql = sql
      self.parameters = parameters
      self.columns = columns
      wireName = ContiguousArray(name.utf8CString)
      var hasher = Hasher()
      hasher.combine(name)
      hasher.combine(sql)
      digest = hasher.finalize()
    }
  }
}
