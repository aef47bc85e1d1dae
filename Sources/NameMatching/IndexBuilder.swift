/// Makes an index, a string at a time.
struct IndexBuilder {
  private var text = PackedText()
  private var identifiers = PackedText()
  private var derived: [Bool] = []
  private var folded = PackedNames()
  private var keys = KeyTable()
  private var tokens = NameIndex.Tokens()
  private var numbers: [Word: Int] = [:]

  /// A word by the hash that is its key, too.
  private struct Word: Hashable {
    let hash: UInt32
    let scalars: [UInt32]

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  /// - Parameter count: of the strings to come, about.
  init(count: Int) {
    text.reserve(count)
    identifiers.reserve(count)
    derived.reserveCapacity(count)
    // Three to nine keys a string.
    keys.reserve(count * 7)
    tokens.entries.reserve(count * 2)
  }

  mutating func add(_ name: NameEntry) {
    let position = text.count
    let folded = Folding.fold(name.phrase)
    let forms = Keys(folded)
    text.append(name.phrase)
    identifiers.append(name.identifier ?? "")
    derived.append(name.isDerived)
    let start = self.folded.characters.count
    self.folded.append(folded)
    keys.add(Keys.raw(name.phrase), position)
    guard !folded.isEmpty else { return }
    addWhole(forms, name, position)
    addSounds(forms, position)
    if let hint = name.hint { addHint(hint, position) }
    addTokens(of: folded, from: start, position)
  }

  private mutating func addWhole(_ forms: Keys, _ name: NameEntry, _ position: Int) {
    keys.add(forms.fold, position)
    if let sorted = forms.sorted { keys.add(sorted, position) }
    if let number = forms.number { keys.add(number, position) }
    if let core = forms.folded.core {
      keys.add(Keys.hash(forms.folded.segments[..<core], .core), position)
    }
    if let umlauts = Umlauts.spelledOut(name.phrase) {
      keys.add(Keys.hash(Folding.fold(umlauts).joined, .fold), position)
    }
    for key in forms.kin { keys.add(key, position) }
  }

  private mutating func addSounds(_ forms: Keys, _ position: Int) {
    // Plain spellings are checked among those that share a fuzzy one.
    add(Spellings.hash(forms.units, .fuzzy, .fuzzy).hash, position)
    if let turn = forms.turn {
      add(Spellings.hash(forms.units, .fuzzy, .fuzzy, turnedBy: turn).hash, position)
    }
    if forms.surname > 0 {
      add(Spellings.hash(forms.units[forms.surname...], .given).hash, position)
    }
    add(forms.skeleton.hash, position)
    add(Spellings.initials(forms.units), position)
    if let ear = forms.ear { keys.add(ear, position) }
    if forms.folded.segments.contains(where: { $0.script == .kana || $0.script == .hangul }) {
      keys.add(Keys.romaji(forms.folded), position)
    }
  }

  private mutating func add(_ hash: KeyHash?, _ position: Int) {
    hash?.forEach { keys.add($0, position) }
  }

  private mutating func addHint(_ hint: String, _ position: Int) {
    let spoken = Folding.fold(hint)
    guard !spoken.isEmpty else { return }
    keys.add(Keys.hash(spoken.joined, .hint), position)
    keys.add(Keys.romaji(spoken), position)
    if spoken.segments.count == 2 { keys.add(Keys.romaji(spoken, rotatedBy: 1), position) }
  }

  private mutating func addTokens(of folded: Folded, from start: Int, _ position: Int) {
    var start = start
    for segment in folded.segments {
      defer { start += min(segment.scalars.count, 0x1FFF) }
      guard segment.script.hasWords, segment.scalars.count < 64 else { continue }
      let number: Int
      let word = Word(hash: Keys.hash(segment.scalars, .word), scalars: segment.scalars)
      if let known = numbers[word] {
        number = known
      } else {
        number = tokens.mask.count
        numbers[word] = number
        tokens.mask.append(EditDistance.mask(segment.scalars))
        tokens.start.append(UInt32(start))
        tokens.length.append(UInt8(segment.scalars.count))
        tokens.keys.add(word.hash, number)
        let sound = Sounds.key(Romanisation.latin(segment))
        if !sound.isEmpty { tokens.keys.add(Keys.hash(sound, .sound), number) }
        for group in Tables.nicknames[segment.scalars] ?? [] {
          tokens.keys.add(Keys.hash(group: group, .nickname), number)
        }
      }
      tokens.entries.add(UInt32(number), position)
    }
  }

  consuming func finish() -> NameIndex {
    keys.finish()
    tokens.keys.finish()
    tokens.entries.finish()
    return NameIndex(
      text: text, identifiers: identifiers, derived: derived, folded: folded, keys: keys,
      tokens: tokens)
  }
}
