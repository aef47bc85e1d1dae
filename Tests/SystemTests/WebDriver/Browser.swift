import AsyncHTTPClient
import Foundation
import NIOCore

/// How the page is looked at.
struct Look: Sendable, CustomStringConvertible {
  var width = 1280
  var height = 860
  var isDark = false

  static let desktop = Look()
  static let phone = Look(width: 390, height: 844)
  /// A desktop and a phone, each in light and dark.
  static let all = [desktop, phone].flatMap { look in
    [false, true].map { Look(width: look.width, height: look.height, isDark: $0) }
  }

  var isPhone: Bool { width < 500 }
  var description: String { "\(width)-\(isDark ? "dark" : "light")" }
}

/// Keys that are not characters (WebDriver, section 17.4.2).
enum Key {
  static let backspace = "\u{E003}"
  static let tab = "\u{E004}"
  static let enter = "\u{E007}"
  static let shift = "\u{E008}"
  static let control = "\u{E009}"
  static let escape = "\u{E00C}"
  static let end = "\u{E010}"
  static let home = "\u{E011}"
  static let up = "\u{E013}"
  static let down = "\u{E015}"
}

/// One window of headless Chromium, driven by the W3C WebDriver protocol.
struct Browser: Sendable {
  private enum Method: String {
    case get = "GET"
    case post = "POST"
    case delete = "DELETE"
  }

  private let session: String

  /// Opens a window, runs `body`, and closes all that it opened.
  static func with<Result>(
    _ look: Look, _ body: (Browser) async throws -> Result
  ) async throws -> Result {
    let driver = try await ChromeDriver.start()
    do {
      let browser = try await Browser(driver, look)
      let result = try await browser.closing { try await body(browser) }
      await driver.stop()
      return result
    } catch {
      await driver.stop()
      throw error
    }
  }

  private func closing<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
      let result = try await body()
      try await close()
      return result
    } catch {
      try? await close()
      throw error
    }
  }

  private init(_ driver: ChromeDriver, _ look: Look) async throws {
    let arguments: [JSONValue] = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      .string("--window-size=\(look.width),\(look.height)"),
    ]
    let options: JSONValue = [
      "binary": .string(ChromeDriver.find("chromium") ?? ""), "args": .array(arguments),
    ]
    let capabilities: JSONValue = [
      // The development certificate authority is private; TLS itself is tested elsewhere.
      "browserName": "chrome", "acceptInsecureCerts": true, "goog:chromeOptions": options,
      "goog:loggingPrefs": ["browser": "ALL"],
    ]
    let answer = try await Self.call(
      .post, driver.baseURL + "/session", ["capabilities": ["alwaysMatch": capabilities]])
    guard let id = answer["sessionId"]?.string else {
      throw BrowserFailure("chromedriver made no session")
    }
    session = "\(driver.baseURL)/session/\(id)"
    try await devTools(
      "Emulation.setDeviceMetricsOverride",
      [
        "width": .number(Double(look.width)), "height": .number(Double(look.height)),
        "deviceScaleFactor": look.isPhone ? 2 : 1, "mobile": .bool(look.isPhone),
      ])
    let scheme: JSONValue = [
      "name": "prefers-color-scheme", "value": look.isDark ? "dark" : "light",
    ]
    try await devTools("Emulation.setEmulatedMedia", ["features": [scheme]])
  }

  func open(_ url: String) async throws {
    try await command(.post, "/url", ["url": .string(url)])
  }

  /// Runs the body of a function in the page; a promise that it returns is awaited.
  @discardableResult
  func run(_ script: String, _ arguments: JSONValue...) async throws -> JSONValue {
    try await command(
      .post, "/execute/sync", ["script": .string(script), "args": .array(arguments)])
  }

  /// Waits until an expression is true in the page; returns its value.
  ///
  /// - Parameter seconds: the deadline, at most 25, below that of WebDriver's own for scripts.
  @discardableResult
  func wait(
    for expression: String, _ arguments: JSONValue..., seconds: Int = 10
  ) async throws -> JSONValue {
    let script = """
      const args = arguments;
      const end = performance.now() + \(seconds) * 1000;
      return new Promise((resolve) => {
        const look = () => {
          const value = (() => (\(expression)))();
          if (value || performance.now() > end) resolve(value);
          else setTimeout(look, 15);
        };
        look();
      });
      """
    let value = try await command(
      .post, "/execute/sync", ["script": .string(script), "args": .array(arguments)])
    guard value.isTruthy else {
      throw BrowserFailure("not so within \(seconds) s: \(expression), \(arguments)")
    }
    return value
  }

  /// Types text where the focus is; `Key` has those that are not characters.
  func type(_ text: String, holding modifier: String? = nil) async throws {
    var actions: [JSONValue] = []
    if let modifier { actions.append(["type": "keyDown", "value": .string(modifier)]) }
    for character in text {
      actions.append(["type": "keyDown", "value": .string(String(character))])
      actions.append(["type": "keyUp", "value": .string(String(character))])
    }
    if let modifier { actions.append(["type": "keyUp", "value": .string(modifier)]) }
    let keyboard: JSONValue = ["type": "key", "id": "keyboard", "actions": .array(actions)]
    try await command(.post, "/actions", ["actions": [keyboard]])
  }

  /// The window as a PNG.
  func screenshot() async throws -> Data {
    guard let text = try await command(.get, "/screenshot").string,
      let png = Data(base64Encoded: text)
    else { throw BrowserFailure("chromedriver made no screenshot") }
    return png
  }

  /// The errors in the console since the last call: exceptions, refused content, failed requests.
  func consoleErrors() async throws -> [String] {
    let lines = try await command(.post, "/se/log", ["type": "browser"]).array ?? []
    return lines.filter { $0["level"]?.string == "SEVERE" }.compactMap { $0["message"]?.string }
  }

  private func close() async throws {
    _ = try await Self.call(.delete, session, nil)
  }

  private func devTools(_ name: String, _ parameters: JSONValue) async throws {
    try await command(.post, "/goog/cdp/execute", ["cmd": .string(name), "params": parameters])
  }

  @discardableResult
  private func command(
    _ method: Method, _ path: String, _ body: JSONValue? = nil
  ) async throws -> JSONValue {
    try await Self.call(method, session + path, body)
  }

  private static func call(
    _ method: Method, _ url: String, _ body: JSONValue?
  ) async throws -> JSONValue {
    var request = HTTPClientRequest(url: url)
    request.method = .init(rawValue: method.rawValue)
    if let body {
      request.headers.add(name: "Content-Type", value: "application/json")
      request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body)))
    }
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
    let bytes = try await response.body.collect(upTo: 64 << 20)
    let answer = try JSONDecoder().decode(JSONValue.self, from: Data(bytes.readableBytesView))
    let value = answer["value"] ?? .null
    if response.status.code >= 400 {
      let message = value["message"]?.string ?? "\(value)"
      throw BrowserFailure("WebDriver answered \(response.status.code): \(message)")
    }
    return value
  }
}
