/// The scripts that matching tells apart.
enum Script: UInt8 {
  case latin, han, kana, hangul, cyrillic, digits, other
}

extension Script {
  /// Whether words of it are separated by spaces, so that a segment is a word.
  var hasWords: Bool {
    switch self {
    case .latin, .cyrillic, .digits, .other: true
    case .han, .kana, .hangul: false
    }
  }
}

/// A run of characters of one script, folded: a word, or characters written without spaces.
struct Segment: Equatable {
  var script: Script
  var scalars: [UInt32]
}

/// A string without what does not tell one name from another.
struct Folded: Equatable {
  var segments: [Segment] = []
  /// The number of segments before the first bracket, where something stands behind or in it.
  var core: Int?

  /// All characters, without spaces.
  var joined: [UInt32] { segments.flatMap(\.scalars) }
  var isEmpty: Bool { segments.isEmpty }
}

/// Folding that keeps identity: symbols and ornaments, width, case, diacritics, styled letters,
/// traditional characters, katakana, apostrophes (`docs/resolution.md`).
enum Folding {
  /// Folds; idempotent on the text of its result.
  static func fold(_ text: String) -> Folded {
    let plain = pieces(text, stripsOrnaments: true)
    return plain.isEmpty ? pieces(text, stripsOrnaments: false) : plain
  }

  // MARK: Pieces

  private static func pieces(_ text: String, stripsOrnaments: Bool) -> Folded {
    var builder = Builder()
    // Ornaments are told by what stands beside them, so words come first.
    var word: [UInt32] = []
    word.reserveCapacity(16)
    func endWord() {
      for scalar in stripsOrnaments ? strip(word[...]) : word[...] { builder.add(scalar) }
      builder.endWord()
      word.removeAll(keepingCapacity: true)
    }
    for scalar in text.unicodeScalars {
      guard isSeparator(scalar) else {
        word.append(scalar.value)
        continue
      }
      if !word.isEmpty { endWord() }
      if isOpening(scalar.value) { builder.openBracket() }
    }
    if !word.isEmpty { endWord() }
    return builder.finish()
  }

  private static func isOpening(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x28, 0x5B, 0x3C, 0xFF08, 0x3010, 0x300C, 0x300E, 0x300A: true
    default: false
    }
  }

  /// What separates words. Apostrophes, joiners, marks and middle dots of names do not.
  private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: return false
    case 0x27, 0x2019, 0x2018, 0x02BC, 0x60, 0xB4, 0xFF07: return false
    case 0x3005, 0x3006, 0x3007, 0x30FC, 0xFF70, 0xFF9E, 0xFF9F: return false
    case 0..<0x80: return true
    default: break
    }
    if isHan(scalar.value) || Tables.folding.contains(scalar.value) { return false }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark,
      .format:
      return false
    default: return true
    }
  }

  // MARK: Ornaments

  /// 1 for letters that are never part of a name's edge, 2 for those that are ornaments where they
  /// stand alone or beside another script.
  private static let ornaments: ScalarTable = {
    var table = ScalarTable()
    for scalar in "丶乄〆彡灬丿乀ヽヾゝゞ゛゜".unicodeScalars { table[scalar.value] = 1 }
    for scalar in "ζღのミメシツッξδωΨΩβεσヅ乂ꦿ".unicodeScalars { table[scalar.value] = 2 }
    return table
  }()

  private static func strip(_ word: ArraySlice<UInt32>) -> ArraySlice<UInt32> {
    var word = word
    while let first = word.first, isOrnament(first, beside: word.dropFirst().first) {
      word.removeFirst()
    }
    while let last = word.last, isOrnament(last, beside: word.dropLast().last) {
      word.removeLast()
    }
    return word
  }

  static func isOrnament(_ scalar: UInt32, beside neighbor: UInt32?) -> Bool {
    guard scalar >= 0x80 else { return false }
    let scalar = unstyled(scalar)
    switch ornaments[scalar] {
    case 0: return false
    case 1: return true
    default: return neighbor.map { script(of: scalar) != script(of: unstyled($0)) } ?? true
    }
  }

  /// The letter itself of a styled, wide or accented one.
  private static func unstyled(_ scalar: UInt32) -> UInt32 {
    guard scalar >= 0x80, case .one(let letter) = Tables.folding.form(of: scalar) else {
      return scalar
    }
    return letter
  }

  // MARK: Scripts

  static func isHan(_ scalar: UInt32) -> Bool {
    (0x3400...0x9FFF).contains(scalar) || (0xF900...0xFAFF).contains(scalar)
      || (0x20000...0x323AF).contains(scalar) || scalar == 0x3005 || scalar == 0x3007
  }

  static func script(of scalar: UInt32) -> Script {
    switch scalar {
    case 0x30...0x39: .digits
    case 0x41...0x24F, 0x1E00...0x1EFF: .latin
    case 0x400...0x52F: .cyrillic
    case 0x3041...0x3096, 0x30A1...0x30FF: .kana
    case 0xAC00...0xD7A3: .hangul
    default: isHan(scalar) ? .han : .other
    }
  }

  /// Collects segments.
  private struct Builder {
    private var folded = Folded()
    private var script = Script.other
    private var current: [UInt32] = []
    private var bracket: Int?

    init() { current.reserveCapacity(16) }

    mutating func openBracket() {
      endWord()
      if bracket == nil, !folded.segments.isEmpty { bracket = folded.segments.count }
    }

    mutating func add(_ scalar: UInt32) {
      if (0x61...0x7A).contains(scalar) { return append(scalar) }
      if (0x41...0x5A).contains(scalar) { return append(scalar + 0x20) }
      switch scalar {
      case 0x27, 0x2019, 0x2018, 0x02BC, 0x60, 0xB4, 0xFF07: return
      case 0x30A1...0x30F6: return append(scalar - 0x60)
      case 0xFF70: return append(0x30FC)
      case 0x3099, 0xFF9E: return voice(by: 1)
      case 0x309A, 0xFF9F: return voice(by: 2)
      case 0x1100...0x1112, 0x1161...0x1175, 0x11A8...0x11C2: return compose(scalar)
      case 0x0300...0x036F: return
      default: break
      }
      switch Tables.folding.form(of: scalar) {
      case .itself: break
      case .one(let letter): return append(Tables.simplified(letter))
      case .several(let letters):
        for letter in letters { append(Tables.simplified(letter)) }
        return
      }
      if Folding.isHan(scalar) { return append(Tables.simplified(scalar)) }
      if let category = Unicode.Scalar(scalar)?.properties.generalCategory,
        category == .nonspacingMark || category == .enclosingMark || category == .format
      {
        return
      }
      append(scalar)
    }

    private mutating func append(_ scalar: UInt32) {
      // The mark that repeats a character, and the long vowel, belong to what they follow.
      var script = Folding.script(of: scalar)
      if scalar == 0x30FC { script = current.isEmpty ? .kana : self.script }
      var scalar = scalar
      if scalar == 0x3005, self.script == .han, let last = current.last { scalar = last }
      if script != self.script { endWord() }
      self.script = script
      current.append(scalar)
    }

    private mutating func voice(by step: UInt32) {
      guard script == .kana, let last = current.last else { return }
      if step == 1, last == 0x3046 {
        current[current.count - 1] = 0x3094
      } else if (0x304B...0x307B).contains(last) {
        current[current.count - 1] = last + step
      }
    }

    private mutating func compose(_ jamo: UInt32) {
      if let last = current.last, script == .hangul || script == .other {
        if (0x1100...0x1112).contains(last), (0x1161...0x1175).contains(jamo) {
          current.removeLast()
          return append(0xAC00 + ((last - 0x1100) * 21 + jamo - 0x1161) * 28)
        }
        if (0xAC00...0xD7A3).contains(last), (last - 0xAC00) % 28 == 0, jamo >= 0x11A8 {
          current[current.count - 1] = last + jamo - 0x11A7
          return
        }
      }
      append(jamo)
    }

    mutating func endWord() {
      if !current.isEmpty {
        // A copy of just its size, so that this buffer stays for the next word.
        let scalars = current.withUnsafeBufferPointer { Array($0) }
        folded.segments.append(Segment(script: script, scalars: scalars))
      }
      current.removeAll(keepingCapacity: true)
      script = .other
    }

    mutating func finish() -> Folded {
      endWord()
      if let bracket, bracket < folded.segments.count { folded.core = bracket }
      return folded
    }
  }
}
