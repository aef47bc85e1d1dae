/// Edit distances: insert, delete, replace, and swap two neighbours, each 1.
enum EditDistance {
  /// The distance, or nil where it is above `limit` (optimal string alignment; rows are banded).
  static func within(_ limit: Int, _ a: [UInt32], _ b: [UInt32]) -> Int? {
    guard abs(a.count - b.count) <= limit else { return nil }
    if a == b { return 0 }
    guard limit > 0 else { return nil }
    var before = [Int](repeating: 0, count: b.count + 1)
    var previous = Array(0...b.count)
    var current = previous
    for i in 1...max(a.count, 1) where i <= a.count {
      current[0] = i
      var best = i
      for j in 1...max(b.count, 1) where j <= b.count {
        var value = min(previous[j] + 1, current[j - 1] + 1)
        value = min(value, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          value = min(value, before[j - 2] + 1)
        }
        current[j] = value
        best = min(best, value)
      }
      if best > limit { return nil }
      (before, previous, current) = (previous, current, before)
    }
    return previous[b.count] <= limit ? previous[b.count] : nil
  }

  /// From 0, nothing in common, to 1, equal.
  static func similarity(_ a: [UInt32], _ b: [UInt32]) -> Double {
    let length = max(a.count, b.count)
    guard length > 0, let distance = within(length, a, b) else { return 0 }
    return 1 - Double(distance) / Double(length)
  }

  /// A set of the letters, for a quick look at how far two words are apart at least.
  static func mask(_ scalars: some Sequence<UInt32>) -> UInt64 {
    var mask: UInt64 = 0
    for scalar in scalars {
      let bit = (0x61...0x7A).contains(scalar) ? scalar - 0x61 : 26 + scalar % 38
      mask |= 1 << UInt64(bit)
    }
    return mask
  }
}
