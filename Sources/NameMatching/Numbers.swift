/// Numbers as digits, however they are written: the key by which "Bay 7" and "bay seven", 老八 and
/// 老8 are the same.
enum Numbers {
  private static func digit(_ scalar: UInt32) -> UInt32? {
    switch scalar {
    case 0x3007, 0x96F6: 0
    case 0x4E00: 1
    case 0x4E8C, 0x4E24: 2
    case 0x4E09: 3
    case 0x56DB: 4
    case 0x4E94: 5
    case 0x516D: 6
    case 0x4E03: 7
    case 0x516B: 8
    case 0x4E5D: 9
    default: nil
    }
  }

  private static func unit(_ scalar: UInt32) -> UInt32? {
    switch scalar {
    case 0x5341: 10
    case 0x767E: 100
    case 0x5343: 1000
    default: nil
    }
  }

  private static let words: [[UInt32]: String] = {
    let lists = [
      "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        + "fifteen sixteen seventeen eighteen nineteen twenty",
      "zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze "
        + "seize dixsept dixhuit dixneuf vingt",
    ]
    var table: [[UInt32]: String] = [:]
    for list in lists {
      for (number, word) in list.split(separator: " ").enumerated() {
        table[word.unicodeScalars.map(\.value)] = String(number)
      }
    }
    let tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(separator: " ")
    for (number, word) in tens.enumerated() {
      table[word.unicodeScalars.map(\.value)] = String((number + 2) * 10)
    }
    for (number, word) in ["first", "second", "third"].enumerated() {
      table[word.unicodeScalars.map(\.value)] = String(number + 1)
    }
    return table
  }()

  /// The first letters of words for numbers, by their length: almost no word has them.
  private static let shapes: [UInt32] = {
    var shapes = [UInt32](repeating: 0, count: 16)
    for word in words.keys { shapes[word.count] |= 1 << (word[0] - 0x61) }
    return shapes
  }()

  private static func mayBeNumber(_ segment: Segment) -> Bool {
    switch segment.script {
    case .digits: return true
    case .han: return segment.scalars.contains { digit($0) != nil || unit($0) != nil }
    case .latin:
      let letter = segment.scalars[0] &- 0x61
      return segment.scalars.count < shapes.count && letter < 26
        && shapes[segment.scalars.count] & 1 << letter != 0
    default: return false
    }
  }

  /// All characters of the string with its numbers as digits; nil where it has no number.
  static func key(_ folded: Folded) -> [UInt32]? {
    guard folded.segments.contains(where: mayBeNumber) else { return nil }
    var out: [UInt32] = []
    var found = false
    var isTens = false
    for segment in folded.segments {
      defer {
        isTens =
          words[segment.scalars].map { $0.count == 2 && $0 != "10" && $0.hasSuffix("0") } ?? false
      }
      switch segment.script {
      case .digits:
        found = true
        out += segment.scalars
      case .han: found = append(segment.scalars, to: &out) || found
      default:
        if let digits = words[segment.scalars] {
          found = true
          // "forty two"
          if isTens, digits.count == 1 { out.removeLast() }
          out += digits.unicodeScalars.map(\.value)
        } else {
          out += segment.scalars
        }
      }
    }
    return found ? out : nil
  }

  private static func append(_ scalars: [UInt32], to out: inout [UInt32]) -> Bool {
    var found = false
    var index = 0
    while index < scalars.count {
      var end = index
      while end < scalars.count, digit(scalars[end]) != nil || unit(scalars[end]) != nil {
        end += 1
      }
      if end == index {
        out.append(scalars[index])
        index += 1
        continue
      }
      found = true
      out += digits(scalars[index..<end])
      index = end
    }
    return found
  }

  /// 十三 is 13, 二十 20, 一三五 135.
  private static func digits(_ scalars: ArraySlice<UInt32>) -> [UInt32] {
    guard scalars.contains(where: { unit($0) != nil }) else {
      return scalars.map { Self.digit($0)! + 0x30 }
    }
    var total: UInt32 = 0
    var digit: UInt32?
    for scalar in scalars {
      if let unit = Self.unit(scalar) {
        total += (digit ?? 1) * unit
        digit = nil
      } else {
        digit = Self.digit(scalar)
      }
    }
    return String(total + (digit ?? 0)).unicodeScalars.map(\.value)
  }
}
