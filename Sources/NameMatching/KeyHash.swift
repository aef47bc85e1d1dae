/// FNV-1a over bytes; grows with what is appended, so that parts hash like their whole.
struct KeyHash: Equatable {
  private(set) var value: UInt32

  init(_ kind: UInt8) {
    value = 0x811C_9DC5
    append(kind)
  }

  mutating func append(_ byte: UInt8) { value = (value ^ UInt32(byte)) &* 0x0100_0193 }

  mutating func append(_ bytes: some Sequence<UInt8>) { for byte in bytes { append(byte) } }

  mutating func append(scalar: UInt32) {
    append(UInt8(truncatingIfNeeded: scalar))
    append(UInt8(truncatingIfNeeded: scalar >> 8))
    append(UInt8(truncatingIfNeeded: scalar >> 16))
  }

  mutating func append(scalars: some Sequence<UInt32>) {
    for scalar in scalars { append(scalar: scalar) }
  }

  func appending(_ bytes: some Sequence<UInt8>) -> KeyHash {
    var copy = self
    copy.append(bytes)
    return copy
  }
}
