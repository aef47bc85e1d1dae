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
    var work = Work()
    return matches(query, &work)
  }

  func matches(_ query: String, _ work: inout Work) -> [NameMatch] {
    guard work.take(200 + 8 * query.utf8.count) else { return [] }
    var matcher = Matcher(self, query, work)
    defer { work = matcher.work }
    return matcher.run()
  }
}

/// One query against one index.
struct Matcher {
  /// Entries that share a key and are looked at, the most important ones.
  static let mostSharing = 500

  let index: NameIndex
  let query: String
  let folded: Folded
  let keys: Keys
  var found: [Int: NameMatch] = [:]
  var work: Work

  fileprivate init(_ index: NameIndex, _ query: String, _ work: Work) {
    self.index = index
    self.query = query
    self.work = work
    folded = Folding.fold(query)
    keys = Keys(folded)
  }

  mutating func run() -> [NameMatch] {
    for position in positions(Keys.raw(query)) where index.phrase(at: position) == query {
      add(position, 1, .identical)
    }
    if !folded.isEmpty {
      byIdentity()
      // Nobody says a name of more characters almost right.
      let length = folded.segments.reduce(0) { $0 + $1.scalars.count }
      if length <= 80, !found.values.contains(where: \.reason.isIdentity),
        work.take(500 + 20 * length)
      {
        bySound()
        byWords()
        byParts()
        byDiminutive()
        if found.values.allSatisfy({ $0.score < 0.8 }) { byEar() }
      }
    }
    // Sorting them, and telling whom they stand for.
    _ = work.take(60 * found.count)
    return found.values.sorted { ($1.score, $0.position) < ($0.score, $1.position) }
  }

  private func positions(_ key: UInt32) -> [Int] {
    index.keys.numbers(key, most: Self.mostSharing)
  }

  mutating func add(_ position: Int, _ score: Double, _ reason: MatchReason) {
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
      for position in positions(key) { add(position, score, reason) }
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
        for position in positions(key) {
          guard work.take(150 + 20 * index.folded.length(position)) else { return }
          let isPlain = isSpelled(spellings, position)
          add(position, isPlain ? 0.9 : 0.85, isPlain ? .sound : .fuzzySound)
        }
      }
    }
    if folded.segments.count < 5 {
      for turn in 0..<folded.segments.count {
        for position in positions(Keys.romaji(folded, rotatedBy: turn)) {
          add(position, 0.9, .sound)
        }
      }
    }
    for key in keys.kin {
      for position in positions(key) { add(position, 0.87, .kin) }
    }
    if folded.segments.count == 1, folded.segments[0].script == .latin {
      let letters = Romanisation.latin(folded.segments[0])
      if letters.count >= 2 {
        for position in positions(Keys.hash(letters, .initials)) {
          add(position, 0.78, .initials)
        }
      }
    }
    for key in Spellings.keys(keys.units, .given) {
      for position in positions(key) { add(position, 0.8, .partial) }
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

  // MARK: Typos and parts

  /// Typos that also moved the borders of words.
  mutating func byWholeWords() {
    let word = folded.latin.map(PackedNames.pack)
    let limit = word.count < 5 ? 0 : word.count < 9 ? 1 : 2
    guard limit > 0, word.count == folded.joined.count else { return }
    let mask = EditDistance.mask(folded.latin)
    guard work.take(index.count / 4) else { return }
    for position in index.folded.masks.indices {
      guard (mask ^ index.folded.masks[position]).nonzeroBitCount <= 2 * limit,
        abs(index.folded.length(position) - word.count) <= limit
      else { continue }
      guard work.takeDistance(word.count, word.count) else { return }
      guard let distance = EditDistance.within(limit, word[...], index.folded.joined(position))
      else { continue }
      let length = Double(max(word.count, index.folded.length(position)))
      add(position, 0.95 - 0.6 * Double(distance) / length, .typo)
    }
  }

  /// Parts of strings without spaces.
  private mutating func byParts() {
    let part = folded.foreign.map(PackedNames.pack)
    guard part.count >= 2, part.count == folded.joined.count else { return }
    let mask = EditDistance.mask(folded.foreign)
    guard work.take(index.count / 4) else { return }
    for position in index.folded.masks.indices {
      let lacks = mask & ~index.folded.masks[position]
      let length = index.folded.length(position)
      guard lacks.nonzeroBitCount <= 1, length >= part.count - 1 else { continue }
      let mayBePart = lacks == 0 && length > part.count
      // One character too many, too few or another, of four at least.
      let mayBeTypo =
        max(length, part.count) >= 4 && length <= part.count + 1
        && index.folded.masks[position] & EditDistance.latinLetters == 0
      guard mayBePart || mayBeTypo else { continue }
      guard work.take(5 + length) else { return }
      let whole = index.folded.joined(position)
      if mayBePart, whole.hasPart(part) {
        let share = Double(part.count) / Double(length)
        add(position, 0.8 + 0.04 * share, .partial)
        continue
      }
      guard mayBeTypo, work.takeDistance(part.count, length),
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
    guard work.take(index.count / 4) else { return }
    for position in index.folded.masks.indices
    where mask & ~index.folded.masks[position] == 0 {
      let surname = index.folded.surname(position)
      guard surname > 0 else { continue }
      guard work.take(8) else { return }
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
      for position in positions(heard) {
        guard takeLetters(position, letters.count) else { return }
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
    for position in (skeleton?.values ?? []).flatMap(positions) {
      if isForeign {
        // Chinese characters for a foreign name: vowels come and go.
        guard isTransliteration,
          index.folded.masks[position] & EditDistance.latinLetters != 0
        else { continue }
      }
      guard takeLetters(position, letters.count) else { return }
      let similarity = EditDistance.similarity(letters, entryLetters(position))
      guard similarity >= least else { continue }
      add(position, isForeign ? 0.68 + 0.1 * similarity : 0.66 + 0.12 * similarity, .ear)
    }
  }

  private mutating func takeLetters(_ position: Int, _ count: Int) -> Bool {
    work.take(100 + 20 * index.folded.length(position) + min(count, 64) * min(count, 64) / 8)
  }

  private func entryLetters(_ position: Int) -> [UInt32] {
    Keys(index.folded.unpacked(position)).letters
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
      self[start] == part[0] && self[start..<start + part.count].elementsEqual(part)
    }
  }
}
