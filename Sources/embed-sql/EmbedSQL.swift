import Foundation

/// `embed-sql OUTPUT FILE…` writes one Swift file with the text of every migration and query.
@main
struct EmbedSQL {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let output = arguments.first else {
      FileHandle.standardError.write(Data("usage: embed-sql OUTPUT FILE…\n".utf8))
      exit(64)
    }
    var migrations = "", queries = ""
    for path in arguments.dropFirst() {
      let url = URL(filePath: path)
      let name = url.deletingPathExtension().lastPathComponent
      let literal = quoted(try String(contentsOf: url, encoding: .utf8))
      switch url.deletingLastPathComponent().lastPathComponent {
      case "migrations": migrations += "  SQLFile(name: \"\(name)\", text: \(literal)),\n"
      case "queries": queries += "  SQLFile(name: \"\(name)\", text: \(literal)),\n"
      default: continue
      }
    }
    let source = """
      let embeddedMigrations: [SQLFile] = [
      \(migrations)]
      let embeddedQueries: [SQLFile] = [
      \(queries)]

      """
    try source.write(to: URL(filePath: output), atomically: true, encoding: .utf8)
  }

  /// A raw string literal: SQL has quotes and backslashes of its own, but never `"""##`.
  static func quoted(_ text: String) -> String {
    precondition(!text.contains("\"\"\"##"))
    return "##\"\"\"\n\(text)\n\"\"\"##"
  }
}
