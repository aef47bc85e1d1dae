/// The ways in which a folded string may be spelled in Latin letters, as hashes of keys.
enum Spellings {
  /// One piece of a string and its spellings: readings of a Han character, or words.
  struct Unit {
    private let readings: Readings.Several
    private let word: [UInt8]
    private let otherWords: [[UInt8]]
    let isHan: Bool
    /// The number of spellings, the commonest first.
    let count: Int
    /// The segment that it is of.
    let segment: Int

    init(readings: Readings.Several, segment: Int) {
      self.readings = readings
      word = []
      otherWords = []
      isHan = true
      count = min(readings.count, 3)
      self.segment = segment
    }

    init(_ word: [UInt8], or otherWords: [[UInt8]] = [], segment: Int) {
      readings = Readings.Several()
      self.word = word
      self.otherWords = otherWords
      isHan = false
      count = 1 + otherWords.count
      self.segment = segment
    }

    /// A spelling in a form; `scratch` saves an allocation.
    func form(_ form: Form, _ index: Int, _ scratch: inout [UInt8]) -> [UInt8] {
      if isHan { return form.of(readings[index]) }
      return form.of(index == 0 ? word : otherWords[index - 1], &scratch)
    }

    /// The commonest spelling.
    var letters: [UInt8] { isHan ? readings.first.map(Readings.letters) ?? [] : word }
  }

  /// Units of a string: a Han character each, a word each of all else.
  static func units(_ folded: Folded) -> [Unit] {
    var units: [Unit] = []
    for (number, segment) in folded.segments.enumerated() {
      switch segment.script {
      case .han: han(segment.scalars, number, &units)
      case .latin:
        let word = Romanisation.latin(segment)
        var others = Tables.transliterations[word] ?? []
        if word.count == 1, let names = Tables.letters[word[0]] { others = names + others }
        units.append(Unit(word, or: others, segment: number))
      case .hangul:
        var others: [[UInt8]] = []
        if segment.scalars.count > 1, let first = segment.scalars.first,
          let surnames = Romanisation.koreanSurnames[first]
        {
          let given = Romanisation.latin(
            Segment(script: .hangul, scalars: Array(segment.scalars.dropFirst())))
          others = surnames.map { Array($0.utf8) + given }
        }
        units.append(Unit(Romanisation.latin(segment), or: others, segment: number))
      default: units.append(Unit(Romanisation.latin(segment), segment: number))
      }
    }
    return units
  }

  private static func han(_ scalars: [UInt32], _ number: Int, _ units: inout [Unit]) {
    var index = 0
    while index < scalars.count {
      if index == 0, scalars.count > 2,
        let pair = Tables.compoundSurnames[Tables.pair(scalars[0], scalars[1])]
      {
        units.append(Unit(readings: Readings.Several(pair.0), segment: number))
        units.append(Unit(readings: Readings.Several(pair.1), segment: number))
        index = 2
        continue
      }
      let isSurname = index == 0 && (2...4).contains(scalars.count)
      let codes = Readings.of(scalars[index], asSurname: isSurname)
      units.append(Unit(readings: codes, segment: number))
      index += 1
    }
  }

  /// How a key takes a spelling.
  enum Form {
    case plain, fuzzy, skeleton, initial

    func of(_ spelling: [UInt8], _ scratch: inout [UInt8]) -> [UInt8] {
      switch self {
      case .plain: return spelling
      case .initial: return Array(spelling.prefix(1))
      case .fuzzy: Sounds.fuzzy(spelling, into: &scratch)
      case .skeleton: Sounds.skeleton(spelling, into: &scratch)
      }
      return scratch
    }

    /// The same for the syllable of a reading, from a table.
    func of(_ reading: Readings.Code) -> [UInt8] {
      let syllable = Int(Readings.syllable(reading))
      switch self {
      case .plain: return Readings.letters(reading)
      case .fuzzy: return Form.fuzzySyllables[syllable]
      case .skeleton: return Form.skeletonSyllables[syllable]
      case .initial: return Form.initials[syllable]
      }
    }

    private static let fuzzySyllables = Readings.allSyllables.map { syllable in
      var fuzzy: [UInt8] = []
      Sounds.fuzzy(syllable, into: &fuzzy)
      return fuzzy
    }
    private static let skeletonSyllables = Readings.allSyllables.map { syllable in
      var skeleton: [UInt8] = []
      Sounds.skeleton(syllable, into: &skeleton)
      return skeleton
    }
    private static let initials = Readings.allSyllables.map { Array($0.prefix(1)) }
  }

  /// A hash of units one after another in all of their spellings, and the length of the first; no
  /// hash where a unit has no spelling.
  ///
  /// - Parameter turn: the unit to begin with; those before it come last.
  static func hash(
    _ units: some RandomAccessCollection<Unit>, _ kind: KeyKind, _ form: Form = .plain,
    turnedBy turn: Int = 0
  ) -> (hash: KeyHash?, length: Int) {
    append(units, to: KeyHash(kind), turnedBy: turn) { _ in form }
  }

  /// The distinct hashes of units in all of their spellings.
  static func keys(
    _ units: [Unit], _ kind: KeyKind, _ form: Form = .plain, turnedBy turn: Int = 0
  ) -> [UInt32] {
    hash(units, kind, form, turnedBy: turn).hash?.values ?? []
  }

  /// A hash of the first letters of Han characters (and whole words of all else); none where that
  /// says too little.
  static func initials(_ units: [Unit]) -> KeyHash? {
    guard units.count >= 2, units.count(where: \.isHan) >= 2 else { return nil }
    return append(units, to: KeyHash(.initials)) { $0.isHan ? .initial : .plain }.hash
  }

  private static func append(
    _ units: some RandomAccessCollection<Unit>, to start: KeyHash, turnedBy turn: Int = 0,
    _ form: (Unit) -> Form
  ) -> (hash: KeyHash?, length: Int) {
    var hash = start
    var length = 0
    var isSpelled = true
    var scratch: [UInt8] = []
    for place in 0..<units.count {
      let turned = place + turn < units.count ? place + turn : place + turn - units.count
      let unit = units[units.index(units.startIndex, offsetBy: turned)]
      guard unit.count > 0 else {
        isSpelled = false
        continue
      }
      let form = form(unit)
      let first = unit.form(form, 0, &scratch)
      length += first.count
      if unit.count == 1 {
        hash.append(first)
      } else {
        let readings = hash.append(firstOf: first)
        for other in 1..<unit.count {
          readings.add(unit.form(form, other, &scratch), to: &hash)
        }
      }
    }
    return (isSpelled ? hash : nil, length)
  }
}
