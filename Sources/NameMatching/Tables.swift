/// The tables of `Tables/`, parsed on first use; they are compiled in, so that a binary needs no
/// file beside it.
enum Tables {
  /// What a character folds to, for those that fold to something else: case, width, style,
  /// diacritics; empty for marks.
  static let folding: FoldingTable = {
    var table = FoldingTable()
    for (key, value) in rows("generated-folding.txt") {
      let folded = key.unicodeScalars.map(\.value)
      for scalar in value.unicodeScalars { table.add(scalar.value, folded) }
    }
    return table
  }()

  /// The simplified form of a traditional character or variant; all others are their own.
  static func simplified(_ scalar: UInt32) -> UInt32 {
    let simplified = simplifiedForms[scalar]
    return simplified == 0 ? scalar : simplified
  }

  private static let simplifiedForms: ScalarTable = {
    var table = ScalarTable()
    for (key, value) in rows("generated-simplified.txt") {
      guard let target = key.unicodeScalars.first?.value else { continue }
      for scalar in value.unicodeScalars { table[scalar.value] = target }
    }
    return table
  }()

  /// Chinese transliterations of foreign names, in pinyin, by folded name.
  static let transliterations: [[UInt8]: [[UInt8]]] = {
    var table: [[UInt8]: [[UInt8]]] = [:]
    for (key, value) in rows("transliterations.txt") {
      table[Array(key.utf8)] = value.split(separator: " ").map { name in
        name.unicodeScalars.flatMap { Readings.of($0.value).first.map(Readings.letters) ?? [] }
      }
    }
    return table
  }()

  /// How single letters are called in Chinese: pinyin, by letter.
  static let letters: [UInt8: [[UInt8]]] = {
    var table: [UInt8: [[UInt8]]] = [:]
    for (key, value) in rows("letters.txt") {
      guard let letter = key.utf8.first else { continue }
      table[letter] = value.split(separator: " ").map { Array($0.utf8) }
    }
    return table
  }()

  /// Chinese surnames of one character.
  static let surnames = Set(
    lines("common-surnames.txt").flatMap { $0.unicodeScalars.map(\.value) })

  /// Chinese surnames of two characters, with the reading of each.
  static let compoundSurnames: [UInt64: (UInt16, UInt16)] = {
    var table: [UInt64: (UInt16, UInt16)] = [:]
    for (key, value) in rows("compound-surnames.txt") {
      let name = key.unicodeScalars.map(\.value)
      let readings = value.split(separator: " ").compactMap { Readings.code(of: $0.utf8) }
      guard name.count == 2, readings.count == 2 else { continue }
      table[pair(name[0], name[1])] = (readings[0], readings[1])
    }
    return table
  }()

  static func pair(_ first: UInt32, _ second: UInt32) -> UInt64 {
    UInt64(first) << 32 | UInt64(second)
  }

  /// Groups of names that stand for each other, by folded word (words of a group are joined).
  static let nicknames: [[UInt32]: [Int32]] = {
    var groups: [[UInt32]: [Int32]] = [:]
    var number: Int32 = 0
    func add(_ name: [UInt32], _ shorts: [[UInt32]]) {
      number += 1
      for word in [name] + shorts where groups[word]?.contains(number) != true {
        groups[word, default: []].append(number)
      }
    }
    for file in ["generated-nicknames.txt", "diminutives.txt"] {
      for (key, value) in rows(file) {
        let shorts = value.split(separator: " ").map { Folding.fold(String($0)).joined }
        add(Folding.fold(key).joined, shorts)
      }
    }
    return groups
  }()

  /// Groups of kin terms and titles that mean the same person, by folded term.
  static let kin: [[UInt32]: [Int32]] = {
    var groups: [[UInt32]: [Int32]] = [:]
    for (number, line) in lines("kin.txt").enumerated() {
      for term in line.split(separator: " ") {
        let key = Folding.fold(String(term.replacing("+", with: " "))).joined
        groups[key, default: []].append(Int32(number))
      }
    }
    return groups
  }()

  /// Hashes of the terms of `kin`: almost no name has one.
  static let kinFolds = Set(kin.keys.map { Keys.hash($0, .fold) })

  /// Lines of `key <tab> value`.
  static func rows(_ name: String) -> [(String, Substring)] {
    lines(name).compactMap { line in
      guard let tab = line.firstIndex(of: "\t") else { return nil }
      return (String(line[..<tab]), line[line.index(after: tab)...])
    }
  }

  /// Lines that are neither empty nor comments.
  static func lines(_ name: String) -> [Substring] {
    guard let file = embeddedText.first(where: { $0.name == name }) else {
      preconditionFailure("Tables/\(name) was not compiled in")
    }
    return file.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
  }
}
