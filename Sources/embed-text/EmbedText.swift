import Foundation

/// `embed-text OUTPUT FILE…` writes one Swift file with the text of every file.
@main
struct EmbedText {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let output = arguments.first else {
      FileHandle.standardError.write(Data("usage: embed-text OUTPUT FILE…\n".utf8))
      exit(64)
    }
    var files = ""
    for path in arguments.dropFirst() {
      let url = URL(filePath: path)
      let folder = url.deletingLastPathComponent().lastPathComponent
      let text = quoted(try String(contentsOf: url, encoding: .utf8))
      files += "  (folder: \"\(folder)\", name: \"\(url.lastPathComponent)\", text: \(text)),\n"
    }
    let source = "let embeddedText: [(folder: String, name: String, text: String)] = [\n\(files)]\n"
    try source.write(to: URL(filePath: output), atomically: true, encoding: .utf8)
  }

  /// A raw string literal: no file has `"""##` in it.
  static func quoted(_ text: String) -> String {
    precondition(!text.contains("\"\"\"##"))
    return "##\"\"\"\n\(text)\n\"\"\"##"
  }
}
