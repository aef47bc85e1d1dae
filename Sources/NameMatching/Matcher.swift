/// Why an entry matched, in the order of how much it says.
public enum MatchReason: String, Sendable {
  /// Character for character.
  case identical
  /// Equal after folding: symbols, width, case, diacritics, traditional characters.
  case folded
  /// Equal to the client's pronunciation hint.
  case hint
  /// Equal with numbers as digits.
  case number
  /// The same words in another order.
  case reordered
  /// All that stands before its brackets.
  case core
  /// The same sound, or the same in another script.
  case sound
  case kin
  case nickname
  /// Sounds that are easily mixed up.
  case fuzzySound
  case typo
  /// A part of it.
  case partial
  case initials
  /// As a foreign ear spells it.
  case ear

  /// Whether it names the entry itself, rather than something like it.
  var isIdentity: Bool {
    switch self {
    case .identical, .folded, .hint, .number, .reordered: true
    default: false
    }
  }
}

/// An entry that a query may mean.
public struct NameMatch: Sendable, Hashable {
  /// The entry's place in the vocabulary.
  public var position: Int
  /// From 0 to 1; only differences within one call mean something.
  public var score: Double
  public var reason: MatchReason
}

extension NameIndex {
  /// Entries that a query may mean, best first; ties in the order of the vocabulary.
  ///
  /// - Parameter query: a name alone, without what is said around it.
  public func matches(_ query: String) -> [NameMatch] {
    var matcher = Matcher(self, query)
    return matcher.run()
  }
}

/// One query against one index.
private struct Matcher {
  let index: NameIndex
  let query: String
  let folded: Folded
  let keys: Keys
  var found: [Int: NameMatch] = [:]

  init(_ index: NameIndex, _ query: String) {
    self.index = index
    self.query = query
    folded = Folding.fold(query)
    keys = Keys(folded)
  }

  mutating func run() -> [NameMatch] {
    for position in index.keys.numbers(Keys.raw(query)) where index.phrase(at: position) == query {
      add(position, 1, .identical)
    }
    if !folded.isEmpty {
      byIdentity()
      // Nobody says a name of more characters almost right.
      if folded.segments.reduce(0, { $0 + $1.scalars.count }) <= 80,
        !found.values.contains(where: \.reason.isIdentity)
      {
        bySound()
        byWords()
        byParts()
        byDiminutive()
        if found.values.allSatisfy({ $0.score < 0.8 }) { byEar() }
      }
    }
    return found.values.sorted { ($1.score, $0.position) < ($0.score, $1.position) }
  }

  private mutating func add(_ position: Int, _ score: Double, _ reason: MatchReason) {
    if let known = found[position], known.score >= score { return }
    found[position] = NameMatch(position: position, score: score, reason: reason)
  }

  // MARK: Whole strings

  private mutating func byIdentity() {
    let joined = folded.joined
    var folds = [keys.fold]
    if let umlauts = Umlauts.spelledOut(query) {
      folds.append(Keys.hash(Folding.fold(umlauts).joined, .fold))
    }
    func put(_ key: UInt32?, _ score: Double, _ reason: MatchReason) {
      guard let key else { return }
      for position in index.keys.numbers(key) { add(position, score, reason) }
    }
    for fold in folds { put(fold, 0.99, .folded) }
    put(keys.number ?? Keys.hash(joined, .number), 0.985, .number)
    put(keys.sorted, 0.98, .reordered)
    put(Keys.hash(joined, .hint), 0.975, .hint)
    put(Keys.hash(joined, .core), 0.95, .core)
  }

  private mutating func bySound() {
    // Names of several words, spelled another way round.
    let isTurned =
      folded.segments.count > 1 && folded.segments.allSatisfy { $0.script == .latin }
    for turn in 0..<(isTurned ? min(folded.segments.count, 4) : 1) {
      let spellings = Spellings.keys(keys.units, .spelling, turnedBy: turn)
      for key in Spellings.keys(keys.units, .fuzzy, .fuzzy, turnedBy: turn) {
        for position in index.keys.numbers(key) {
          let isPlain = isSpelled(spellings, position)
          add(position, isPlain ? 0.9 : 0.85, isPlain ? .sound : .fuzzySound)
        }
      }
    }
    if folded.segments.count < 5 {
      for turn in 0..<folded.segments.count {
        for position in index.keys.numbers(Keys.romaji(folded, rotatedBy: turn)) {
          add(position, 0.9, .sound)
        }
      }
    }
    for key in keys.kin {
      for position in index.keys.numbers(key) { add(position, 0.87, .kin) }
    }
    if folded.segments.count == 1, folded.segments[0].script == .latin {
      let letters = Romanisation.latin(folded.segments[0])
      if letters.count >= 2 {
        for position in index.keys.numbers(Keys.hash(letters, .initials)) {
          add(position, 0.78, .initials)
        }
      }
    }
    for key in Spellings.keys(keys.units, .given) {
      for position in index.keys.numbers(key) { add(position, 0.8, .partial) }
    }
  }

  /// Whether an entry has one of these spellings, in any order of its parts.
  private func isSpelled(_ spellings: [UInt32], _ position: Int) -> Bool {
    let entry = Keys(index.folded.unpacked(position))
    if Spellings.keys(entry.units, .spelling).contains(where: spellings.contains) { return true }
    guard let turn = entry.turn else { return false }
    return Spellings.keys(entry.units, .spelling, turnedBy: turn)
      .contains(where: spellings.contains)
  }

  // MARK: Words

  private typealias WordMatch = (score: Double, reason: MatchReason)

  private func word(_ token: Int) -> ArraySlice<UInt16> {
    let start = Int(index.tokens.start[token])
    return index.folded.characters[start..<start + Int(index.tokens.length[token])]
  }

  /// How well tokens of the index stand for a word of the query.
  private func tokens(for segment: Segment) -> [Int: WordMatch] {
    var best: [Int: WordMatch] = [:]
    func put(_ token: Int, _ score: Double, _ reason: MatchReason) {
      if let known = best[token], known.score >= score { return }
      best[token] = (score, reason)
    }
    let scalars = segment.scalars
    let packed = scalars.map(PackedNames.pack)
    for token in index.tokens.keys.numbers(Keys.hash(scalars, .word))
    where word(token).elementsEqual(packed) {
      put(token, 1, .folded)
    }
    for group in Tables.nicknames[scalars] ?? [] {
      for token in index.tokens.keys.numbers(Keys.hash(group: group, .nickname)) {
        put(token, 0.86, .nickname)
      }
    }
    let sound = Sounds.key(Romanisation.latin(segment))
    if !sound.isEmpty {
      for token in index.tokens.keys.numbers(Keys.hash(sound, .sound)) {
        let similarity = EditDistance.similarity(scalars, word(token).map { UInt32($0) })
        if similarity >= 0.4 { put(token, 0.78 + 0.12 * similarity, .sound) }
      }
    }
    let stems = Hypocorisms.stems(of: scalars).map { $0.map(PackedNames.pack) }
    let limit = segment.script == .digits || scalars.count < 3 ? 0 : scalars.count < 7 ? 1 : 2
    let mask = EditDistance.mask(scalars)
    let stemMasks = stems.map { EditDistance.mask($0.map { UInt32($0) }) }
    for token in index.tokens.mask.indices {
      let other = index.tokens.mask[token]
      let length = Int(index.tokens.length[token])
      for (stem, stemMask) in zip(stems, stemMasks)
      where stemMask & ~other == 0 && length >= stem.count + 2 && word(token).starts(with: stem) {
        put(token, 0.8, .nickname)
      }
      guard limit > 0, (mask ^ other).nonzeroBitCount <= 2 * limit,
        abs(length - scalars.count) <= limit,
        let distance = EditDistance.within(limit, packed[...], word(token))
      else { continue }
      put(token, 0.95 - 0.6 * Double(distance) / Double(max(scalars.count, length)), .typo)
    }
    return best
  }

  private mutating func byWords() {
    let words = folded.segments.filter(\.script.hasWords)
    guard !words.isEmpty, words.count <= 6, words.count == folded.segments.count else { return }
    var rows: [Int: [WordMatch]] = [:]
    for (number, word) in words.enumerated() {
      var next: [Int: [WordMatch]] = [:]
      for (token, match) in tokens(for: word) {
        for position in index.tokens.entries.numbers(UInt32(token)) {
          // Each word has to find its part, so that who lacks an earlier one is out.
          guard var row = number == 0 ? [] : rows[position] else { continue }
          if let known = next[position], known[number].score >= match.score { continue }
          row.append(match)
          next[position] = row
        }
      }
      rows = next
    }
    let total = Double(words.reduce(0) { $0 + $1.scalars.count })
    for (position, row) in rows {
      var score = 0.0
      for (word, match) in zip(words, row) {
        score += match.score * Double(word.scalars.count) / total
      }
      add(position, words, score, row.min { $0.score < $1.score }!.reason)
    }
    byWholeWords()
  }

  private mutating func add(
    _ position: Int, _ words: [Segment], _ score: Double, _ worst: MatchReason
  ) {
    if words.count >= index.folded.segmentCount(position) {
      add(position, 0.95 * score, worst)
    } else if words.count == 1, worst == .typo || worst == .sound {
      // A part that is not even written right says little.
      let length = words[0].scalars.count
      let share = Double(length) / Double(max(1, index.folded.length(position)))
      if length >= 5, share >= 0.4 { add(position, 0.76 * score, worst) }
    } else {
      add(position, 0.86 * score, worst == .folded ? .partial : worst)
    }
  }

  /// Typos that also moved the borders of words.
  private mutating func byWholeWords() {
    let word = folded.latin.map(PackedNames.pack)
    let limit = word.count < 5 ? 0 : word.count < 9 ? 1 : 2
    guard limit > 0, word.count == folded.joined.count else { return }
    let mask = EditDistance.mask(folded.latin)
    for position in index.folded.masks.indices {
      guard (mask ^ index.folded.masks[position]).nonzeroBitCount <= 2 * limit,
        abs(index.folded.length(position) - word.count) <= limit,
        let distance = EditDistance.within(limit, word[...], index.folded.joined(position))
      else { continue }
      let length = Double(max(word.count, index.folded.length(position)))
      add(position, 0.95 - 0.6 * Double(distance) / length, .typo)
    }
  }

  // MARK: Parts of strings without spaces

  private mutating func byParts() {
    let part = folded.foreign.map(PackedNames.pack)
    guard part.count >= 2, part.count == folded.joined.count else { return }
    let mask = EditDistance.mask(folded.foreign)
    for position in index.folded.masks.indices {
      let lacks = mask & ~index.folded.masks[position]
      guard lacks.nonzeroBitCount <= 1, index.folded.length(position) >= part.count - 1 else {
        continue
      }
      let whole = index.folded.joined(position)
      if lacks == 0, whole.count > part.count, whole.hasPart(part) {
        let share = Double(part.count) / Double(whole.count)
        add(position, 0.8 + 0.04 * share, .partial)
        continue
      }
      // One character too many, too few or another, of four at least.
      guard max(whole.count, part.count) >= 4,
        index.folded.masks[position] & EditDistance.latinLetters == 0,
        EditDistance.within(1, part[...], whole) == 1
      else { continue }
      add(position, 0.7 + 0.02 * Double(part.count), .typo)
    }
  }

  /// 小如 for 盖洋如, 老王 for 王一然, 航航 for 李航.
  private mutating func byDiminutive() {
    guard folded.segments.count == 1, folded.segments[0].script == .han,
      folded.segments[0].scalars.count == 2
    else { return }
    let scalars = folded.segments[0].scalars
    let isPrefixed = "小阿老大".unicodeScalars.contains { $0.value == scalars[0] }
    guard isPrefixed || scalars[0] == scalars[1] else { return }
    let character = PackedNames.pack(scalars[1])
    let mask = EditDistance.mask([scalars[1]])
    let takesSurname = isPrefixed && scalars[0] != Unicode.Scalar("阿").value
    for position in index.folded.masks.indices
    where mask & ~index.folded.masks[position] == 0 {
      let surname = index.folded.surname(position)
      guard surname > 0 else { continue }
      let name = index.folded.joined(position)
      if name.last == character {
        add(position, 0.76, .nickname)
      } else if name.dropFirst(surname).contains(character) {
        add(position, 0.72, .nickname)
      } else if takesSurname, surname == 1, name.first == character {
        add(position, 0.74, .nickname)
      }
    }
  }

  // MARK: By ear

  private mutating func byEar() {
    let (skeleton, length) = keys.skeleton
    let letters = keys.letters
    if let heard = keys.heard {
      for position in index.keys.numbers(heard) {
        let similarity = EditDistance.similarity(letters, entryLetters(position))
        // Three syllables that agree are a chance of one in hundreds; two need letters in common.
        if similarity >= (folded.segments.count > 2 ? 0.1 : 0.2) {
          add(position, 0.64 + 0.14 * similarity, .ear)
        }
      }
    }
    let isForeign = folded.segments.allSatisfy { $0.script == .han }
    let isTransliteration = folded.joined.allSatisfy(Transliteration.characters.contains)
    let least = isForeign ? (folded.chineseSurname > 0 ? 0.4 : 0) : (length > 2 ? 0.4 : 0.5)
    for position in (skeleton?.values ?? []).flatMap({ index.keys.numbers($0) }) {
      if isForeign {
        // Chinese characters for a foreign name: vowels come and go.
        guard isTransliteration,
          index.folded.masks[position] & EditDistance.latinLetters != 0
        else { continue }
      }
      let similarity = EditDistance.similarity(letters, entryLetters(position))
      guard similarity >= least else { continue }
      add(position, isForeign ? 0.68 + 0.1 * similarity : 0.66 + 0.12 * similarity, .ear)
    }
  }

  private func entryLetters(_ position: Int) -> [UInt32] {
    Keys(index.folded.unpacked(position)).letters
  }
}

/// Short forms that are made by rule: Stan for Stanley, Robbie for Robert.
enum Hypocorisms {
  /// What names that a word is short for begin with; three letters at least.
  static func stems(of word: [UInt32]) -> [[UInt32]] {
    guard word.count >= 3, word.allSatisfy({ (0x61...0x7A).contains($0) }) else { return [] }
    var stems: [[UInt32]] = word.count >= 4 ? [word] : []
    for ending in ["ie", "ey", "y", "i"] {
      let ending = ending.unicodeScalars.map(\.value)
      guard word.count >= ending.count + 3, word.suffix(ending.count).elementsEqual(ending) else {
        continue
      }
      var stem = Array(word.dropLast(ending.count))
      if stem.count > 3, stem[stem.count - 1] == stem[stem.count - 2] { stem.removeLast() }
      stems.append(stem)
      break
    }
    return stems
  }
}

/// Characters that foreign names are written with.
enum Transliteration {
  static let characters = Set(
    """
    阿艾安奥巴鲍贝比宾彬波伯博布查茨大戴丹黛德登迪蒂丁顿多朵恩尔法凡菲芬费弗夫福芙盖戈格葛根古瓜哈海汉杭赫亨胡\
    霍华惠惹吉加佳嘉贾简杰金津基积卡凯坎康科可克肯孔奎库坤拉莱兰劳勒雷蕾里理利莉丽连廉林琳琉刘卢鲁露罗洛马玛迈\
    麦曼茂梅门蒙米密敏明莫姆穆娜纳南内尼妮宁诺欧帕佩皮普奇琪恰强乔钦琼丘热荣茹瑞若萨塞赛桑瑟莎沙山珊尚舍圣施\
    史士丝斯思松苏索塔泰坦汤特腾提汀廷图托瓦万旺威薇韦维温文沃乌伍西希锡席夏香肖歇谢辛欣雪雅亚延扬耶叶伊依宜\
    因英尤于约泽扎詹章珍朱卓兹佐艺艾露卫朗理查逊森顺淑姬
    """.unicodeScalars.map(\.value))
}

extension ArraySlice<UInt16> {
  /// Whether another sequence is contiguous in this one.
  func hasPart(_ part: [UInt16]) -> Bool {
    guard part.count <= count else { return false }
    return (startIndex...endIndex - part.count).contains { start in
      self[start..<start + part.count].elementsEqual(part)
    }
  }
}
