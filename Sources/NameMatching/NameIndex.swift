/// A string that people or things are called by.
public struct NameEntry: Sendable, Hashable {
  public var phrase: String
  /// How it is spoken, where the client knows: kana, pinyin, any spelling.
  public var hint: String?
  /// What it stands for; strings with the same identifier are never rivals.
  public var identifier: String?
  /// Whether it came in by itself, and so stands behind all that the user uploaded.
  public var isDerived: Bool

  public init(
    _ phrase: String, hint: String? = nil, identifier: String? = nil, isDerived: Bool = false
  ) {
    self.phrase = phrase
    self.hint = hint
    self.identifier = identifier
    self.isDerived = isDerived
  }
}

/// The strings of one vocabulary, ready to be matched. Immutable; positions are those of the
/// entries it was made from, the most important first.
///
/// About 150 bytes a string, all of them in a few arrays (`bytes`).
public struct NameIndex: Sendable {
  /// Words that are equal share a token.
  struct Tokens: Sendable {
    /// Letters of each word.
    var mask: [UInt64] = []
    /// Where a word's characters are among those of all entries.
    var start: [UInt32] = []
    var length: [UInt8] = []
    /// Token by the hash of the word, of its sound, and of groups of names that it is in.
    var keys = KeyTable()
    /// Entries by token.
    var entries = KeyTable()
  }

  var text = PackedText()
  var identifiers = PackedText()
  var derived: [Bool] = []
  var folded = PackedNames()
  /// Entries by the hash of a key that they have.
  var keys = KeyTable()
  var tokens = Tokens()

  public init(_ names: [NameEntry]) {
    var builder = IndexBuilder(count: names.count)
    for name in names { builder.add(name) }
    self = builder.finish()
  }

  init(
    text: PackedText, identifiers: PackedText, derived: [Bool], folded: PackedNames,
    keys: KeyTable, tokens: Tokens
  ) {
    self.text = text
    self.identifiers = identifiers
    self.derived = derived
    self.folded = folded
    self.keys = keys
    self.tokens = tokens
  }

  /// The number of strings.
  public var count: Int { text.count }

  /// A string, as it was given.
  public func phrase(at position: Int) -> String { text[position] }

  /// What a string stands for, where that is known.
  public func identifier(at position: Int) -> String? {
    let identifier = identifiers[position]
    return identifier.isEmpty ? nil : identifier
  }

  /// Whether a string came in by itself.
  public func isDerived(at position: Int) -> Bool { derived[position] }

  /// Memory that the index takes, in bytes.
  public var bytes: Int {
    text.bytes + identifiers.bytes + derived.count + folded.bytes + keys.bytes + tokens.keys.bytes
      + tokens.entries.bytes
      + tokens.mask.count * 13
  }
}

/// Strings one after another.
struct PackedText: Sendable {
  private var utf8: [UInt8] = []
  private var ends: [UInt32] = []

  var count: Int { ends.count }
  var bytes: Int { utf8.count + ends.count * 4 }

  mutating func reserve(_ count: Int) {
    utf8.reserveCapacity(count * 12)
    ends.reserveCapacity(count)
  }

  mutating func append(_ string: String) {
    utf8.append(contentsOf: string.utf8)
    ends.append(UInt32(utf8.count))
  }

  subscript(position: Int) -> String {
    let start = position == 0 ? 0 : Int(ends[position - 1])
    return String(decoding: utf8[start..<Int(ends[position])], as: UTF8.self)
  }
}

/// Folded strings one after another: characters in 16 bits (those beyond share the private area),
/// segments as script and length.
struct PackedNames: Sendable {
  private(set) var characters: [UInt16] = []
  private var segments: [UInt16] = []
  private var starts: [UInt32] = [0]
  private var segmentStarts: [UInt32] = [0]
  private(set) var masks: [UInt64] = []
  /// Characters of a Chinese surname, and segments before a bracket.
  private var surnames: [UInt8] = []

  var bytes: Int {
    characters.count * 2 + segments.count * 2 + starts.count * 8 + masks.count * 9
  }

  static func pack(_ scalar: UInt32) -> UInt16 {
    scalar < 0x10000 ? UInt16(scalar) : 0xE000 | UInt16(scalar & 0x1FFF)
  }

  mutating func append(_ folded: Folded) {
    for segment in folded.segments {
      // A word of more characters is longer than anything that is compared with it.
      let length = min(segment.scalars.count, 0x1FFF)
      segments.append(UInt16(segment.script.rawValue) << 13 | UInt16(length))
      for scalar in segment.scalars.prefix(length) { characters.append(Self.pack(scalar)) }
    }
    let start = Int(starts[starts.count - 1])
    masks.append(EditDistance.mask(characters[start...].lazy.map { UInt32($0) }))
    starts.append(UInt32(characters.count))
    segmentStarts.append(UInt32(segments.count))
    surnames.append(UInt8(folded.chineseSurname))
  }

  /// All characters of an entry, without spaces.
  func joined(_ position: Int) -> ArraySlice<UInt16> {
    characters[Int(starts[position])..<Int(starts[position + 1])]
  }

  func length(_ position: Int) -> Int { Int(starts[position + 1] - starts[position]) }

  func segmentCount(_ position: Int) -> Int {
    Int(segmentStarts[position + 1] - segmentStarts[position])
  }

  func surname(_ position: Int) -> Int { Int(surnames[position]) }

  /// The segments of an entry again.
  func unpacked(_ position: Int) -> Folded {
    var folded = Folded()
    var start = Int(starts[position])
    for segment in segments[Int(segmentStarts[position])..<Int(segmentStarts[position + 1])] {
      let end = start + Int(segment & 0x1FFF)
      folded.segments.append(
        Segment(
          script: Script(rawValue: UInt8(segment >> 13))!,
          scalars: characters[start..<end].map { UInt32($0) }))
      start = end
    }
    return folded
  }
}
