/// What is said around a name: "text …", 给…发消息, mon ami …, …さんに.
enum Phrases {
  /// A pattern: folded words before and behind the name.
  struct Pattern {
    var prefix: [UInt32]
    var suffix: [UInt32]
    /// Whether words have to end where the name begins (scripts with spaces).
    var hasSpaces: Bool
  }

  /// Patterns by what a text has to begin or to end with.
  struct Patterns {
    private var byPrefix: [UInt32: [Pattern]] = [:]
    private var bySuffix: [UInt32: [Pattern]] = [:]

    init(_ patterns: [Pattern]) {
      for pattern in patterns {
        if let first = pattern.prefix.first {
          byPrefix[first, default: []].append(pattern)
        } else if let last = pattern.suffix.last {
          bySuffix[last, default: []].append(pattern)
        }
      }
    }

    /// Those that may fit a text without spaces at its ends.
    func around(_ text: ArraySlice<UInt32>) -> [Pattern] {
      guard let first = text.first, let last = text.last else { return [] }
      return (byPrefix[first] ?? []) + (bySuffix[last] ?? [])
    }
  }

  static let carriers = Patterns(patterns("carriers.txt"))
  static let titles = Patterns(patterns("titles.txt"))

  /// Words that mean all that there is, folded.
  static let everyone = Set(
    Tables.lines("everyone.txt").map { Folding.fold(String($0)).joined })

  private static func patterns(_ name: String) -> [Pattern] {
    Tables.lines(name).flatMap { line in
      expand(String(line)).compactMap { text -> Pattern? in
        let sides = text.split(separator: "…", omittingEmptySubsequences: false)
        // Words that may all be missing leave a pattern that says nothing.
        guard sides.count == 2, !(sides[0].isEmpty && sides[1].isEmpty) else { return nil }
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
    text.unicodeScalars.map { scalar in
      switch scalar.value {
      case 0x2019, 0x2018: return 0x27
      case 0x3000: return 0x20
      case 0xFF01...0xFF5E: return lower(scalar.value - 0xFEE0)
      default:
        let simplified = Tables.simplified(scalar.value)
        return simplified == scalar.value ? lower(simplified) : simplified
      }
    }
  }

  private static func lower(_ scalar: UInt32) -> UInt32 {
    if scalar < 0x80 { return (0x41...0x5A).contains(scalar) ? scalar + 0x20 : scalar }
    guard let properties = Unicode.Scalar(scalar)?.properties, properties.changesWhenLowercased
    else { return scalar }
    let mapped = properties.lowercaseMapping.unicodeScalars
    return mapped.count == 1 ? mapped.first!.value : scalar
  }

  /// The names that may stand in a phrase, the longest carrier first; never the phrase itself.
  /// A name that is empty says that the phrase is a carrier alone.
  static func names(in phrase: String, _ patterns: Patterns = carriers) -> [String] {
    let scalars = Array(phrase.unicodeScalars)
    let text = normal(phrase)
    guard text.count == scalars.count else { return [] }
    var trimmed = text[...]
    while trimmed.first == 0x20 { trimmed.removeFirst() }
    while let last = trimmed.last, [0x20, 0x2E, 0x3F, 0x21, 0x3002, 0x2C].contains(last) {
      trimmed.removeLast()
    }
    var names: [String] = []
    for pattern in patterns.around(trimmed) {
      guard let range = pattern.name(in: trimmed) else { continue }
      var view = String.UnicodeScalarView()
      view.append(contentsOf: scalars[range])
      let name = String(view)
      if !names.contains(name) { names.append(name) }
    }
    return names
  }
}

// MARK: Sentences

extension Phrases {
  /// The phrase, and what it is without the app that is to do it ("用QQ…", "… with Telegram") and
  /// without what is to be said ("…说你好", "… that I'm late").
  static func clauses(of phrase: String) -> [String] {
    var clauses = [phrase]
    // Searching for each word costs more than most resolutions, so look first.
    guard
      phrase.unicodeScalars.contains(where: clauseMarks.contains)
        || phrase.split(separator: " ").dropFirst().contains(where: clauseWords.contains)
    else { return clauses }
    if let clause = withoutApp(phrase) { clauses.append(clause) }
    for clause in clauses {
      if let cut = cut(clause) { clauses.append(cut) }
    }
    return clauses
  }

  private static let clauseMarks = Set("用说，,:：".unicodeScalars)
  private static let clauseWords: Set<Substring> = [
    "using", "with", "avec", "con", "mit", "on", "sur", "that", "saying", "que", "dass", "say",
    "disant",
  ]

  private static func withoutApp(_ phrase: String) -> String? {
    let text = phrase.drop(while: \.isWhitespace)
    if text.hasPrefix("用") || text.hasPrefix("使用") {
      let rest = text.drop { $0 == "使" || $0 == "用" }
      guard let verb = rest.prefix(20).firstIndex(where: { "给发打跟告联".contains($0) }),
        verb != rest.startIndex
      else { return nil }
      return String(rest[verb...])
    }
    let bytes = Array(text.utf8)
    for word in apps {
      // The last words name the app, so that they are few.
      guard let place = bytes.lastPlace(of: word),
        bytes[(place + word.count)...].split(separator: 0x20).count <= 2
      else { continue }
      return String(decoding: bytes[..<place], as: UTF8.self)
    }
    return nil
  }

  private static let apps = [
    " using ", " with ", " avec ", " con ", " mit ", " on ", " sur ",
  ].map { Array($0.utf8) }
  private static let cuts = [
    "说", "，", ", ", ": ", "：", " that ", " saying ", " que ", " dass ", " and say ", " disant ",
  ].map { Array($0.utf8) }

  private static func cut(_ clause: String) -> String? {
    let bytes = Array(clause.utf8)
    var end: Int?
    for mark in cuts {
      guard let place = bytes.place(of: mark, from: 0), place < end ?? .max else { continue }
      // A single character before it is no name with something around it.
      if String(decoding: bytes[..<place], as: UTF8.self).dropFirst().isEmpty { continue }
      end = place
    }
    return end.map { String(decoding: bytes[..<$0], as: UTF8.self) }
  }

  /// The first one to three words of a name that may be followed by what is to be said, the longest
  /// first, and whether what follows begins as a sentence does.
  static func leads(of name: String) -> [(name: String, isSentence: Bool)] {
    let words = name.split(separator: " ")
    guard words.count > 2 else { return [] }
    return (1..<min(4, words.count - 1)).reversed().map { count in
      let isSentence = words.count - count > 2 || isSentenceWord(words[count])
      return (words[..<count].joined(separator: " "), isSentence)
    }
  }

  private static func isSentenceWord(_ word: Substring) -> Bool {
    word.utf8.count < 20 && sentenceWords.contains(word.lowercased().replacing("’", with: "'"))
  }

  private static let sentenceWords: Set<String> = [
    "i", "i'm", "i'll", "i've", "i'd", "we", "we're", "we'll", "we've", "you", "you're", "he",
    "she", "it", "it's", "they", "the", "that", "this", "my", "to", "if", "when", "where", "what",
    "how", "why", "please", "can", "could", "do", "don't", "is", "are", "let's", "je", "j'ai",
    "j'arrive", "nous", "on", "que", "qu'il", "si", "où", "quand", "ich", "wir", "dass", "ob",
    "estoy", "voy", "yo", "no",
  ]

  /// Whether there is a conjunction in a phrase.
  static func mayNameSeveral(_ phrase: String) -> Bool {
    phrase.unicodeScalars.contains(where: conjunctions.contains)
      || phrase.split(separator: " ").contains(where: conjunctionWords.contains)
  }

  private static let conjunctions = Set(",&+、，和跟与と".unicodeScalars)
  private static let conjunctionWords: Set<Substring> = [
    "and", "et", "und", "y", "e", "그리고", "하고",
  ]

  private static let separators = [
    [", ", " and ", " & ", " + ", "、", "，"], [", ", " et ", " und ", " y ", " e "],
    ["和", "、", "，"], ["跟", "、"], ["与", "、"], ["と", "、"], ["그리고"], ["하고"],
  ].map { $0.map { Array($0.utf8) } }

  /// The ways to read a name as several names, two to ten.
  static func several(in name: String) -> [[String]] {
    let bytes = Array(name.utf8)
    var readings: [[String]] = []
    for separators in separators {
      var parts = [bytes[...]]
      for separator in separators { parts = parts.flatMap { $0.parted(by: separator) } }
      guard (2...10).contains(parts.count) else { continue }
      let reading = parts.map { part in
        let text = String(decoding: part, as: UTF8.self)
        // "Tom, Jerry, and Ann"
        return text.hasPrefix("and ") ? String(text.dropFirst(4)) : text
      }
      if !readings.contains(reading) { readings.append(reading) }
    }
    return readings
  }
}

extension Phrases.Pattern {
  /// Where the name is in a text that the pattern fits.
  fileprivate func name(in text: ArraySlice<UInt32>) -> Range<Int>? {
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

// MARK: Bytes

// Searching strings by their characters takes some hundred times as long, and what is searched for
// here is whole characters either way.
extension RandomAccessCollection<UInt8> where Index == Int {
  fileprivate func has(_ part: [UInt8], at place: Int) -> Bool {
    place + part.count <= endIndex && self[place..<place + part.count].elementsEqual(part)
  }

  fileprivate func place(of part: [UInt8], from start: Int) -> Int? {
    var place = start
    while place + part.count <= endIndex {
      if self[place] == part[0], has(part, at: place) { return place }
      place += 1
    }
    return nil
  }

  fileprivate func lastPlace(of part: [UInt8]) -> Int? {
    (startIndex..<endIndex).last { self[$0] == part[0] && has(part, at: $0) }
  }
}

extension ArraySlice<UInt8> {
  /// What stands between a separator, without what is empty; itself where there is none.
  fileprivate func parted(by separator: [UInt8]) -> [ArraySlice<UInt8>] {
    guard var end = place(of: separator, from: startIndex) else { return [self] }
    var parts: [ArraySlice<UInt8>] = []
    var start = startIndex
    while true {
      if end > start { parts.append(self[start..<end]) }
      if end == endIndex { return parts }
      start = end + separator.count
      end = place(of: separator, from: start) ?? endIndex
    }
  }
}
