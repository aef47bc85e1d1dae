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

  /// Readings of one character, eight at most.
  struct Several {
    private var codes = SIMD8<Code>()
    private(set) var count = 0

    init() {}

    init(_ code: Code) { append(code) }

    var first: Code? { count > 0 ? codes[0] : nil }

    subscript(index: Int) -> Code { codes[index] }

    fileprivate mutating func append(_ code: Code) {
      guard count < 8 else { return }
      codes[count] = code
      count += 1
    }

    fileprivate func hasSyllable(of code: Code) -> Bool {
      (0..<count).contains { codes[$0] >> 3 == code >> 3 }
    }
  }

  /// The distinct syllables of a character, the commonest first; as a surname, those of the surname
  /// come first.
  static func of(_ character: UInt32, asSurname: Bool = false) -> Several {
    var several = Several()
    guard (first...last).contains(character) else { return several }
    if asSurname, let codes = table.surnames[character] {
      for code in codes { several.append(code) }
    }
    let start = Int(character - first) * most
    for place in start..<start + most where table.codes[place] != 0 {
      if !several.hasSyllable(of: table.codes[place]) { several.append(table.codes[place]) }
    }
    return several
  }

  // MARK: Syllables in letters

  /// A tree of all syllables by their letters a to z: 26 children a node, 0 for none.
  private static let tree: (children: [UInt16], ends: [Bool]) = {
    var children = [UInt16](repeating: 0, count: 26)
    var ends = [false]
    for syllable in table.syllables where !syllable.isEmpty {
      var node = 0
      for letter in syllable {
        let place = node * 26 + Int(letter) - 0x61
        if children[place] == 0 {
          children[place] = UInt16(ends.count)
          ends.append(false)
          children += repeatElement(0, count: 26)
        }
        node = Int(children[place])
      }
      ends[node] = true
    }
    return (children, ends)
  }()

  /// Calls `body` with the length of each syllable that letters begin with, ascending.
  static func syllableLengths(at start: Int, of letters: [UInt8], _ body: (Int) -> Void) {
    var node = 0
    for place in start..<letters.count {
      guard (0x61...0x7A).contains(letters[place]) else { return }
      node = Int(tree.children[node * 26 + Int(letters[place]) - 0x61])
      if node == 0 { return }
      if tree.ends[node] { body(place - start + 1) }
    }
  }
}
