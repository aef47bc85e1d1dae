import NameMatching

/// Phrases and vocabularies that are made to take long, each again from its seed.
enum HostileCases {
  /// What the service takes of a phrase and of a string, in bytes.
  static let longest = 1024

  // MARK: Vocabularies

  static func vocabularies(mixed: [String], count: Int) -> [(name: String, entries: [NameEntry])] {
    var random = SeededRandom(seed: ResolveCases.seed)
    func repeated(_ syllables: [String], _ lengths: ClosedRange<Int>) -> [NameEntry] {
      (0..<count).map { number in
        let length = Int.random(in: lengths, using: &random)
        return NameEntry(
          (0..<length).map { _ in random.pick(syllables) }.joined(),
          identifier: random.chance(50) ? "\(number)" : nil)
      }
    }
    return [
      ("mixed names", mixed.enumerated().map { NameEntry($1, identifier: "\($0)") }),
      ("the same Chinese syllables", repeated(["王", "一", "然", "依", "燃"], 2...4)),
      ("the same Latin syllables", repeated(["an", "na", "an ", "na "], 2...6)),
      ("words of the same letters", repeated(["a", "b", "c", "d", "e"], 7...9)),
      ("one name many times", (0..<count).map { NameEntry("Ann 王一", identifier: "\($0)") }),
      (
        "strings of 1,024 bytes",
        (0..<count).map { number in
          let text = random.pick(["王一然", "ann na ", "абв ", "さくら", "김민", "Zoë-", "1 2 "])
          let whole = String(repeating: text, count: longest / text.utf8.count - 1) + "\(number)"
          return NameEntry(whole, identifier: "\(number)")
        }
      ),
    ]
  }

  // MARK: Phrases

  static func phrase(seed: UInt64, from names: [NameEntry]) -> String {
    var random = SeededRandom(seed: seed)
    func name() -> String { random.pick(names).phrase }
    func many(_ part: () -> String) -> String {
      let bytes = random.chance(50) ? longest : Int.random(in: 1...longest, using: &random)
      var text = ""
      while text.utf8.count < bytes { text += part() }
      return text
    }
    let text =
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        String(
          decoding: (0..<longest).map { _ in UInt8.random(in: 0...255, using: &random) },
          as: UTF8.self)
      case 1:
        syllables(random.pick([1, 2, 3, 6, longest]), &random)
      case 2:
        many { random.pick(["a", "b", "e", "n", "sch", "zh", "ng", "ï"]) }
      case 3: carriers(around: many(name), &random)
      case 4: many { random.pick(["Z", "王", "a", "が", "é"]) + marks(&random) }
      case 5: many { scalar(&random) }
      case 6, 7: carriers(around: changed(name(), &random), &random)
      case 8: many { name() + random.pick(conjunctions) }
      case 9:
        changed((0..<6).map { _ in String(name().prefix(12)) }.joined(separator: " "), &random)
      case 10: many { random.pick(clauses) + (random.chance(30) ? name() : "") }
      default: oneScript(&random)
      }
    return cut(text)
  }

  private static func cut(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    var bytes = 0
    for scalar in text.unicodeScalars {
      bytes += UTF8.width(scalar)
      if bytes > longest { break }
      scalars.append(scalar)
    }
    return String(scalars)
  }

  private static func syllables(_ count: Int, _ random: inout SeededRandom) -> String {
    let list = random.pick([
      ["王", "一", "然", "依"], ["an", "na", "an ", "na "], ["a", "b", "c", "d", "e"], ["小", "王"],
      ["か", "っ", "ー", "ん"], ["김", "ᄒ", "ᅡ"], ["一", "百", "十", "9", "〇"], ["я", "щ", " "],
      ["twenty ", "one ", "2"],
    ])
    return (0..<count).map { _ in random.pick(list) }.joined()
  }

  private static func carriers(around name: String, _ random: inout SeededRandom) -> String {
    (0..<Int.random(in: 1...8, using: &random)).reduce(name) { name, _ in
      let (before, behind) = random.pick([
        ("please send a message to ", ""), ("tell ", " that I'm late"),
        ("call ", " using Telegram"),
        ("to ", ""), ("my ", " list"), ("给", "发消息"), ("帮我给", "说你好"), ("用微信给", "，好"), ("我的朋友", ""),
        ("à ", " sur Signal"), ("", "さんに"), ("", " 씨에게"), ("show me the ", " list"), ("Dr ", "老师"),
      ])
      return before + name + behind
    }
  }

  private static let conjunctions = [
    " and ", ", ", "和", "、", " et ", " y ", " und ", "跟", "与", "と", " & ", ",",
  ]
  private static let clauses = [
    " using ", " with ", " on ", " that ", "说", "用", "，", ": ", " que ", "(", "（", "【", "\"", " ",
  ]

  private static func marks(_ random: inout SeededRandom) -> String {
    var scalars = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 1...200, using: &random) {
      scalars.append(Unicode.Scalar(UInt32.random(in: 0x300...0x36F, using: &random))!)
    }
    return String(scalars)
  }

  private static func scalar(_ random: inout SeededRandom) -> String {
    while true {
      let value = UInt32.random(in: 1...(random.chance(50) ? 0x10FFFF : 0xFFFF), using: &random)
      if let scalar = Unicode.Scalar(value) { return String(scalar) }
    }
  }

  private static let scripts: [ClosedRange<UInt32>] = [
    0x61...0x7A, 0xC0...0x24F, 0x370...0x3FF, 0x400...0x4FF, 0x5D0...0x5EA, 0x620...0x64A,
    0x900...0x97F, 0xE01...0xE3A, 0x1100...0x11FF, 0x3041...0x30FF, 0x4E00...0x9FFF,
    0xAC00...0xD7A3, 0xFF01...0xFF9F, 0x1D400...0x1D7FF, 0x1F300...0x1F6FF, 0x20000...0x2A6DF,
    0xE0020...0xE007F,
  ]

  /// 1,024 bytes of a script, as one word or with spaces.
  private static func oneScript(_ random: inout SeededRandom) -> String {
    let script = random.pick(scripts)
    let spaces = random.pick([0, 10, 30])
    var scalars = String.UnicodeScalarView()
    for _ in 0..<longest {
      let value = random.chance(spaces) ? 0x20 : UInt32.random(in: script, using: &random)
      if let scalar = Unicode.Scalar(value) { scalars.append(scalar) }
    }
    return String(scalars)
  }

  /// Characters replaced, lost, doubled or swapped, so that nobody is called so.
  private static func changed(_ name: String, _ random: inout SeededRandom) -> String {
    var letters = Array(name.prefix(80))
    for _ in 0..<Int.random(in: 1...3, using: &random) where !letters.isEmpty {
      let place = Int.random(in: 0..<letters.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: letters[place] = random.pick(Array("aeinr一王然"))
      case 1: letters.remove(at: place)
      case 2: letters.insert(letters[place], at: place)
      default: letters.swapAt(place, letters.count - 1)
      }
    }
    return String(letters)
  }
}
