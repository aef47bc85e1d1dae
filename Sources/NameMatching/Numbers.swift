/// Numbers as digits, however they are written: the key by which "Bay 7" and "bay seven", 老八 and
/// 老8 are the same.
enum Numbers {
  private static let han: [UInt32: UInt32] = [
    0x3007: 0, 0x96F6: 0, 0x4E00: 1, 0x4E8C: 2, 0x4E24: 2, 0x4E09: 3, 0x56DB: 4, 0x4E94: 5,
    0x516D: 6, 0x4E03: 7, 0x516B: 8, 0x4E5D: 9,
  ]
  private static let units: [UInt32: UInt32] = [0x5341: 10, 0x767E: 100, 0x5343: 1000]

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

  /// All characters of the string with its numbers as digits; nil where it has no number.
  static func key(_ folded: Folded) -> [UInt32]? {
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
      while end < scalars.count, han[scalars[end]] != nil || units[scalars[end]] != nil { end += 1 }
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
    guard scalars.contains(where: { units[$0] != nil }) else {
      return scalars.map { han[$0]! + 0x30 }
    }
    var total: UInt32 = 0
    var digit: UInt32?
    for scalar in scalars {
      if let unit = units[scalar] {
        total += (digit ?? 1) * unit
        digit = nil
      } else {
        digit = han[scalar]
      }
    }
    return String(total + (digit ?? 0)).unicodeScalars.map(\.value)
  }
}
