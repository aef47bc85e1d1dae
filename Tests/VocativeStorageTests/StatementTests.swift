import PostgresWire
import Testing
import TestSupport
import VocativeSQL
import VocativeStorage

@Suite struct StatementTests {
  @Test func everyQueryFileIsAStatement() {
    #expect(Set(Statements.all.map(\.name)) == Set(SQL.queries.map(\.name)))
  }

  /// psql describes the result of each without running it; the parameters' types are tried as
  /// typed nulls, which fail where the statement means another type.
  @Test func typesAreThoseOfTheMigratedSchema() async throws {
    try await TestCluster.shared.withDatabase(template: StorageFixture.template) { conninfo in
      var script = "SET ROLE vocative_service;\n"
      for statement in Statements.all {
        var sql = statement.sql
        for (index, type) in statement.parameters.enumerated().reversed() {
          sql = sql.replacing("$\(index + 1)", with: "(NULL::\(type))")
        }
        script += "\\echo @\(statement.name)\n\(sql)\\gdesc\n"
        let types = statement.parameters.map(\.description).joined(separator: ", ")
        script +=
          "PREPARE \(statement.name)\(types.isEmpty ? "" : "(\(types))") AS \(statement.sql);\n"
      }
      let output = try await Shell.run(
        "psql", ["-qXAt", "-v", "ON_ERROR_STOP=1", "-d", conninfo, "-f", "-"], input: script)
      var described: [String: [String]] = [:]
      var name = ""
      for line in output.split(separator: "\n") {
        if line.hasPrefix("@") {
          name = String(line.dropFirst())
          described[name] = []
        } else if let type = line.split(separator: "|").last, line.contains("|") {
          described[name, default: []].append(String(type))
        }
      }
      for statement in Statements.all {
        #expect(
          described[statement.name] == statement.columns.map(Self.sqlName), "\(statement.name)")
      }
    }
  }

  /// A plan that reads a whole table or index gets slower as the service grows. Statistics of tiny
  /// tables tempt the planner most. Where they say that a table is empty, all plans cost the same;
  /// autovacuum's next analysis, at most a minute after rows came, replaces such a plan.
  @Test(arguments: [false, true]) func plansReachRowsByKeys(afterAnalyze: Bool) async throws {
    try await TestCluster.shared.withDatabase(template: StorageFixture.template) { conninfo in
      var script = afterAnalyze ? "ANALYZE;\n" : ""
      for (name, value) in Storage.connectionSettings { script += "SET \(name) = '\(value)';\n" }
      // What the locking statements leave for those behind them.
      script += "SET vocative.locked_threads = '{}'; SET vocative.locked_feed = 'true';\n"
      script += "SET vocative.changed_vocabulary = '{}';\n"
      for statement in Statements.all {
        let types = statement.parameters.map(\.description).joined(separator: ", ")
        let nulls = statement.parameters.map { _ in "NULL" }.joined(separator: ", ")
        script += """
          PREPARE \(statement.name)\(types.isEmpty ? "" : "(\(types))") AS \(statement.sql);
          \\echo @\(statement.name)
          EXPLAIN (COSTS OFF) EXECUTE \(statement.name)\(types.isEmpty ? "" : "(\(nulls))");

          """
      }
      let output = try await Shell.run(
        "psql", ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", conninfo], input: script)
      var statement: Substring = ""
      let lines = output.split(separator: "\n")
      for (line, next) in zip(lines, lines.dropFirst() + [""]) {
        if line.hasPrefix("@") { statement = line }
        // One row each, or one a locale.
        if ["installation", "migration", "app_vocabulary"].contains(where: {
          line.contains("on \($0)")
        }) {
          continue
        }
        #expect(!line.contains("Seq Scan"), "\(statement): \(line)")
        if !afterAnalyze, line.contains("Index Scan") || line.contains("Index Only Scan") {
          #expect(next.contains("Index Cond"), "\(statement): \(line)")
        }
      }
    }
  }

  private static func sqlName(_ type: PostgresType) -> String {
    switch type {
    case .int2: "smallint"
    case .int4: "integer"
    case .int8: "bigint"
    case .bool: "boolean"
    case .timestamptz: "timestamp with time zone"
    default: type.description
    }
  }
}
