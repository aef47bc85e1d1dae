import Configuration
import FoundationEssentials

/// The values that one source gives, checked against the table, and what is wrong with the rest.
///
/// The sources are read here rather than by swift-configuration's own providers, because those
/// take unknown keys in silence, split values at commas and read `true` as 1. The hierarchy of
/// sources is swift-configuration's.
struct ConfigurationSource {
  /// The flag and variable that name the configuration file; they are no keys of the file itself.
  static let fileFlag = "--config"
  static let fileVariable = "VOCATIVE_CONFIG"
  /// Variables with this prefix are for the project's own tests.
  private static let testPrefix = "VOCATIVE_TEST_"

  private(set) var values: [AbsoluteConfigKey: ConfigValue] = [:]
  private(set) var problems: [ConfigurationError.Problem] = []
  /// The configuration file that this source names.
  private(set) var file: String?
  private let source: ConfigurationError.Problem.Source

  /// `--key value`, `--key=value`, and `--key` for a boolean.
  init(arguments: [String]) {
    source = .flags
    var rest = arguments[...]
    var seen: Set<String> = []
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let flag = String(parts[0])
      guard flag.hasPrefix("--") else {
        report(argument, "is not expected: settings are given as --key value")
        continue
      }
      let key = ConfigurationKey.all.first { $0.flag == flag }
      guard key != nil || flag == Self.fileFlag else {
        reportUnknown(flag, among: ConfigurationKey.all.map(\.flag) + [Self.fileFlag])
        // Its value, so that one mistake is reported once.
        if parts.count == 1, rest.first?.hasPrefix("--") == false { rest.removeFirst() }
        continue
      }
      var text = parts.count == 2 ? String(parts[1]) : nil
      if text == nil {
        let next = rest.first
        let takesNext = key?.kind == .boolean ? next == "true" || next == "false" : true
        if takesNext, let next, !next.hasPrefix("--") { text = rest.removeFirst() }
      }
      guard seen.insert(flag).inserted else {
        report(flag, "is given more than once")
        continue
      }
      guard let text = text ?? (key?.kind == .boolean ? "true" : nil) else {
        report(flag, "needs a value: \(key?.kind.requirement ?? "a path")")
        continue
      }
      if let key { take(key, text: text, name: flag) } else { file = text }
    }
  }

  /// `VOCATIVE_*`, and the common variables that some settings take as well.
  init(environment: [String: String]) {
    source = .environment
    let keys = Dictionary(uniqueKeysWithValues: ConfigurationKey.all.map { ($0.variable, $0) })
    for (name, text) in environment.sorted(by: { $0.key < $1.key }) {
      if name == Self.fileVariable {
        file = text
      } else if let key = keys[name] {
        take(key, text: text, name: name)
      } else if name.hasPrefix("VOCATIVE_"), !name.hasPrefix(Self.testPrefix) {
        reportUnknown(name, among: keys.keys + [Self.fileVariable])
      }
    }
    for key in ConfigurationKey.all {
      guard let name = key.commonVariable, environment[key.variable] == nil else { continue }
      if let text = environment[name] { take(key, text: text, name: name) }
    }
  }

  /// A JSON object of objects: `{"listen": {"port": 8443}}`.
  init(file path: String, contents: Data) {
    source = .file(path)
    let root: JSONNode
    do {
      root = try JSONDecoder().decode(JSONNode.self, from: contents)
    } catch {
      report("the file", "is not JSON")
      return
    }
    guard case .object = root else {
      report("the file", "must hold one JSON object")
      return
    }
    for (name, node) in root.leaves() {
      guard let key = ConfigurationKey.all.first(where: { $0.name == name }) else {
        reportUnknown(name, among: ConfigurationKey.all.map(\.name))
        continue
      }
      if let value = node.content.flatMap(key.check) {
        set(key, value)
      } else {
        report(name, key.refusal(of: node.shown))
      }
    }
  }

  /// The setting that was most likely meant by an unknown name.
  static func suggestion(for name: String, among known: some Sequence<String>) -> String? {
    let nearest = known.map { (name: $0, distance: editDistance($0, name)) }
      .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
    return nearest.flatMap { $0.distance <= max(1, name.count / 4) ? $0.name : nil }
  }

  private mutating func take(_ key: ConfigurationKey, text: String, name: String) {
    guard let value = key.parse(text) else { return report(name, key.refusal(of: text)) }
    set(key, value)
  }

  private mutating func set(_ key: ConfigurationKey, _ value: ConfigContent) {
    values[AbsoluteConfigKey(key.configKey)] = ConfigValue(value, isSecret: key.isSecret)
  }

  private mutating func reportUnknown(_ name: String, among known: some Sequence<String>) {
    let suggestion = Self.suggestion(for: name, among: known).map { "; did you mean \($0)?" } ?? ""
    report(name, "is not a setting\(suggestion)")
  }

  private mutating func report(_ name: String, _ message: String) {
    problems.append(.init(source: source, name: name, message: message))
  }

  /// Levenshtein's distance, in characters.
  private static func editDistance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (i, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in right.indices {
        let substituted = diagonal + (character == right[j] ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substituted, diagonal + 1, row[j] + 1)
      }
    }
    return row[right.count]
  }
}

/// JSON as it stands in a file, with `true` and `1` apart.
private enum JSONNode: Decodable {
  case object([String: JSONNode])
  case value(ConfigContent)
  case other(String)

  init(from decoder: any Decoder) throws {
    if let object = try? decoder.container(keyedBy: AnyKey.self) {
      let pairs = try object.allKeys.map {
        ($0.stringValue, try object.decode(JSONNode.self, forKey: $0))
      }
      self = .object(Dictionary(pairs) { first, _ in first })
      return
    }
    guard let single = try? decoder.singleValueContainer() else {
      self = .other("a list")
      return
    }
    if let bool = try? single.decode(Bool.self) {
      self = .value(.bool(bool))
    } else if let int = try? single.decode(Int.self) {
      self = .value(.int(int))
    } else if let string = try? single.decode(String.self) {
      self = .value(.string(string))
    } else {
      self = .other(single.decodeNil() ? "null" : "a list or a fraction")
    }
  }

  /// Every value with its dotted name, in alphabetical order.
  func leaves(prefix: String = "") -> [(name: String, node: JSONNode)] {
    guard case .object(let members) = self else { return [(prefix, self)] }
    return members.sorted { $0.key < $1.key }.flatMap { name, node in
      node.leaves(prefix: prefix.isEmpty ? name : "\(prefix).\(name)")
    }
  }

  var content: ConfigContent? {
    if case .value(let content) = self { content } else { nil }
  }

  var shown: String {
    switch self {
    case .value(.bool(let bool)): "\(bool)"
    case .value(.int(let int)): "\(int)"
    case .value(.string(let string)): string
    case .value: ""
    case .other(let description): description
    case .object: "an object"
    }
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
