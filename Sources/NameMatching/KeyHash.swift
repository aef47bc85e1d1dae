/// FNV-1a over bytes, in up to eight variants at once: one for each way of reading what was
/// appended. Parts hash like their whole.
struct KeyHash {
  private var lanes: SIMD8<UInt32>
  private var count = 1

  private static let prime = SIMD8<UInt32>(repeating: 0x0100_0193)

  init(_ kind: KeyKind) {
    lanes = SIMD8(repeating: 0x811C_9DC5)
    append(kind.rawValue)
  }

  /// The distinct hashes.
  var values: [UInt32] {
    var values: [UInt32] = []
    for lane in 0..<count where !values.contains(lanes[lane]) { values.append(lanes[lane]) }
    return values
  }

  /// The first hash.
  var value: UInt32 { lanes[0] }

  mutating func append(_ byte: UInt8) {
    lanes = (lanes ^ SIMD8(repeating: UInt32(byte))) &* Self.prime
  }

  mutating func append(_ bytes: some Sequence<UInt8>) { for byte in bytes { append(byte) } }

  mutating func append(scalar: UInt32) {
    append(UInt8(truncatingIfNeeded: scalar))
    append(UInt8(truncatingIfNeeded: scalar >> 8))
    append(UInt8(truncatingIfNeeded: scalar >> 16))
  }

  mutating func append(scalars: some Sequence<UInt32>) {
    for scalar in scalars { append(scalar: scalar) }
  }

  /// Appends each of several readings to what was there, as far as there is room: the first to all
  /// variants, the others to the variants in their order.
  mutating func append(anyOf readings: [[UInt8]]) {
    guard let first = readings.first else { return }
    let before = (lanes, count)
    append(first)
    for reading in readings.dropFirst() where reading != first {
      var other = self
      (other.lanes, other.count) = before
      other.append(reading)
      for lane in 0..<other.count where count < 8 {
        lanes[count] = other.lanes[lane]
        count += 1
      }
    }
  }
}

/// Numbers by hashes, in 8 bytes each: sorted, and searched by halves. A hash alone proves nothing.
struct KeyTable: Sendable {
  private var items: [UInt64] = []

  mutating func add(_ hash: UInt32, _ number: Int) {
    items.append(UInt64(hash) << 32 | UInt64(UInt32(number)))
  }

  /// Ready to be searched.
  mutating func finish() {
    items.sort()
    var last = UInt64.max
    items.removeAll { item in
      defer { last = item }
      return item == last
    }
    items = Array(items)
  }

  var bytes: Int { items.count * 8 }

  /// The numbers of a hash, ascending.
  func numbers(_ hash: UInt32) -> [Int] {
    var low = 0
    var high = items.count
    while low < high {
      let middle = (low + high) / 2
      if UInt32(items[middle] >> 32) < hash { low = middle + 1 } else { high = middle }
    }
    var numbers: [Int] = []
    while low < items.count, UInt32(items[low] >> 32) == hash {
      numbers.append(Int(UInt32(truncatingIfNeeded: items[low])))
      low += 1
    }
    return numbers
  }
}
