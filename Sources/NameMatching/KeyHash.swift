/// FNV-1a over bytes, in up to eight variants at once: one for each way of reading what was
/// appended. Parts hash like their whole.
struct KeyHash {
  /// The only variant, as long as there is but one.
  private var single: UInt32 = 0x811C_9DC5
  private var lanes = SIMD8<UInt32>()
  private var count = 1

  private static let prime: UInt32 = 0x0100_0193

  init(_ kind: KeyKind) { append(kind.rawValue) }

  /// The distinct hashes.
  var values: [UInt32] {
    var values: [UInt32] = []
    forEach { values.append($0) }
    return values
  }

  /// Calls `body` with each distinct hash.
  func forEach(_ body: (UInt32) -> Void) {
    if count == 1 { return body(single) }
    for lane in 0..<count {
      let value = lanes[lane]
      if !(0..<lane).contains(where: { lanes[$0] == value }) { body(value) }
    }
  }

  /// The first hash.
  var value: UInt32 { count == 1 ? single : lanes[0] }

  mutating func append(_ byte: UInt8) {
    if count == 1 {
      single = (single ^ UInt32(byte)) &* Self.prime
    } else {
      lanes = (lanes ^ SIMD8(repeating: UInt32(byte))) &* SIMD8(repeating: Self.prime)
    }
  }

  mutating func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBufferPointer { for byte in $0 { append(byte) } }
  }

  mutating func append(utf8 text: String) { for byte in text.utf8 { append(byte) } }

  mutating func append(scalar: UInt32) {
    append(UInt8(truncatingIfNeeded: scalar))
    append(UInt8(truncatingIfNeeded: scalar >> 8))
    append(UInt8(truncatingIfNeeded: scalar >> 16))
  }

  mutating func append(scalars: some Sequence<UInt32>) {
    for scalar in scalars { append(scalar: scalar) }
  }

  /// Appends a first reading, and other readings to what was there before it, as far as there is
  /// room: the first to all variants, the others to the variants in their order.
  struct Readings {
    private let before: KeyHash
    private let first: [UInt8]

    fileprivate init(_ hash: inout KeyHash, _ first: [UInt8]) {
      before = hash
      self.first = first
      hash.append(first)
    }

    func add(_ reading: [UInt8], to hash: inout KeyHash) {
      guard reading != first, hash.count < 8 else { return }
      var other = before
      other.append(reading)
      if hash.count == 1 { hash.lanes = SIMD8(repeating: hash.single) }
      for lane in 0..<other.count where hash.count < 8 {
        hash.lanes[hash.count] = other.count == 1 ? other.single : other.lanes[lane]
        hash.count += 1
      }
    }
  }

  mutating func append(firstOf reading: [UInt8]) -> Readings { Readings(&self, reading) }
}

/// Numbers by hashes, in 8 bytes each: sorted, and searched by halves. A hash alone proves nothing.
struct KeyTable: Sendable {
  private var items: [UInt64] = []

  /// - Parameter number: never less than the one added before.
  mutating func add(_ hash: UInt32, _ number: Int) {
    items.append(UInt64(hash) << 32 | UInt64(UInt32(number)))
  }

  mutating func reserve(_ count: Int) { items.reserveCapacity(count) }

  /// Ready to be searched.
  mutating func finish() {
    sort()
    var last = UInt64.max
    items.removeAll { item in
      defer { last = item }
      return item == last
    }
    items = items.withUnsafeBufferPointer { Array($0) }
  }

  /// By the hashes alone, the least 11 bits first: numbers came in their order.
  private mutating func sort() {
    guard items.count > 256 else { return items.sort() }
    var other = items
    for shift in [32, 43, 54] as [UInt64] {
      var starts = [Int](repeating: 0, count: 2049)
      for item in items { starts[Int(item >> shift & 0x7FF) + 1] += 1 }
      for digit in 1...2048 { starts[digit] += starts[digit - 1] }
      other.withUnsafeMutableBufferPointer { other in
        for item in items {
          let digit = Int(item >> shift & 0x7FF)
          other[starts[digit]] = item
          starts[digit] += 1
        }
      }
      swap(&items, &other)
    }
  }

  var bytes: Int { items.count * 8 }

  /// The place of the first number of a hash, or where it would be.
  private func start(_ hash: UInt32) -> Int {
    var low = 0
    var high = items.count
    while low < high {
      let middle = (low + high) / 2
      if UInt32(items[middle] >> 32) < hash { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Calls `body` with each number of a hash, ascending, as long as it says so.
  func forEach(_ hash: UInt32, _ body: (Int) -> Bool) {
    var place = start(hash)
    while place < items.count, UInt32(items[place] >> 32) == hash,
      body(Int(UInt32(truncatingIfNeeded: items[place])))
    {
      place += 1
    }
  }

  /// How many numbers a hash has.
  func count(_ hash: UInt32) -> Int {
    hash == .max ? items.count - start(hash) : start(hash + 1) - start(hash)
  }

  /// The numbers of a hash, ascending: the first so many.
  func numbers(_ hash: UInt32, most: Int = .max) -> [Int] {
    var place = start(hash)
    var numbers: [Int] = []
    while place < items.count, numbers.count < most, UInt32(items[place] >> 32) == hash {
      numbers.append(Int(UInt32(truncatingIfNeeded: items[place])))
      place += 1
    }
    return numbers
  }
}
