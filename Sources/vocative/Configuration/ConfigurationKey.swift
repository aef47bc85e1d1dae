import Configuration

/// One setting: what it is called everywhere, what it may be and what it is for.
///
/// The table of these (``all``) is the only place that knows the settings: parsing, checks,
/// `--help` and the reference in `docs/configuration.md` all follow it.
struct ConfigurationKey: Sendable, Equatable {
  /// What values a setting takes.
  enum Kind: Sendable, Equatable {
    case text
    /// A file or directory.
    case path
    /// A host name or an IP address.
    case host
    /// `true` or `false`.
    case boolean
    case integer(ClosedRange<Int>)
    case choice([String])
    /// A libpq URI (`postgres://…`) or a keyword/value string.
    case databaseURL
    /// A path or an https URL.
    case pathOrURL

    /// What is allowed, to follow "must be".
    var requirement: String {
      switch self {
      case .text: "a text that is not empty"
      case .path: "a path"
      case .host: "a host name or an IP address"
      case .boolean: "true or false"
      case .integer(let range): "an integer from \(range.lowerBound) to \(range.upperBound)"
      case .choice(let choices): choices.joined(separator: " or ")
      case .databaseURL: "a postgres:// URL or a libpq keyword=value string"
      case .pathOrURL: "a path or an https:// URL"
      }
    }
  }

  /// The place in the file, `group.setting`; flag and environment variable follow from it.
  let name: String
  let kind: Kind
  /// Of a number: seconds, bytes and so on.
  var unit: String?
  /// Nil when there is none; then ``absence`` says what happens.
  var defaultValue: ConfigContent?
  /// What the setting is without a value, where it has no fixed default.
  var absence: String?
  /// Whether the value must never be shown.
  var isSecret = false
  /// An environment variable that other software sets for the same purpose; ours goes first.
  var commonVariable: String?
  /// One or two sentences, without the value's range and default.
  let help: String

  /// `--group-setting`.
  var flag: String { "--" + words.joined(separator: "-") }
  /// `VOCATIVE_GROUP_SETTING`.
  var variable: String { "VOCATIVE_" + words.map { $0.uppercased() }.joined(separator: "_") }
  /// The key in swift-configuration's providers.
  var configKey: ConfigKey { ConfigKey(name) }

  private var words: [String] {
    name.split(separator: ".").flatMap { component in
      component.reduce(into: [""]) { words, character in
        if character.isUppercase { words.append("") }
        words[words.count - 1] += character.lowercased()
      }
    }
  }

  /// The value that a text from the command line or the environment stands for; nil when it is
  /// none of ``kind``.
  func parse(_ text: String) -> ConfigContent? {
    switch kind {
    case .boolean: Bool(text).map(ConfigContent.bool)
    case .integer: Int(text).flatMap { check(.int($0)) }
    default: check(.string(text))
    }
  }

  /// The value itself when it is one of ``kind``, else nil.
  func check(_ value: ConfigContent) -> ConfigContent? {
    switch (kind, value) {
    case (.boolean, .bool): value
    case (.integer(let range), .int(let number)): range.contains(number) ? value : nil
    case (.choice(let choices), .string(let text)): choices.contains(text) ? value : nil
    case (.databaseURL, .string(let text)): Self.isDatabaseURL(text) ? value : nil
    case (.host, .string(let text)): text.isEmpty || text.contains(" ") ? nil : value
    case (.pathOrURL, .string(let text)):
      text.isEmpty || (text.contains("://") && !text.hasPrefix("https://")) ? nil : value
    case (.text, .string(let text)), (.path, .string(let text)): text.isEmpty ? nil : value
    default: nil
    }
  }

  /// What a refused value is told: its text unless it is a secret, and what is allowed.
  func refusal(of text: String) -> String {
    (isSecret ? "has a value that is not" : "is \"\(text)\" and must be") + " \(kind.requirement)"
  }

  private static func isDatabaseURL(_ text: String) -> Bool {
    if text.contains("://") {
      return text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
    }
    return text.contains("=")
  }
}
