/// Names of several words, each of which has to find its part.
extension Matcher {
  /// The most words of a query.
  private static let mostWords = 6

  private enum WordReason: UInt8 {
    case folded, nickname, sound, typo

    var reason: MatchReason {
      switch self {
      case .folded: .folded
      case .nickname: .nickname
      case .sound: .sound
      case .typo: .typo
      }
    }
  }

  private struct TokenMatch {
    var token: Int
    var score: Double
    var reason: WordReason
  }

  /// What the words of the query have found in an entry, by the number of the word.
  private struct Row {
    var scores = SIMD8<Double>(repeating: -1)
    var reasons = SIMD8<UInt8>()
    /// Words that have found something.
    var found = 0

    /// Keeps the better one of a word.
    mutating func put(_ match: TokenMatch, of word: Int, on turn: Int) {
      guard match.score > scores[word] else { return }
      scores[word] = match.score
      reasons[word] = match.reason.rawValue
      found = turn + 1
    }
  }

  mutating func byWords() {
    let words = folded.segments.filter(\.script.hasWords)
    guard !words.isEmpty, words.count <= Self.mostWords, words.count == folded.segments.count else {
      return
    }
    // Each word has to find its part, so the rarest goes first, and who lacks it is out.
    var parts: [(word: Int, tokens: [TokenMatch], entries: Int)] = []
    for (number, word) in words.enumerated() {
      let tokens = tokens(for: word)
      let entries = tokens.reduce(0) { $0 + index.tokens.entries.count(UInt32($1.token)) }
      if entries == 0 { return byWholeWords() }
      parts.append((number, tokens, entries))
    }
    parts.sort { ($0.entries, $0.word) < ($1.entries, $1.word) }
    var rows: [Int: Row] = [:]
    for (turn, item) in parts.enumerated() {
      for match in item.tokens { put(match, of: item.word, on: turn, &rows) }
      if work.isDone { break }
    }
    let total = Double(words.reduce(0) { $0 + $1.scalars.count })
    for (position, row) in rows where row.found == words.count {
      var score = 0.0
      var worst = 0
      for (number, word) in words.enumerated() {
        score += row.scores[number] * Double(word.scalars.count) / total
        if row.scores[number] < row.scores[worst] { worst = number }
      }
      add(position, words, score, WordReason(rawValue: row.reasons[worst])!.reason)
    }
    byWholeWords()
  }

  /// Notes a token for the entries that have it, if all words before it have found theirs.
  private mutating func put(
    _ match: TokenMatch, of word: Int, on turn: Int, _ rows: inout [Int: Row]
  ) {
    index.tokens.entries.forEach(UInt32(match.token)) { position in
      guard work.take(turn == 0 ? 20 : 8) else { return false }
      if turn == 0 {
        rows[position, default: Row()].put(match, of: word, on: turn)
      } else if let place = rows.index(forKey: position), rows.values[place].found >= turn {
        rows.values[place].put(match, of: word, on: turn)
      }
      return true
    }
  }

  private func word(_ token: Int) -> ArraySlice<UInt16> {
    let start = Int(index.tokens.start[token])
    return index.folded.characters[start..<start + Int(index.tokens.length[token])]
  }

  /// How well tokens of the index stand for a word of the query; a token may come several times.
  private mutating func tokens(for segment: Segment) -> [TokenMatch] {
    let scalars = segment.scalars
    let packed = scalars.map(PackedNames.pack)
    var matches: [TokenMatch] = []
    var exact: Int?
    for token in index.tokens.keys.numbers(Keys.hash(scalars, .word))
    where word(token).elementsEqual(packed) {
      exact = token
      matches.append(TokenMatch(token: token, score: 1, reason: .folded))
    }
    for group in Tables.nicknames[scalars] ?? [] {
      for token in index.tokens.keys.numbers(Keys.hash(group: group, .nickname)) {
        matches.append(TokenMatch(token: token, score: 0.86, reason: .nickname))
      }
    }
    let sound = Sounds.key(Romanisation.latin(segment))
    if !sound.isEmpty {
      for token in index.tokens.keys.numbers(Keys.hash(sound, .sound)) {
        guard work.takeDistance(scalars.count, scalars.count) else { break }
        let similarity = EditDistance.similarity(scalars, word(token).map { UInt32($0) })
        if similarity >= 0.4 {
          matches.append(TokenMatch(token: token, score: 0.78 + 0.12 * similarity, reason: .sound))
        }
      }
    }
    addLikeWords(to: &matches, segment, packed, besides: exact)
    return matches
  }

  /// Tokens that a word is short for by rule, or almost written like.
  private mutating func addLikeWords(
    to matches: inout [TokenMatch], _ segment: Segment, _ packed: [UInt16],
    besides exact: Int?
  ) {
    let count = packed.count
    let stems = Hypocorisms.stems(of: segment.scalars).map { stem in
      (letters: stem.map(PackedNames.pack), mask: EditDistance.mask(stem))
    }
    let limit = segment.script == .digits || count < 3 ? 0 : count < 7 ? 1 : 2
    let mask = EditDistance.mask(segment.scalars)
    guard work.take(index.tokens.mask.count / 4) else { return }
    for (token, other) in index.tokens.mask.enumerated() {
      let length = Int(index.tokens.length[token])
      for stem in stems where stem.mask & ~other == 0 && length >= stem.letters.count + 2 {
        guard work.take(3) else { return }
        guard word(token).starts(with: stem.letters) else { continue }
        matches.append(TokenMatch(token: token, score: 0.8, reason: .nickname))
      }
      guard limit > 0, (mask ^ other).nonzeroBitCount <= 2 * limit, abs(length - count) <= limit,
        token != exact
      else { continue }
      guard work.takeDistance(count, count) else { return }
      guard let distance = EditDistance.within(limit, packed[...], word(token)) else { continue }
      let share = Double(distance) / Double(max(count, length))
      matches.append(TokenMatch(token: token, score: 0.95 - 0.6 * share, reason: .typo))
    }
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
