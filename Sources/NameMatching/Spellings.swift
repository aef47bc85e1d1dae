/// The ways in which a folded string may be spelled in Latin letters, as hashes of keys.
enum Spellings {
  /// Combinations of readings that are followed, the commonest first.
  private static let most = 8

  /// One piece of a string and its spellings.
  struct Unit {
    var spellings: [[UInt8]]
    var isHan = false
    /// The segment that it is of.
    var segment: Int
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
        units.append(Unit(spellings: spellings, segment: number))
      case .hangul:
        var spellings = [Romanisation.latin(segment)]
        if segment.scalars.count > 1, let first = segment.scalars.first {
          let given = Romanisation.latin(
            Segment(script: .hangul, scalars: Array(segment.scalars.dropFirst())))
          for surname in Romanisation.koreanSurnames[first] ?? [] {
            spellings.append(Array(surname.utf8) + given)
          }
        }
        units.append(Unit(spellings: spellings, segment: number))
      default: units.append(Unit(spellings: [Romanisation.latin(segment)], segment: number))
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
        for code in [pair.0, pair.1] {
          units.append(
            Unit(spellings: [Readings.letters(code)], isHan: true, segment: number))
        }
        index = 2
        continue
      }
      let isSurname = index == 0 && (2...4).contains(scalars.count)
      var codes = Readings.of(scalars[index], asSurname: isSurname)
      if codes.count > 3 { codes.removeLast(codes.count - 3) }
      units.append(
        Unit(spellings: codes.map(Readings.letters), isHan: true, segment: number))
      index += 1
    }
  }

  /// Hashes of all spellings of the units one after another.
  static func keys(
    _ units: some Collection<Unit>, kind: UInt8, _ form: ([UInt8]) -> [UInt8] = { $0 }
  ) -> [UInt32] {
    var hashes = [KeyHash(kind)]
    for unit in units {
      guard let first = unit.spellings.first else { return [] }
      let firstForm = form(first)
      var next = hashes.map { $0.appending(firstForm) }
      for spelling in unit.spellings.dropFirst() where next.count < most {
        let other = form(spelling)
        guard other != firstForm else { continue }
        for hash in hashes where next.count < most { next.append(hash.appending(other)) }
      }
      hashes = next
    }
    var unique: [UInt32] = []
    for hash in hashes where !unique.contains(hash.value) { unique.append(hash.value) }
    return unique
  }

  /// The hash of the first letters of Han characters (and whole words of all else); nil where that
  /// says too little.
  static func initials(_ units: [Unit], kind: UInt8) -> [UInt32] {
    guard units.count >= 2, units.count(where: \.isHan) >= 2 else { return [] }
    let short = units.map { unit in
      Unit(
        spellings: unit.isHan ? unit.spellings.map { [$0[0]] } : unit.spellings,
        isHan: unit.isHan, segment: unit.segment)
    }
    return keys(short, kind: kind)
  }
}
