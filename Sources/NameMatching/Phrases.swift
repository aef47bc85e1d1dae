/// What is said around a name: "text …", 给…发消息, mon ami …, …さんに.
enum Phrases {
  /// A pattern: folded words before and behind the name.
  struct Pattern {
    var prefix: [UInt32]
    var suffix: [UInt32]
    /// Whether words have to end where the name begins (scripts with spaces).
    var hasSpaces: Bool
  }

  static let carriers = patterns("carriers.txt")
  static let titles = patterns("titles.txt")

  private static func patterns(_ name: String) -> [Pattern] {
    Tables.lines(name).flatMap { line in
      expand(String(line)).compactMap { text -> Pattern? in
        let sides = text.split(separator: "…", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let pattern = Pattern(
          prefix: normal(sides[0]), suffix: normal(sides[1]),
          hasSpaces: text.contains(" "))
        return pattern
      }
    }.sorted { $0.prefix.count + $0.suffix.count > $1.prefix.count + $1.suffix.count }
  }

  /// "(a|b)c" is "c", "ac", "bc".
  private static func expand(_ text: String) -> [String] {
    guard let open = text.firstIndex(of: "("), let close = text.firstIndex(of: ")") else {
      return [text]
    }
    let options =
      [""] + text[text.index(after: open)..<close].split(separator: "|").map(String.init)
    return options.flatMap { expand(text[..<open] + $0 + text[text.index(after: close)...]) }
  }

  /// Lower case and simplified, with single spaces; all else stays, so that a name can be cut out.
  static func normal(_ text: some StringProtocol) -> [UInt32] {
    text.unicodeScalars.flatMap { scalar -> [UInt32] in
      switch scalar.value {
      case 0x2019, 0x2018: return [0x27]
      case 0x3000: return [0x20]
      case 0xFF01...0xFF5E: return [lower(scalar.value - 0xFEE0)]
      default:
        return [Tables.simplified[scalar.value] ?? lower(scalar.value)]
      }
    }
  }

  private static func lower(_ scalar: UInt32) -> UInt32 {
    if scalar < 0x80 { return (0x41...0x5A).contains(scalar) ? scalar + 0x20 : scalar }
    guard let mapped = Unicode.Scalar(scalar)?.properties.lowercaseMapping,
      mapped.unicodeScalars.count == 1
    else { return scalar }
    return mapped.unicodeScalars.first!.value
  }

  /// The names that may stand in a phrase, the longest carrier first; never the phrase itself.
  /// A name that is empty says that the phrase is a carrier alone.
  static func names(in phrase: String, _ patterns: [Pattern] = carriers) -> [String] {
    let scalars = Array(phrase.unicodeScalars)
    let text = normal(phrase)
    guard text.count == scalars.count else { return [] }
    var names: [String] = []
    for pattern in patterns {
      guard let range = pattern.name(in: text) else { continue }
      var view = String.UnicodeScalarView()
      view.append(contentsOf: scalars[range])
      let name = String(view)
      if !names.contains(name) { names.append(name) }
    }
    return names
  }
}

extension Phrases.Pattern {
  /// Where the name is in a text that the pattern fits.
  fileprivate func name(in text: [UInt32]) -> Range<Int>? {
    var text = text[...]
    while text.first == 0x20 { text.removeFirst() }
    while let last = text.last, [0x20, 0x2E, 0x3F, 0x21, 0x3002, 0x2C].contains(last) {
      text.removeLast()
    }
    // The carrier may be all that there is: "给 ", "my friend".
    let bare = prefix.last == 0x20 ? prefix.dropLast() : prefix[...]
    if suffix.isEmpty, !bare.isEmpty, text.elementsEqual(bare) {
      return text.endIndex..<text.endIndex
    }
    guard text.count >= prefix.count + suffix.count, text.starts(with: prefix),
      text.suffix(suffix.count).elementsEqual(suffix)
    else { return nil }
    return text.startIndex + prefix.count..<text.endIndex - suffix.count
  }
}
