/// A strict parser of the Prometheus text format, version 0.0.4, for tests.
struct Exposition {
  struct Sample: Hashable {
    var name: String
    var labels: [String: String]
    var value: Double
  }

  struct Family {
    var type: String
    var help: String
    var samples: [Sample] = []
  }

  struct Malformed: Error, CustomStringConvertible {
    var description: String
  }

  private(set) var families: [String: Family] = [:]

  init(_ text: String) throws {
    guard text.isEmpty || text.hasSuffix("\n") else { throw Malformed(description: "no newline") }
    var current = ""
    var help: String?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      if line.hasPrefix("# HELP ") {
        let words = line.dropFirst(7).split(separator: " ", maxSplits: 1)
        guard words.count == 2, families[String(words[0])] == nil else {
          throw Malformed(description: "bad or repeated HELP: \(line)")
        }
        (current, help) = (String(words[0]), String(words[1]))
      } else if line.hasPrefix("# TYPE ") {
        let words = line.dropFirst(7).split(separator: " ")
        guard words.count == 2, words[0] == current, let text = help,
          ["counter", "gauge", "histogram"].contains(words[1])
        else { throw Malformed(description: "bad TYPE: \(line)") }
        families[current] = Family(type: String(words[1]), help: text)
        help = nil
      } else {
        let sample = try Self.sample(line)
        let suffixes =
          families[current]?.type == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        guard suffixes.contains(where: { sample.name == current + $0 }) else {
          throw Malformed(description: "a sample outside of its family: \(line)")
        }
        families[current]?.samples.append(sample)
      }
    }
    try checkHistograms()
    for (name, family) in families {
      let keys = family.samples.map { "\($0.name) \($0.labels.sorted { $0.key < $1.key })" }
      guard Set(keys).count == keys.count, !keys.isEmpty else {
        throw Malformed(description: "\(name) has a series twice, or none")
      }
    }
  }

  /// The value of one series.
  func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    families.values.lazy.flatMap(\.samples).first { $0.name == name && $0.labels == labels }?.value
  }

  private static func sample(_ line: Substring) throws -> Sample {
    var rest = line
    func fail() -> Malformed { Malformed(description: "bad sample: \(line)") }
    func word(colon: Bool) throws -> String {
      let word = rest.prefix { character in
        character.isASCII
          && (character.isLetter || character.isNumber || character == "_"
            || colon && character == ":")
      }
      guard let first = word.first, !first.isNumber else { throw fail() }
      rest = rest[word.endIndex...]
      return String(word)
    }
    let name = try word(colon: true)
    var labels: [String: String] = [:]
    if rest.first == "{" {
      rest.removeFirst()
      while true {
        let label = try word(colon: false)
        guard rest.hasPrefix("=\"") else { throw fail() }
        rest = rest.dropFirst(2)
        var value = ""
        while let character = rest.popFirst(), character != "\"" {
          guard character == "\\" else {
            value.append(character)
            continue
          }
          switch rest.popFirst() {
          case "n": value.append("\n")
          case "\\": value.append("\\")
          case "\"": value.append("\"")
          default: throw fail()
          }
        }
        guard labels.updateValue(value, forKey: label) == nil else { throw fail() }
        if rest.first == "," {
          rest.removeFirst()
          continue
        }
        guard rest.popFirst() == "}" else { throw fail() }
        break
      }
    }
    guard rest.popFirst() == " ", let value = number(rest) else { throw fail() }
    return Sample(name: name, labels: labels, value: value)
  }

  private static func number(_ text: Substring) -> Double? {
    switch text {
    case "+Inf": .infinity
    case "-Inf": -.infinity
    case "NaN": .nan
    default: text.contains { $0.isLetter && $0 != "e" } ? nil : Double(text)
    }
  }

  private func checkHistograms() throws {
    for (name, family) in families where family.type == "histogram" {
      let buckets = family.samples.filter { $0.name == name + "_bucket" }
      let groups = Dictionary(grouping: buckets) { $0.labels.filter { $0.key != "le" } }
      for (labels, buckets) in groups {
        let bounds = buckets.compactMap { $0.labels["le"] }.compactMap { Self.number($0[...]) }
        let counts = buckets.map(\.value)
        guard bounds.count == buckets.count, bounds == bounds.sorted(), bounds.last == .infinity,
          counts == counts.sorted(), counts.last == value(name + "_count", labels),
          value(name + "_sum", labels) != nil
        else { throw Malformed(description: "histogram \(name) is not consistent") }
      }
    }
  }
}
