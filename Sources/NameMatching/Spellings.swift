/// The ways in which a folded string may be spelled in Latin letters, as hashes of keys.
enum Spellings {
  /// One piece of a string and its spellings: readings of a Han character, or words.
  struct Unit {
    private var readings: SIMD4<Readings.Code> = .zero
    private var words: [[UInt8]] = []
    let isHan: Bool
    /// The number of spellings, the commonest first.
    let count: Int
    /// The segment that it is of.
    let segment: Int

    init(readings codes: [Readings.Code], segment: Int) {
      for (index, code) in codes.prefix(3).enumerated() { readings[index] = code }
      isHan = true
      count = min(codes.count, 3)
      self.segment = segment
    }

    init(words: [[UInt8]], segment: Int) {
      self.words = words
      isHan = false
      count = words.count
      self.segment = segment
    }

    /// Of the commonest spelling.
    var skeletonLength: Int { count > 0 ? form(.skeleton, 0).count : 0 }

    func form(_ form: Form, _ index: Int) -> [UInt8] {
      isHan ? form.of(readings[index]) : form.of(words[index])
    }

    /// The commonest spelling.
    var letters: [UInt8] { count > 0 ? form(.plain, 0) : [] }
  }

  /// Units of a string: a Han character each, a word each of all else.
  static func units(_ folded: Folded) -> [Unit] {
    var units: [Unit] = []
    for (number, segment) in folded.segments.enumerated() {
      switch segment.script {
      case .han: han(segment.scalars, number, &units)
      case .latin:
        var spellings = [Romanisation.latin(segment)]
        if let letter = spellings[0].first, spellings[0].count == 1 {
          spellings += Tables.letters[letter] ?? []
        }
        for name in Tables.transliterations[spellings[0]] ?? [] {
          spellings.append(name.flatMap { Readings.of($0).first.map(Readings.letters) ?? [] })
        }
        units.append(Unit(words: spellings, segment: number))
      case .hangul:
        var spellings = [Romanisation.latin(segment)]
        if segment.scalars.count > 1, let first = segment.scalars.first {
          let given = Romanisation.latin(
            Segment(script: .hangul, scalars: Array(segment.scalars.dropFirst())))
          for surname in Romanisation.koreanSurnames[first] ?? [] {
            spellings.append(Array(surname.utf8) + given)
          }
        }
        units.append(Unit(words: spellings, segment: number))
      default: units.append(Unit(words: [Romanisation.latin(segment)], segment: number))
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
        units.append(Unit(readings: [pair.0], segment: number))
        units.append(Unit(readings: [pair.1], segment: number))
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

    func of(_ spelling: [UInt8]) -> [UInt8] {
      switch self {
      case .plain: spelling
      case .fuzzy: Sounds.fuzzy(spelling)
      case .skeleton: Sounds.skeleton(spelling)
      case .initial: Array(spelling.prefix(1))
      }
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

    private static let fuzzySyllables = Readings.allSyllables.map(Sounds.fuzzy)
    private static let skeletonSyllables = Readings.allSyllables.map(Sounds.skeleton)
    private static let initials = Readings.allSyllables.map { Array($0.prefix(1)) }
  }

  /// Hashes of all spellings of the units one after another.
  static func keys(
    _ units: some Collection<Unit>, _ kind: KeyKind, _ form: Form = .plain
  ) -> [UInt32] {
    var hash = KeyHash(kind)
    for unit in units {
      if unit.count == 1 {
        hash.append(unit.form(form, 0))
      } else {
        guard unit.count > 0 else { return [] }
        hash.append(anyOf: (0..<unit.count).map { unit.form(form, $0) })
      }
    }
    return hash.values
  }

  /// Hashes of the first letters of Han characters (and whole words of all else); none where that
  /// says too little.
  static func initials(_ units: [Unit]) -> [UInt32] {
    guard units.count >= 2, units.count(where: \.isHan) >= 2 else { return [] }
    var hash = KeyHash(.initials)
    for unit in units {
      guard unit.count > 0 else { return [] }
      hash.append(anyOf: (0..<unit.count).map { unit.form(unit.isHan ? .initial : .plain, $0) })
    }
    return hash.values
  }
}
