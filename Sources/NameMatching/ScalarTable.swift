/// A value for each of some Unicode scalars, found without hashing: pages of 256 values.
struct ScalarTable: Sendable {
  /// The page of each 256 scalars; page 0 has none.
  private var pages = [UInt16](repeating: 0, count: 0x1100)
  private var values = [UInt32](repeating: 0, count: 256)

  /// The value of a scalar, below 0x110000; 0 where it has none.
  subscript(scalar: UInt32) -> UInt32 {
    get { values[Int(pages[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)] }
    set {
      if pages[Int(scalar >> 8)] == 0 {
        pages[Int(scalar >> 8)] = UInt16(values.count >> 8)
        values += repeatElement(0, count: 256)
      }
      values[Int(pages[Int(scalar >> 8)]) << 8 | Int(scalar & 0xFF)] = newValue
    }
  }
}

/// What characters fold to.
struct FoldingTable: Sendable {
  enum Form {
    case itself
    case one(UInt32)
    /// Several, or none at all.
    case several([UInt32])
  }

  private var table = ScalarTable()
  private var sequences: [[UInt32]] = []
  /// Beyond all scalars; below it are numbers of sequences.
  private static let sequence: UInt32 = 0x8000_0000

  mutating func add(_ scalar: UInt32, _ folded: [UInt32]) {
    if folded.count == 1 {
      table[scalar] = folded[0]
    } else {
      table[scalar] = Self.sequence | UInt32(sequences.count)
      sequences.append(folded)
    }
  }

  func contains(_ scalar: UInt32) -> Bool { table[scalar] != 0 }

  func form(of scalar: UInt32) -> Form {
    let value = table[scalar]
    if value == 0 { return .itself }
    return value < Self.sequence ? .one(value) : .several(sequences[Int(value & ~Self.sequence)])
  }
}
