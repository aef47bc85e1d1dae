/// One `.sql` file of this folder, as the build found it.
public struct SQLFile: Sendable, Hashable {
  /// The file's name without its extension, such as `0001_core` or `entries_page`.
  public let name: String
  /// The file's whole text, comments included.
  public let text: String
}

/// The SQL that is compiled into the binary.
public enum SQL {
  /// `migrations/*.sql` by ascending name, which is the order in which they apply.
  public static let migrations = files(in: "migrations")

  /// `queries/*.sql` by ascending name; one statement each.
  public static let queries = files(in: "queries")

  /// The text of `queries/NAME.sql`.
  ///
  /// - Precondition: the file exists. Names are literals in the storage layer, and a test
  ///   prepares every statement, so a missing one never gets past the tests.
  public static func query(_ name: String) -> String {
    guard let text = queriesByName[name] else {
      preconditionFailure("sql/queries/\(name).sql does not exist")
    }
    return text
  }

  private static let queriesByName = Dictionary(
    uniqueKeysWithValues: queries.map { ($0.name, $0.text) })

  private static func files(in folder: String) -> [SQLFile] {
    embeddedText.filter { $0.folder == folder }
      .map { SQLFile(name: String($0.name.dropLast(".sql".count)), text: $0.text) }
      .sorted { $0.name < $1.name }
  }
}
