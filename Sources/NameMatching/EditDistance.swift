/// Edit distances: insert, delete, replace, and swap two neighbours, each 1.
enum EditDistance {
  /// Longer strings are not compared.
  private static let longest = 64

  /// The distance, or nil where it is above `limit` or a string is longer than 64 characters
  /// (optimal string alignment).
  static func within<Element: FixedWidthInteger>(
    _ limit: Int, _ a: ArraySlice<Element>, _ b: ArraySlice<Element>
  ) -> Int? {
    guard abs(a.count - b.count) <= limit, max(a.count, b.count) <= longest else { return nil }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3 * (longest + 1)) { rows in
      a.withUnsafeBufferPointer { a in
        b.withUnsafeBufferPointer { b in distance(limit, a, b, rows) }
      }
    }
  }

  private static func distance<Element: FixedWidthInteger>(
    _ limit: Int, _ a: UnsafeBufferPointer<Element>, _ b: UnsafeBufferPointer<Element>,
    _ rows: UnsafeMutableBufferPointer<UInt8>
  ) -> Int? {
    let width = longest + 1
    var (before, previous, current) = (0, width, 2 * width)
    for j in 0...b.count { rows[previous + j] = UInt8(j) }
    for i in 0..<a.count {
      rows[current] = UInt8(i + 1)
      var best = UInt8(i + 1)
      for j in 0..<b.count {
        var value = min(rows[previous + j + 1], rows[current + j]) + 1
        value = min(value, rows[previous + j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          value = min(value, rows[before + j - 1] + 1)
        }
        rows[current + j + 1] = value
        best = min(best, value)
      }
      if best > limit { return nil }
      (before, previous, current) = (previous, current, before)
    }
    let distance = Int(rows[previous + b.count])
    return distance <= limit ? distance : nil
  }

  /// From 0, nothing in common, to 1, equal.
  static func similarity(_ a: [UInt32], _ b: [UInt32]) -> Double {
    let length = max(a.count, b.count)
    guard length > 0, let distance = within(length, a[...], b[...]) else { return 0 }
    return 1 - Double(distance) / Double(length)
  }

  /// The bits that Latin letters have in a mask.
  static let latinLetters: UInt64 = 0x3FF_FFFF

  /// A set of the characters, for a quick look at how far two strings are apart at least.
  static func mask(_ scalars: some Sequence<UInt32>) -> UInt64 {
    var mask: UInt64 = 0
    for scalar in scalars {
      let packed = scalar < 0x10000 ? scalar : UInt32(PackedNames.pack(scalar))
      let bit = (0x61...0x7A).contains(packed) ? packed - 0x61 : 26 + packed % 38
      mask |= 1 << UInt64(bit)
    }
    return mask
  }
}
