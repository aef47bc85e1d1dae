/// The files of `Resources`, as the build found them.
enum Resource {
  static let openAPI = text("openapi.json")
  static let demoPage = text("demo.html")
  static let adaptations = text("adaptations.json")

  /// All files of an extension.
  static func files(ofType type: String) -> [(name: String, text: String)] {
    embeddedText.filter { $0.name.hasSuffix("." + type) }.map { ($0.name, $0.text) }
  }

  private static func text(_ name: String) -> String {
    guard let file = embeddedText.first(where: { $0.name == name }) else {
      preconditionFailure("Resources/\(name) was not compiled in")
    }
    return file.text
  }
}
