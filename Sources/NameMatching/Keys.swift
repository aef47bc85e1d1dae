/// What a key says when a query and an entry share it.
enum KeyKind: UInt8 {
  case raw = 1
  case fold, sorted, number, hint, core
  case spelling, fuzzy, romaji, given, initials, skeleton, kin, ear
  case word, sound, nickname
}

/// The keys of a string, for an entry and a query alike.
struct Keys {
  let folded: Folded
  let units: [Spellings.Unit]
  /// Characters of a Chinese surname.
  let surname: Int

  init(_ folded: Folded) {
    self.folded = folded
    units = Spellings.units(folded)
    surname = folded.chineseSurname
  }

  static func raw(_ text: String) -> UInt32 {
    var hash = KeyHash(.raw)
    hash.append(utf8: text)
    return hash.value
  }

  static func hash(_ scalars: some Sequence<UInt32>, _ kind: KeyKind) -> UInt32 {
    var hash = KeyHash(kind)
    hash.append(scalars: scalars)
    return hash.value
  }

  static func hash(_ bytes: [UInt8], _ kind: KeyKind) -> UInt32 {
    var hash = KeyHash(kind)
    hash.append(bytes)
    return hash.value
  }

  static func hash(group: Int32, _ kind: KeyKind) -> UInt32 {
    hash([UInt8(truncatingIfNeeded: group), UInt8(truncatingIfNeeded: group >> 8)], kind)
  }

  /// Of segments one after another.
  static func hash(_ segments: ArraySlice<Segment>, _ kind: KeyKind) -> UInt32 {
    var hash = KeyHash(kind)
    for segment in segments { hash.append(scalars: segment.scalars) }
    return hash.value
  }

  var fold: UInt32 { Self.hash(folded.segments[...], .fold) }

  var sorted: UInt32? {
    guard folded.segments.count > 1 else { return nil }
    let sorted = folded.segments.sorted { $0.scalars.lexicographicallyPrecedes($1.scalars) }
    var hash = KeyHash(.sorted)
    for (number, segment) in sorted.enumerated() {
      if number > 0 { hash.append(scalar: 0x20) }
      hash.append(scalars: segment.scalars)
    }
    return hash.value
  }

  var number: UInt32? { Numbers.key(folded).map { Self.hash($0, .number) } }

  /// The skeleton of the whole, and its length.
  var skeleton: (hash: KeyHash?, length: Int) {
    let spelled = Spellings.hash(units, .skeleton, .skeleton)
    return (spelled.length > 1 ? spelled.hash : nil, spelled.length)
  }

  var kin: [UInt32] {
    guard Tables.kinFolds.contains(fold) else { return [] }
    return (Tables.kin[folded.joined] ?? []).map { Self.hash(group: $0, .kin) }
  }

  /// How an English ear hears the string, where it is Chinese; nil where it is not.
  var ear: UInt32? {
    var hash = KeyHash(.ear)
    var count = 0
    for unit in units {
      let letters = unit.letters
      guard !letters.isEmpty else { return nil }
      if unit.isHan {
        hash.append(EnglishEar.pinyin(letters[...]))
        count += 1
      } else {
        guard
          EnglishEar.forEachSyllable(
            of: letters,
            { syllable in
              hash.append(EnglishEar.pinyin(syllable))
              count += 1
            })
        else { return nil }
      }
    }
    return count > 1 ? hash.value : nil
  }

  /// How it is spelled, if it is what an English ear made of Chinese.
  var heard: UInt32? {
    guard folded.segments.count > 1, folded.segments.allSatisfy({ $0.script == .latin }) else {
      return nil
    }
    let codes = EnglishEar.english(folded.segments.map(Romanisation.latin))
    return codes.count > 1 ? Self.hash(codes, .ear) : nil
  }

  /// Latin letters of the commonest spelling.
  var letters: [UInt32] { units.flatMap { $0.letters.map { UInt32($0) } } }

  /// The unit that the string may also begin with: given name first, the Latin part before the
  /// Chinese one.
  var turn: Int? {
    if surname > 0 { return surname }
    guard folded.segments.count == 2, folded.segments[0].script != folded.segments[1].script else {
      return nil
    }
    return units.firstIndex { $0.segment == 1 } ?? 0
  }

  /// Kana by their spelling with short vowels; Latin letters as if they were.
  static func romaji(_ folded: Folded, rotatedBy turn: Int = 0) -> UInt32 {
    var parts = folded.segments.map(Romanisation.latin)
    if turn > 0 { parts = Array(parts[turn...] + parts[..<turn]) }
    return hash(Romanisation.shortVowels(Array(parts.joined())), .romaji)
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
    guard core ?? segments.count == 1, let name = segments.first, name.script == .han,
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
  private static let pairs: [Unicode.Scalar: String] = [
    "ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue",
    "Ø": "Oe", "Å": "Aa",
  ]

  /// Nil where there are none.
  static func spelledOut(_ text: String) -> String? {
    let scalars = text.unicodeScalars
    guard scalars.contains(where: { (0xC4...0xFC).contains($0.value) && pairs[$0] != nil }) else {
      return nil
    }
    return scalars.reduce(into: "") { $0 += pairs[$1] ?? String($1) }
  }
}
