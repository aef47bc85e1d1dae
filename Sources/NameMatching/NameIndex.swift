/// A string that people or things are called by.
public struct NameEntry: Sendable, Hashable {
  public var phrase: String
  /// How it is spoken, where the client knows: kana, pinyin, any spelling.
  public var hint: String?

  public init(_ phrase: String, hint: String? = nil) {
    self.phrase = phrase
    self.hint = hint
  }
}

/// What a key says when a query and an entry share it.
enum KeyKind: UInt8 {
  case fold = 1
  case sorted, number, hint, core, umlaut
  case spelling, western, fuzzy, hintSpelling, given, initials, sound, skeleton, kin, ear
}

/// The strings of one vocabulary, ready to be matched. Immutable; positions are those of the
/// entries it was made from, the most important first.
public struct NameIndex: Sendable {
  struct Entry {
    var folded: Folded
    /// All characters that are not Latin, and all that are, each without spaces.
    var foreign: [UInt32]
    var latin: [UInt32]
    var foreignMask: UInt64
    var latinMask: UInt64
    /// Characters of the surname, where it is a Chinese name.
    var surname: Int
    /// How it is spelled in Latin letters, in its commonest readings.
    var letters: [UInt32]
  }

  struct Token {
    var text: [UInt32]
    var mask: UInt64
    var sound: [UInt8]
    var entries: [Int32] = []
  }

  /// The strings themselves.
  public let phrases: [String]
  let entries: [Entry]
  let raw: [String: [Int32]]
  /// Positions by the hash of a key that they have. A hash alone proves nothing.
  let keys: [UInt32: [Int32]]
  let tokens: [Token]
  let tokenNumbers: [[UInt32]: Int32]
  let tokensBySound: [[UInt8]: [Int32]]
  let tokensByNickname: [Int32: [Int32]]

  public init(_ names: [NameEntry]) {
    var builder = IndexBuilder()
    for (position, name) in names.enumerated() { builder.add(name, at: Int32(position)) }
    phrases = names.map(\.phrase)
    entries = builder.entries
    raw = builder.raw
    keys = builder.keys
    tokens = builder.tokens
    tokenNumbers = builder.tokenNumbers
    tokensBySound = builder.tokensBySound
    tokensByNickname = builder.tokensByNickname
  }

  public var count: Int { entries.count }
}

/// The keys of a string, for an entry and a query alike.
struct Keys {
  let folded: Folded
  let units: [Spellings.Unit]

  init(_ folded: Folded) {
    self.folded = folded
    units = Spellings.units(folded)
  }

  static func hash(_ scalars: some Sequence<UInt32>, _ kind: KeyKind) -> UInt32 {
    var hash = KeyHash(kind.rawValue)
    hash.append(scalars: scalars)
    return hash.value
  }

  var fold: UInt32 { Self.hash(folded.joined, .fold) }

  var sorted: UInt32? {
    guard folded.segments.count > 1 else { return nil }
    let parts = folded.segments.map(\.scalars).sorted { $0.lexicographicallyPrecedes($1) }
    return Self.hash(parts.joined(separator: [0x20]), .sorted)
  }

  var number: UInt32? { Numbers.key(folded).map { Self.hash($0, .number) } }

  var spelling: [UInt32] { Spellings.keys(units, kind: KeyKind.spelling.rawValue) }
  var fuzzy: [UInt32] {
    Spellings.keys(units, kind: KeyKind.fuzzy.rawValue, Sounds.fuzzy)
  }

  /// The skeleton of the whole, and its length.
  var skeleton: (keys: [UInt32], length: Int) {
    let length = units.reduce(0) { $0 + Sounds.skeleton($1.spellings.first ?? []).count }
    guard length > 1 else { return ([], length) }
    return (Spellings.keys(units, kind: KeyKind.skeleton.rawValue, Sounds.skeleton), length)
  }

  /// How an English ear hears the string, where it is Chinese; nil where it is not.
  var ear: UInt32? {
    var codes: [UInt8] = []
    for unit in units {
      guard let spelling = unit.spellings.first, !spelling.isEmpty else { return nil }
      if unit.isHan {
        codes.append(EnglishEar.pinyin(spelling))
      } else {
        guard let syllables = EnglishEar.syllables(of: spelling) else { return nil }
        codes += syllables.map(EnglishEar.pinyin)
      }
    }
    return codes.count > 1 ? KeyHash(KeyKind.ear.rawValue).appending(codes).value : nil
  }

  /// How it is spelled, if it is what an English ear made of Chinese.
  var heard: UInt32? {
    guard folded.segments.count > 1, folded.segments.allSatisfy({ $0.script == .latin }) else {
      return nil
    }
    let codes = EnglishEar.english(folded.segments.map(Romanisation.latin))
    return codes.count > 1 ? KeyHash(KeyKind.ear.rawValue).appending(codes).value : nil
  }

  var kin: [UInt32] {
    (Tables.kin[folded.joined] ?? []).map {
      KeyHash(KeyKind.kin.rawValue).appending([UInt8(truncatingIfNeeded: $0)]).value
    }
  }

  /// Latin letters of the commonest spelling.
  var letters: [UInt32] {
    units.flatMap { ($0.spellings.first ?? []).map { UInt32($0) } }
  }

  /// Kana by their spelling with short vowels; Latin letters as if they were.
  static func romaji(_ folded: Folded, rotatedBy turn: Int = 0) -> UInt32 {
    var parts = folded.segments.map(Romanisation.latin)
    if turn > 0 { parts = Array(parts[turn...] + parts[..<turn]) }
    return KeyHash(KeyKind.hintSpelling.rawValue)
      .appending(Romanisation.shortVowels(Array(parts.joined()))).value
  }
}

private struct IndexBuilder {
  var entries: [NameIndex.Entry] = []
  var raw: [String: [Int32]] = [:]
  var keys: [UInt32: [Int32]] = [:]
  var tokens: [NameIndex.Token] = []
  var tokenNumbers: [[UInt32]: Int32] = [:]
  var tokensBySound: [[UInt8]: [Int32]] = [:]
  var tokensByNickname: [Int32: [Int32]] = [:]

  mutating func add(_ name: NameEntry, at position: Int32) {
    raw[name.phrase, default: []].append(position)
    let folded = Folding.fold(name.phrase)
    let forms = Keys(folded)
    func put(_ key: UInt32?) {
      guard let key, keys[key]?.last != position else { return }
      keys[key, default: []].append(position)
    }
    let surname = folded.chineseSurname
    let isLatin = folded.segments.allSatisfy { $0.script == .latin || $0.script == .digits }
    entries.append(
      NameIndex.Entry(
        folded: folded, foreign: folded.foreign, latin: folded.latin,
        foreignMask: EditDistance.mask(folded.foreign),
        latinMask: EditDistance.mask(folded.latin), surname: surname, letters: forms.letters))
    guard !folded.isEmpty else { return }

    put(forms.fold)
    put(forms.sorted)
    put(forms.number)
    if let core = folded.core {
      put(Keys.hash(folded.segments[..<core].flatMap(\.scalars), .core))
    }
    if let umlauts = Umlauts.spelledOut(name.phrase) {
      put(Keys.hash(Folding.fold(umlauts).joined, .fold))
    }
    forms.spelling.forEach(put)
    forms.fuzzy.forEach(put)
    forms.skeleton.keys.forEach(put)
    Spellings.initials(forms.units, kind: KeyKind.initials.rawValue).forEach(put)
    forms.kin.forEach(put)
    put(forms.ear)
    if surname > 0 {
      let given = forms.units[surname...]
      Spellings.keys(given + forms.units[..<surname], kind: KeyKind.spelling.rawValue).forEach(put)
      Spellings.keys(given, kind: KeyKind.given.rawValue).forEach(put)
    } else if folded.segments.count == 2, !isLatin {
      // "Kevin 孙飞思" is also called 孙飞思 Kevin.
      let split = forms.units.firstIndex { $0.segment == 1 } ?? 0
      Spellings.keys(
        forms.units[split...] + forms.units[..<split], kind: KeyKind.spelling.rawValue
      ).forEach(put)
    }
    if folded.segments.contains(where: { $0.script == .kana || $0.script == .hangul }) {
      put(Keys.romaji(folded))
    }
    if let hint = name.hint {
      let spoken = Folding.fold(hint)
      put(Keys.hash(spoken.joined, .hint))
      put(Keys.romaji(spoken))
      if spoken.segments.count == 2 { put(Keys.romaji(spoken, rotatedBy: 1)) }
    }
    addTokens(of: folded, position)
  }

  private mutating func addTokens(of folded: Folded, _ position: Int32) {
    for segment in folded.segments where segment.script.hasWords {
      let number: Int32
      if let known = tokenNumbers[segment.scalars] {
        number = known
      } else {
        number = Int32(tokens.count)
        let sound = Sounds.key(Romanisation.latin(segment))
        tokens.append(
          NameIndex.Token(
            text: segment.scalars, mask: EditDistance.mask(segment.scalars), sound: sound))
        tokenNumbers[segment.scalars] = number
        tokensBySound[sound, default: []].append(number)
        for group in Tables.nicknames[segment.scalars] ?? [] {
          tokensByNickname[group, default: []].append(number)
        }
      }
      if tokens[Int(number)].entries.last != position {
        tokens[Int(number)].entries.append(position)
      }
    }
  }
}

extension Folded {
  /// All that is not in Latin letters, without spaces.
  var foreign: [UInt32] {
    segments.lazy.filter { $0.script != .latin }.flatMap(\.scalars)
  }

  /// All that is in Latin letters, without spaces.
  var latin: [UInt32] {
    segments.lazy.filter { $0.script == .latin }.flatMap(\.scalars)
  }

  /// Characters of the surname, where the whole is a Chinese name of two to four characters.
  var chineseSurname: Int {
    let parts = segments[..<(core ?? segments.count)]
    guard parts.count == 1, let name = parts.first, name.script == .han,
      (2...4).contains(name.scalars.count)
    else { return 0 }
    if name.scalars.count > 2,
      Tables.compoundSurnames[Tables.pair(name.scalars[0], name.scalars[1])] != nil
    {
      return 2
    }
    return name.scalars.count < 4 && Tables.surnames.contains(name.scalars[0]) ? 1 : 0
  }
}

/// German and Nordic letters as two: ä is ae beside a.
enum Umlauts {
  private static let pairs: [Character: String] = [
    "ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue",
    "Ø": "Oe", "Å": "Aa",
  ]

  /// Nil where there are none.
  static func spelledOut(_ text: String) -> String? {
    guard text.contains(where: { pairs[$0] != nil }) else { return nil }
    return text.reduce(into: "") { $0 += pairs[$1] ?? String($1) }
  }
}
