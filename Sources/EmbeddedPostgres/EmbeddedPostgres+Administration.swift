import Subprocess

extension EmbeddedPostgres {
  /// Runs SQL as the superuser through `psql` and returns its output, columns separated by `|`,
  /// at most 1 MiB. For administration and tests; the service's own statements do not go this way.
  /// - Throws: ``EmbeddedPostgresError`` of code `statementFailed` with the server's message.
  @discardableResult
  public nonisolated func execute(
    _ sql: String, database: String = "postgres"
  ) async throws -> String {
    let result = try await Subprocess.run(
      .path(.init("\(configuration.installationsDirectory)/\(majorVersion)/bin/psql")),
      arguments: [
        "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1",
        "--command=\(sql)", "--dbname=\(conninfo(database: database))",
      ],
      environment: .custom(["PATH": "/usr/bin:/bin", "LC_ALL": "C", "PGCONNECT_TIMEOUT": "10"]),
      output: .string(limit: 1024 * 1024), error: .string(limit: 64 * 1024))
    guard result.terminationStatus.isSuccess else {
      throw EmbeddedPostgresError(code: .statementFailed, message: result.standardError)
    }
    return String(result.standardOutput.trimmingSuffix { $0.isNewline })
  }

  /// Whether there is a database of this name.
  public nonisolated func databaseExists(_ name: String) async throws -> Bool {
    let literal = name.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: "''")
    return try await execute("SELECT 1 FROM pg_database WHERE datname = '\(literal)'") == "1"
  }

  /// Makes a database, as a copy of `template`.
  public nonisolated func createDatabase(
    _ name: String, template: String = "template1"
  ) async throws {
    try await execute("CREATE DATABASE \(quoted(name)) TEMPLATE \(quoted(template))")
  }

  /// Ends the database's sessions and removes it; does nothing when there is none.
  public nonisolated func dropDatabase(_ name: String) async throws {
    try await execute("DROP DATABASE IF EXISTS \(quoted(name)) WITH (FORCE)")
  }

  private nonisolated func quoted(_ identifier: String) -> String {
    let doubled = identifier.split(separator: "\"", omittingEmptySubsequences: false)
      .joined(separator: "\"\"")
    return "\"\(doubled)\""
  }
}

extension String {
  fileprivate func trimmingSuffix(_ isTrimmed: (Character) -> Bool) -> Substring {
    var end = endIndex
    while end > startIndex, isTrimmed(self[index(before: end)]) { end = index(before: end) }
    return self[..<end]
  }
}
