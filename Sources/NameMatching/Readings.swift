/// Pinyin of Chinese characters: every reading in use, the commonest first.
enum Readings {
  /// A reading: the syllable's number and its tone (1 to 5), as `number << 3 | tone`.
  typealias Code = UInt16

  private static let first: UInt32 = 0x3400
  private static let last: UInt32 = 0x9FFF
  private static let most = 4

  private struct Table {
    /// Four readings a character, 0 for none.
    var codes: [Code]
    var syllables: [[UInt8]] = [[]]
    var numbers: [[UInt8]: UInt16] = [:]
    /// Readings that a character has as a surname.
    var surnames: [UInt32: [Code]] = [:]

    mutating func code(of text: some Sequence<UInt8>) -> Code? {
      var bytes = Array(text)
      guard let tone = bytes.popLast(), (0x31...0x35).contains(tone), !bytes.isEmpty else {
        return nil
      }
      let number: UInt16
      if let known = numbers[bytes] {
        number = known
      } else {
        number = UInt16(syllables.count)
        syllables.append(bytes)
        numbers[bytes] = number
      }
      return number << 3 | UInt16(tone - 0x30)
    }
  }

  private static let table: Table = {
    var table = Table(codes: [Code](repeating: 0, count: Int(last - first + 1) * most))
    for (key, characters) in Tables.rows("generated-readings.txt") {
      guard let rank = key.utf8.first.map({ Int($0) - 0x30 }),
        let code = table.code(of: key.utf8.dropFirst())
      else { continue }
      for scalar in characters.unicodeScalars where (first...last).contains(scalar.value) {
        table.codes[Int(scalar.value - first) * most + rank] = code
      }
    }
    for (key, characters) in Tables.rows("surnames.txt") {
      guard let code = table.code(of: key.utf8) else { continue }
      for scalar in characters.unicodeScalars where characters.unicodeScalars.count == 1 {
        table.surnames[scalar.value, default: []].append(code)
      }
    }
    return table
  }()

  /// The code of a syllable with its tone, as in `zhong1`; nil for a syllable that no character has.
  static func code(of text: some Sequence<UInt8>) -> Code? {
    var copy = table
    return copy.code(of: text)
  }

  /// All syllables, by number; the first is none.
  static var allSyllables: [[UInt8]] { table.syllables }

  /// The letters of a reading's syllable.
  static func letters(_ code: Code) -> [UInt8] { table.syllables[Int(code >> 3)] }

  /// The syllable's number alone: equal for homophones of any tone.
  static func syllable(_ code: Code) -> UInt16 { code >> 3 }

  /// The distinct syllables of a character, the commonest first; as a surname, those of the surname
  /// come first.
  static func of(_ character: UInt32, asSurname: Bool = false) -> [Code] {
    guard (first...last).contains(character) else { return [] }
    var codes = asSurname ? table.surnames[character] ?? [] : []
    let start = Int(character - first) * most
    for code in table.codes[start..<start + most] where code != 0 {
      if !codes.contains(where: { $0 >> 3 == code >> 3 }) { codes.append(code) }
    }
    return codes
  }

  /// Whether letters are one syllable of pinyin.
  static func isSyllable(_ letters: some Collection<UInt8>) -> Bool {
    table.numbers[Array(letters)] != nil
  }
}
