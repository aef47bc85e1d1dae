/// The files of `Resources`, as the build found them.
enum Resource {
  static let openAPI = text("openapi.json")
  static let demoPage = text("demo.html")
  static let demoScript = text("demo.js")
  static let demoStyle = text("demo.css")

  private static func text(_ name: String) -> String {
    guard let file = embeddedText.first(where: { $0.name == name }) else {
      preconditionFailure("Resources/\(name) was not compiled in")
    }
    return file.text
  }
}
