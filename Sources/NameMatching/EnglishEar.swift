/// What an English recogniser writes when it hears pinyin: a word for about each syllable, as
/// "jow fung hahn" for Zhao Fenghan. Both sides become the same list of syllables: a class of what
/// they begin with, and whether they end in n or ng.
enum EnglishEar {
  private typealias Code = UInt8
  private static let nasal: UInt8 = 0x80

  /// Syllables of pinyin; nil for what is none.
  static func pinyin(_ syllable: ArraySlice<UInt8>) -> UInt8 {
    let first = syllable[syllable.startIndex]
    let next = syllable.dropFirst().first ?? 0
    let onset: Unicode.Scalar
    switch Unicode.Scalar(first) {
    case "b", "p": onset = "P"
    case "d", "t": onset = "T"
    case "g", "k": onset = "K"
    case "j", "q": onset = "J"
    case "z", "c", "s":
      onset = next == UInt8(ascii: "h") && first != UInt8(ascii: "s") ? "J" : "S"
    case "x": onset = "S"
    case "r", "l": onset = "L"
    case "h": onset = "H"
    case "f": onset = "F"
    case "m": onset = "M"
    case "n": onset = "N"
    case "w": onset = "W"
    default: onset = "-"
    }
    let isNasal =
      syllable.count > 1
      && (syllable.last == UInt8(ascii: "n") || syllable.last == UInt8(ascii: "g"))
    return UInt8(ascii: onset) | (isNasal ? nasal : 0)
  }

  /// Splits Latin letters into syllables of pinyin, the longest first; false where that fails.
  static func forEachSyllable(
    of word: [UInt8], _ body: (ArraySlice<UInt8>) -> Void
  ) -> Bool {
    guard (1...24).contains(word.count) else { return false }
    // From the end, so that no place is looked at twice: the length of the syllable to begin with.
    var lengths = SIMD32<UInt8>()
    for start in stride(from: word.count - 1, through: 0, by: -1) {
      Readings.syllableLengths(at: start, of: word) { length in
        if start + length == word.count || lengths[start + length] > 0 {
          lengths[start] = UInt8(length)
        }
      }
    }
    guard lengths[0] > 0 else { return false }
    var start = 0
    while start < word.count {
      body(word[start..<start + Int(lengths[start])])
      start += Int(lengths[start])
    }
    return true
  }

  /// The syllables of English words as they would be spoken, roughly.
  static func english(_ words: [[UInt8]]) -> [UInt8] {
    var out: [UInt8] = []
    for word in words { spell(word, &out) }
    return out
  }

  private static func isVowel(_ byte: UInt8) -> Bool { "aeiouy".utf8.contains(byte) }

  private static func spell(_ word: [UInt8], _ out: inout [UInt8]) {
    var index = 0
    // "n" alone is the end of the syllable before it.
    if !word.contains(where: isVowel) {
      if word.first == UInt8(ascii: "n") || word.first == UInt8(ascii: "m"),
        let last = out.popLast()
      {
        out.append(last | nasal)
      }
      return
    }
    while index < word.count {
      let start = index
      while index < word.count,
        !isVowel(word[index]) || (index == start && word[index] == UInt8(ascii: "y"))
      {
        index += 1
      }
      // Consonants at the end belong to the syllable before them, and so does a silent e.
      let rest = word[index...]
      if rest.isEmpty || (rest.elementsEqual([UInt8(ascii: "e")]) && start > 0) {
        close(word[start..<index], &out)
        return
      }
      var onset = word[start..<index]
      if start > 0, onset.count > 1, let first = onset.first,
        first == UInt8(ascii: "n") || first == UInt8(ascii: "m")
      {
        close(onset.prefix(1), &out)
        onset = onset.dropFirst()
        if onset.first == UInt8(ascii: "g"), onset.count > 1 { onset = onset.dropFirst() }
      }
      out.append(begin(onset))
      while index < word.count, isVowel(word[index]) { index += 1 }
      if index < word.count, word[index] == UInt8(ascii: "w") || word[index] == UInt8(ascii: "h"),
        index + 1 == word.count || !isVowel(word[index + 1])
      {
        index += 1
      }
    }
  }

  private static func close(_ coda: ArraySlice<UInt8>, _ out: inout [UInt8]) {
    guard coda.contains(UInt8(ascii: "n")) || coda.contains(UInt8(ascii: "m")),
      let last = out.popLast()
    else { return }
    out.append(last | nasal)
  }

  private static func begin(_ onset: ArraySlice<UInt8>) -> UInt8 {
    guard let first = onset.first else { return UInt8(ascii: "-") }
    let next = onset.dropFirst().first ?? 0
    let code: Unicode.Scalar
    switch Unicode.Scalar(first) {
    case "b", "p": code = next == UInt8(ascii: "h") ? "F" : "P"
    case "d": code = next == UInt8(ascii: "j") ? "J" : "T"
    case "t": code = next == UInt8(ascii: "s") ? "S" : "T"
    case "g", "k": code = "K"
    case "c": code = next == UInt8(ascii: "h") ? "J" : "K"
    case "q": code = "K"
    case "j": code = "J"
    case "z", "s", "x": code = "S"
    case "l", "r": code = "L"
    case "w": code = next == UInt8(ascii: "r") ? "L" : next == UInt8(ascii: "h") ? "W" : "W"
    case "h": code = "H"
    case "f": code = "F"
    case "v": code = "W"
    case "m": code = "M"
    case "n": code = "N"
    default: code = "-"
    }
    return UInt8(ascii: code)
  }
}
