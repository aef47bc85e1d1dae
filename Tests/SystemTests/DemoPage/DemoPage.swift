import Foundation
import Testing

/// The demo page in headless Chromium. One test at a time: all of them share the one conversation.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DemoPageTests {}

/// The service that the page is loaded from: one for all tests, as `make demo` starts it.
enum DemoService {
  private static let service = Task { try await RunningService.start(demo: true) }

  /// Its base URL, without a slash at the end.
  static func baseURL() async throws -> String { try await service.value.baseURL }
}

/// One of the two devices on the page.
enum DemoDevice: Int, CaseIterable, Sendable {
  case ada, jon

  var other: DemoDevice { self == .ada ? .jon : .ada }
  var selector: String { "#device-\(rawValue)" }

  /// A part of the device as a JavaScript expression.
  func part(_ name: String) -> String {
    "document.querySelector('\(selector) [data-part=\"\(name)\"]')"
  }

  /// The element of the entry whose text is `args[0]`, as a JavaScript expression.
  var entry: String {
    "[...\(part("entries")).querySelectorAll('.entry')]"
      + ".find((row) => row.querySelector('.text').textContent === args[0])"
  }

  /// How many entries have the text `args[0]`, as a JavaScript expression.
  var count: String {
    "[...\(part("entries")).querySelectorAll('.entry .text')]"
      + ".filter((text) => text.textContent === args[0]).length"
  }
}

/// The demo page in a browser, both devices live.
struct DemoPage: Sendable {
  let browser: Browser
  let look: Look

  /// Opens the page, runs `body`, and checks that the console has no error. With the environment
  /// variable `VOCATIVE_SCREENSHOTS` naming a folder, a picture of the end is left there.
  static func with(
    _ look: Look = .desktop, test: String = #function, _ body: (DemoPage) async throws -> Void
  ) async throws {
    let url = try await DemoService.baseURL()
    try await Browser.with(look) { browser in
      let page = DemoPage(browser: browser, look: look)
      try await browser.open(url + "/")
      try await page.waitUntilLive()
      try await page.readEverything()
      try await body(page)
      #expect(try await browser.consoleErrors() == [])
      try await page.keepScreenshot(test)
    }
  }

  func waitUntilLive() async throws {
    for device in DemoDevice.allCases {
      try await browser.wait(
        for: "document.querySelector('\(device.selector)')?.dataset.connection === 'live'")
      try await browser.wait(for: "\(device.part("entries")).querySelector('.entry')")
    }
  }

  /// On a phone one device shows at a time.
  func pick(_ device: DemoDevice) async throws {
    guard look.isPhone else { return }
    try await browser.run("document.querySelectorAll('#picker button')[\(device.rawValue)].click()")
  }

  func focusComposer(_ device: DemoDevice) async throws {
    try await pick(device)
    try await browser.run("\(device.part("text")).focus()")
  }

  /// Types a message as a person does, and presses Enter.
  func send(_ text: String, from device: DemoDevice) async throws {
    try await focusComposer(device)
    try await browser.type(text + Key.enter)
  }

  /// Waits until a device shows a text once, and the service has it.
  func waitFor(_ text: String, on device: DemoDevice) async throws {
    try await browser.wait(for: "\(device.count) === 1", .string(text))
    try await browser.wait(
      for: "!\(device.entry).matches('.pending, .failed')", .string(text))
  }

  func count(_ text: String, on device: DemoDevice) async throws -> Int {
    let value = try await browser.run(
      "const args = arguments; return \(device.count)", .string(text))
    return Int(value.number ?? -1)
  }

  /// Moves the focus to the entry with a text.
  func focusEntry(_ text: String, on device: DemoDevice) async throws {
    try await pick(device)
    try await browser.run(
      "const args = arguments; document.activeElement.blur(); \(device.entry).focus()",
      .string(text))
  }

  func press(_ part: String, on device: DemoDevice) async throws {
    try await pick(device)
    try await browser.run("\(device.part(part)).click()")
  }

  /// Nobody looks at a device after this, and it has nothing unread in the open conversation.
  private func readEverything() async throws {
    for device in DemoDevice.allCases {
      try await focusComposer(device)
      try await browser.wait(for: "\(device.part("unread")).hidden")
    }
    try await pick(.ada)
    try await browser.run("document.activeElement.blur()")
  }

  private func keepScreenshot(_ test: String) async throws {
    guard let folder = ProcessInfo.processInfo.environment["VOCATIVE_SCREENSHOTS"] else { return }
    let name = test.prefix { $0 != "(" } + "-\(look).png"
    let file = URL(filePath: folder).appending(path: String(name))
    try await browser.screenshot().write(to: file)
  }
}

/// A text that no other test, and no earlier run, has sent.
func unique(_ text: String) -> String {
  "\(text) \(UUID().uuidString.prefix(8).lowercased())"
}
