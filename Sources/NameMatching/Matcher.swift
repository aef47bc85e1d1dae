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
  var found: [Int32: NameMatch] = [:]

  init(_ index: NameIndex, _ query: String) {
    self.index = index
    self.query = query
    folded = Folding.fold(query)
    keys = Keys(folded)
  }

  mutating func run() -> [NameMatch] {
    for position in index.raw[query] ?? [] { add(position, 1, .identical) }
    if !folded.isEmpty {
      byIdentity()
      if !found.values.contains(where: \.reason.isIdentity) {
        bySound()
        byWords()
        byParts()
        byDiminutive()
        if found.values.allSatisfy({ $0.score < 0.8 }) { byEar() }
      }
    }
    return found.values.sorted { ($1.score, $0.position) < ($0.score, $1.position) }
  }

  private mutating func add(_ position: Int32, _ score: Double, _ reason: MatchReason) {
    if let known = found[position], known.score >= score { return }
    found[position] = NameMatch(position: Int(position), score: score, reason: reason)
  }

  private func positions(_ key: UInt32?) -> [Int32] {
    guard let key else { return [] }
    return index.keys[key] ?? []
  }

  // MARK: Whole strings

  private mutating func byIdentity() {
    let joined = folded.joined
    var folds = [keys.fold]
    if let umlauts = Umlauts.spelledOut(query) {
      folds.append(Keys.hash(Folding.fold(umlauts).joined, .fold))
    }
    for fold in folds { for position in positions(fold) { add(position, 0.99, .folded) } }
    for position in positions(keys.number ?? Keys.hash(joined, .number)) {
      add(position, 0.985, .number)
    }
    for position in positions(keys.sorted) { add(position, 0.98, .reordered) }
    for position in positions(Keys.hash(joined, .hint)) { add(position, 0.975, .hint) }
    for position in positions(Keys.hash(joined, .core)) { add(position, 0.95, .core) }
  }

  private mutating func bySound() {
    for key in keys.spelling { for position in positions(key) { add(position, 0.9, .sound) } }
    // Names of two words, spelled the other way round.
    if folded.segments.count > 1, folded.segments.allSatisfy({ $0.script == .latin }) {
      for turn in 1..<min(folded.segments.count, 4) {
        let units = Array(keys.units[turn...] + keys.units[..<turn])
        for key in Spellings.keys(units, kind: KeyKind.spelling.rawValue) {
          for position in positions(key) { add(position, 0.9, .sound) }
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
    for key in keys.fuzzy { for position in positions(key) { add(position, 0.85, .fuzzySound) } }
    for key in keys.kin { for position in positions(key) { add(position, 0.87, .kin) } }
    if folded.segments.count == 1, folded.segments[0].script == .latin {
      let letters = Romanisation.latin(folded.segments[0])
      if letters.count >= 2 {
        let key = KeyHash(KeyKind.initials.rawValue).appending(letters).value
        for position in positions(key) { add(position, 0.78, .initials) }
      }
    }
    for key in Spellings.keys(keys.units, kind: KeyKind.given.rawValue) {
      for position in positions(key) { add(position, 0.8, .partial) }
    }
  }

  // MARK: Words

  /// How well each token of the index stands for a word of the query.
  private func tokens(for word: [UInt32]) -> [Int32: (Double, MatchReason)] {
    var best: [Int32: (Double, MatchReason)] = [:]
    func put(_ number: Int32, _ score: Double, _ reason: MatchReason) {
      if let known = best[number], known.0 >= score { return }
      best[number] = (score, reason)
    }
    if let number = index.tokenNumbers[word] { put(number, 1, .folded) }
    for group in Tables.nicknames[word] ?? [] {
      for number in index.tokensByNickname[group] ?? [] { put(number, 0.86, .nickname) }
    }
    let sound = Sounds.key(
      Romanisation.latin(Segment(script: Folding.script(of: word[0]), scalars: word)))
    if !sound.isEmpty {
      for number in index.tokensBySound[sound] ?? [] {
        let similarity = EditDistance.similarity(word, index.tokens[Int(number)].text)
        if similarity >= 0.4 { put(number, 0.78 + 0.12 * similarity, .sound) }
      }
    }
    for stem in Hypocorisms.stems(of: word) {
      for (number, token) in index.tokens.enumerated()
      where token.text.count >= stem.count + 2 && token.text.starts(with: stem) {
        put(Int32(number), 0.8, .nickname)
      }
    }
    let isNumber = word.allSatisfy { (0x30...0x39).contains($0) }
    let limit = word.count < 3 || isNumber ? 0 : word.count < 7 ? 1 : 2
    let mask = EditDistance.mask(word)
    for (number, token) in index.tokens.enumerated() {
      guard abs(token.text.count - word.count) <= limit, limit > 0,
        (mask ^ token.mask).nonzeroBitCount <= 2 * limit,
        let distance = EditDistance.within(limit, word, token.text)
      else { continue }
      let length = Double(max(word.count, token.text.count))
      put(Int32(number), 0.95 - 0.6 * Double(distance) / length, .typo)
    }
    return best
  }

  private mutating func byWords() {
    let words = folded.segments.filter(\.script.hasWords)
    guard !words.isEmpty, words.count <= 6, words.count == folded.segments.count else { return }
    var scores: [Int32: [(Double, MatchReason)?]] = [:]
    for (number, word) in words.enumerated() {
      for (token, match) in tokens(for: word.scalars) {
        for position in index.tokens[Int(token)].entries {
          // Each word has to find its part, so that who lacks the first is out.
          if number > 0, scores[position] == nil { continue }
          var row = scores[position] ?? [(Double, MatchReason)?](repeating: nil, count: words.count)
          if let known = row[number], known.0 >= match.0 { continue }
          row[number] = match
          scores[position] = row
        }
      }
    }
    let total = Double(words.reduce(0) { $0 + $1.scalars.count })
    for (position, row) in scores {
      let matches = row.compactMap(\.self)
      guard matches.count == words.count else { continue }
      var score = 0.0
      for (word, match) in zip(words, matches) {
        score += match.0 * Double(word.scalars.count) / total
      }
      let worst = matches.min { $0.0 < $1.0 }!
      let entry = index.entries[Int(position)]
      let covered = words.count >= entry.folded.segments.count
      if covered {
        add(position, 0.95 * score, worst.1)
      } else if words.count == 1, worst.1 == .typo || worst.1 == .sound {
        // A part that is not even written right says little.
        let share = Double(words[0].scalars.count) / Double(max(1, entry.latin.count))
        if words[0].scalars.count >= 5, share >= 0.4 { add(position, 0.76 * score, worst.1) }
      } else {
        add(position, 0.86 * score, worst.1 == .folded ? .partial : worst.1)
      }
    }
    byWholeWords()
  }

  /// Typos that also moved the borders of words.
  private mutating func byWholeWords() {
    let word = folded.latin
    let limit = word.count < 5 ? 0 : word.count < 9 ? 1 : 2
    guard limit > 0, word.count == folded.joined.count else { return }
    let mask = EditDistance.mask(word)
    for (position, entry) in index.entries.enumerated() {
      guard entry.foreign.isEmpty, abs(entry.latin.count - word.count) <= limit,
        (mask ^ entry.latinMask).nonzeroBitCount <= 2 * limit,
        let distance = EditDistance.within(limit, word, entry.latin)
      else { continue }
      let length = Double(max(word.count, entry.latin.count))
      add(Int32(position), 0.95 - 0.6 * Double(distance) / length, .typo)
    }
  }

  // MARK: Parts of strings without spaces

  private mutating func byParts() {
    let part = folded.foreign
    guard part.count >= 2, part.count == folded.joined.count else { return }
    let mask = EditDistance.mask(part)
    for (position, entry) in index.entries.enumerated() {
      let whole = entry.foreign
      guard whole.count >= part.count - 1, (mask & ~entry.foreignMask).nonzeroBitCount <= 1 else {
        continue
      }
      if whole.count > part.count, mask & ~entry.foreignMask == 0, whole.hasPart(part) {
        let share = Double(part.count) / Double(whole.count)
        add(Int32(position), 0.8 + 0.04 * share, .partial)
        continue
      }
      // One character too many, too few or another, of four at least.
      guard max(whole.count, part.count) >= 4, entry.latin.isEmpty,
        let distance = EditDistance.within(1, part, whole), distance == 1
      else { continue }
      add(Int32(position), 0.7 + 0.02 * Double(part.count), .typo)
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
    let character = scalars[1]
    let takesSurname = isPrefixed && scalars[0] != Unicode.Scalar("阿").value
    for (position, entry) in index.entries.enumerated() where entry.surname > 0 {
      let name = entry.folded.segments[0].scalars
      if name.last == character {
        add(Int32(position), 0.76, .nickname)
      } else if name[entry.surname...].contains(character) {
        add(Int32(position), 0.72, .nickname)
      } else if takesSurname, entry.surname == 1, name[0] == character {
        add(Int32(position), 0.74, .nickname)
      }
    }
  }

  // MARK: By ear

  private mutating func byEar() {
    let (keys, length) = self.keys.skeleton
    for position in positions(self.keys.heard) {
      let similarity = EditDistance.similarity(
        self.keys.letters, index.entries[Int(position)].letters)
      // Three syllables that agree are a chance of one in hundreds; two need letters in common.
      if similarity >= (folded.segments.count > 2 ? 0.1 : 0.2) {
        add(position, 0.64 + 0.14 * similarity, .ear)
      }
    }
    let letters = self.keys.letters
    let isForeign = folded.segments.allSatisfy { $0.script == .han }
    for key in keys {
      for position in positions(key) {
        let entry = index.entries[Int(position)]
        let similarity = EditDistance.similarity(letters, entry.letters)
        if isForeign {
          // Chinese characters for a foreign name: vowels come and go.
          guard !entry.latin.isEmpty, folded.joined.allSatisfy(Transliteration.characters.contains),
            similarity >= (folded.chineseSurname > 0 ? 0.4 : 0)
          else { continue }
          add(position, 0.68 + 0.1 * similarity, .ear)
        } else {
          guard similarity >= (length > 2 ? 0.4 : 0.5) else { continue }
          add(position, 0.66 + 0.12 * similarity, .ear)
        }
      }
    }
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

extension [UInt32] {
  /// Whether another sequence is contiguous in this one.
  func hasPart(_ part: [UInt32]) -> Bool {
    guard part.count <= count else { return false }
    return (0...count - part.count).contains { start in
      self[start..<start + part.count].elementsEqual(part)
    }
  }
}
