/// How much more work a phrase may take, in steps of about ten nanoseconds, so that no vocabulary
/// and no phrase takes long. Who is called so itself is looked for first and costs little; what
/// ends with the work is the search for those who are called something like it, which then goes by
/// what was found so far.
struct Work {
  private(set) var left: Int

  /// Some two milliseconds. With 20,000 names in the index, what people say takes 8,000 steps in the
  /// middle, 44,000 at the 99th percentile and 87,000 at most.
  static let forPhrase = 100_000

  init(_ steps: Int = forPhrase) { left = steps }

  var isDone: Bool { left <= 0 }

  /// Takes steps off; false where there were none left.
  mutating func take(_ steps: Int) -> Bool {
    guard left > 0 else { return false }
    left -= steps
    return true
  }

  /// For the edit distance of two strings of so many characters.
  mutating func takeDistance(_ count: Int, _ other: Int) -> Bool { take(5 + count * other / 8) }
}
