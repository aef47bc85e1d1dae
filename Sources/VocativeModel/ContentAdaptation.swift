/// Special words in spoken content, and what stands for each in a message: "生气" becomes 😠, as in
/// QQ's adaptation of SiriKit.
public struct ContentAdaptation: Sendable {
  /// A word that was adapted.
  public struct Change: Hashable, Sendable {
    public var word: String
    public var replacement: String
  }

  private struct Word: Sendable {
    var scalars: [Unicode.Scalar]
    var text: String
    var replacement: String
  }

  /// By the first character, the longest first.
  private var words: [Unicode.Scalar: [Word]] = [:]

  /// Words, and bytes of each and of what stands for it.
  public static let maximumWords = 10_000
  public static let maximumBytes = 256

  /// - Parameter table: what stands for each word; a word that stands for itself is left alone, so
  ///   that a longer one can protect a shorter one in it.
  /// - Throws: `InvalidValue` for what is over a limit or empty; its pointer names no word.
  public init(_ table: [String: String]) throws(InvalidValue) {
    guard table.count <= Self.maximumWords else {
      throw InvalidValue("", "must have at most \(Self.maximumWords) words")
    }
    for (text, replacement) in table {
      let word = Self.trimmed(text)
      guard (1...Self.maximumBytes).contains(word.utf8.count),
        (1...Self.maximumBytes).contains(replacement.utf8.count), !replacement.utf8.contains(0)
      else {
        throw InvalidValue(
          "", "must have words and replacements of 1 to \(Self.maximumBytes) bytes")
      }
      let scalars = word.unicodeScalars.map(Self.folded)
      words[scalars[0], default: []].append(
        Word(scalars: scalars, text: word, replacement: replacement))
    }
    for key in words.keys {
      words[key]?.sort { ($1.scalars.count, $0.text) < ($0.scalars.count, $1.text) }
    }
  }

  /// The content without white space around it.
  public static func trimmed(_ content: String) -> String {
    let scalars = content.unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }

  /// Puts in what stands for special words, the longest first, whatever their case. A word of a
  /// script with spaces is adapted where it stands alone.
  public func adapt(_ content: String) -> (content: String, changes: [Change]) {
    let scalars = Array(content.unicodeScalars)
    var adapted = String.UnicodeScalarView()
    var changes: [Change] = []
    var position = 0
    while position < scalars.count {
      guard let word = word(in: scalars, at: position) else {
        adapted.append(scalars[position])
        position += 1
        continue
      }
      position += word.scalars.count
      adapted.append(contentsOf: word.replacement.unicodeScalars)
      if word.replacement != word.text {
        changes.append(Change(word: word.text, replacement: word.replacement))
      }
    }
    return (String(adapted), changes)
  }

  private func word(in scalars: [Unicode.Scalar], at position: Int) -> Word? {
    words[Self.folded(scalars[position])]?.first { word in
      let end = position + word.scalars.count
      guard end <= scalars.count else { return false }
      for (offset, scalar) in word.scalars.enumerated()
      where Self.folded(scalars[position + offset]) != scalar { return false }
      if position > 0, Self.joins(scalars[position - 1], scalars[position]) { return false }
      return end == scalars.count || !Self.joins(scalars[end - 1], scalars[end])
    }
  }

  /// Whether two characters beside each other belong to one word.
  private static func joins(_ left: Unicode.Scalar, _ right: Unicode.Scalar) -> Bool {
    isOfAWord(left) && isOfAWord(right)
  }

  /// Letters and digits, except of scripts that are written without spaces.
  private static func isOfAWord(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    guard properties.isAlphabetic || properties.numericType != nil else { return false }
    switch scalar.value {
    case 0x0E00...0x0EFF, 0x1780...0x17FF, 0x3005...0x30FF, 0x3400...0x9FFF, 0xF900...0xFAFF,
      0x20000...0x323AF:
      return false
    default: return !properties.isIdeographic
    }
  }

  /// In lower case, where that is one character.
  private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    if scalar.isASCII {
      let isUpper = (0x41...0x5A).contains(scalar.value)
      return isUpper ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar
    }
    let lower = scalar.properties.lowercaseMapping.unicodeScalars
    return lower.count == 1 ? lower[lower.startIndex] : scalar
  }
}
