/// How scripts are written in Latin letters: kana (Hepburn, long vowels short), Hangul (Revised
/// Romanisation, by letters), Cyrillic (as in Russian passports, roughly).
enum Romanisation {
  static func latin(_ segment: Segment) -> [UInt8] {
    switch segment.script {
    case .kana: kana(segment.scalars)
    case .hangul: hangul(segment.scalars)
    case .cyrillic: cyrillic(segment.scalars)
    default: segment.scalars.map { $0 < 0x80 ? UInt8($0) : UInt8(0x80 | $0 & 0x7F) }
    }
  }

  // MARK: Kana

  private static let rows: [UInt32: String] = {
    let syllables = """
      a i u e o ka ga ki gi ku gu ke ge ko go sa za shi ji su zu se ze so zo ta da chi ji tsu tsu zu \
      te de to do na ni nu ne no ha ba pa hi bi pi fu bu pu he be pe ho bo po ma mi mu me mo ya ya \
      yu yu yo yo ra ri ru re ro wa wa i e o n vu ka ke
      """.split(separator: " ")
    // Small vowels and full ones take turns at the front: ぁあぃいぅうぇえぉお.
    var table: [UInt32: String] = [:]
    for (index, vowel) in ["a", "i", "u", "e", "o"].enumerated() {
      table[0x3041 + UInt32(index) * 2] = vowel
      table[0x3042 + UInt32(index) * 2] = vowel
    }
    for (index, syllable) in syllables.dropFirst(5).enumerated() {
      table[0x304B + UInt32(index)] = String(syllable)
    }
    return table
  }()

  private static func kana(_ scalars: [UInt32]) -> [UInt8] {
    var out: [UInt8] = []
    var doubles = false
    for scalar in scalars {
      switch scalar {
      case 0x3063:  // small tsu
        doubles = true
        continue
      case 0x30FC: continue
      case 0x3083, 0x3085, 0x3087:  // small ya, yu, yo
        guard out.last == UInt8(ascii: "i") else { break }
        out.removeLast()
        let vowel: UInt8 = scalar == 0x3083 ? 0x61 : scalar == 0x3085 ? 0x75 : 0x6F
        if out.last != UInt8(ascii: "h"), out.last != UInt8(ascii: "j") {
          out.append(UInt8(ascii: "y"))
        }
        out.append(vowel)
        continue
      case 0x3041, 0x3043, 0x3045, 0x3047, 0x3049:  // small vowels take the vowel before them over
        if let last = out.last, isVowel(last), out.count > 1 { out.removeLast() }
      default: break
      }
      let syllable = Array((rows[scalar] ?? "").utf8)
      if doubles, let first = syllable.first {
        out.append(first)
        doubles = false
      }
      out += syllable
    }
    return shortVowels(out)
  }

  private static func isVowel(_ byte: UInt8) -> Bool {
    byte == 0x61 || byte == 0x65 || byte == 0x69 || byte == 0x6F || byte == 0x75
  }

  /// Long vowels as they are written or not: ou, oo, uu, aa, ii, ee; and oh before a consonant.
  static func shortVowels(_ letters: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    for (index, letter) in letters.enumerated() {
      if let last = out.last, isVowel(letter) {
        if letter == last { continue }
        if letter == UInt8(ascii: "u"), last == UInt8(ascii: "o") { continue }
      }
      if letter == UInt8(ascii: "h"), out.last == UInt8(ascii: "o"),
        index + 1 == letters.count || !isVowel(letters[index + 1])
      {
        continue
      }
      // n before m, b and p is often written m.
      if letter == UInt8(ascii: "m"), index + 1 < letters.count,
        "bmp".utf8.contains(letters[index + 1])
      {
        out.append(UInt8(ascii: "n"))
        continue
      }
      out.append(letter)
    }
    return out
  }

  // MARK: Hangul

  private static let initials = [
    "g", "kk", "n", "d", "tt", "r", "m", "b", "pp", "s", "ss", "", "j", "jj", "ch", "k", "t", "p",
    "h",
  ]
  private static let vowels = [
    "a", "ae", "ya", "yae", "eo", "e", "yeo", "ye", "o", "wa", "wae", "oe", "yo", "u", "wo", "we",
    "wi", "yu", "eu", "ui", "i",
  ]
  private static let finals = [
    "", "k", "k", "k", "n", "n", "n", "t", "l", "k", "m", "l", "l", "l", "p", "l", "m", "p", "p",
    "t", "t", "ng", "t", "t", "k", "t", "p", "t",
  ]

  private static func hangul(_ scalars: [UInt32]) -> [UInt8] {
    var text = ""
    for scalar in scalars where (0xAC00...0xD7A3).contains(scalar) {
      let index = Int(scalar - 0xAC00)
      text += initials[index / 588] + vowels[index % 588 / 28] + finals[index % 28]
    }
    return Array(text.utf8)
  }

  /// Korean surnames are seldom written by the rule.
  static let koreanSurnames: [UInt32: [String]] = [
    0xAE40: ["kim"], 0xC774: ["lee", "yi", "rhee"], 0xBC15: ["park", "pak"], 0xCD5C: ["choi"],
    0xC815: ["jung", "chung", "jeong"], 0xAC15: ["kang"], 0xC870: ["cho", "jo"],
    0xC724: ["yoon", "yun"],
    0xC784: ["lim", "im"], 0xC624: ["oh"], 0xC2E0: ["shin", "sin"], 0xC11C: ["seo", "suh"],
    0xAD8C: ["kwon", "gwon"], 0xC720: ["yoo", "yu", "ryu"], 0xBB38: ["moon", "mun"],
    0xAD6C: ["koo", "gu"], 0xC6B0: ["woo", "u"], 0xB178: ["noh", "roh", "no"],
    0xC2EC: ["shim", "sim"],
    0xC548: ["ahn", "an"], 0xBC30: ["bae"], 0xBC31: ["baek", "paik"], 0xC8FC: ["joo", "ju"],
  ]

  // MARK: Cyrillic

  private static let letters: [UInt32: String] = {
    let table = [
      "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ё": "e", "ж": "zh", "з": "z",
      "и": "i", "й": "i", "к": "k", "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r",
      "с": "s", "т": "t", "у": "u", "ф": "f", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh",
      "щ": "shch", "ъ": "", "ы": "y", "ь": "", "э": "e", "ю": "yu", "я": "ya", "і": "i", "ї": "yi",
      "є": "ye", "ґ": "g", "ў": "u", "ђ": "dj", "ј": "j", "љ": "lj", "њ": "nj", "ћ": "c", "џ": "dz",
    ]
    return [UInt32: String](
      uniqueKeysWithValues: table.map { ($0.key.unicodeScalars.first!.value, $0.value) })
  }()

  private static func cyrillic(_ scalars: [UInt32]) -> [UInt8] {
    Array(scalars.map { letters[$0] ?? "" }.joined().utf8)
  }
}
