import TestSupport
import Testing

@testable import NameMatching

/// What no vocabulary and no phrase may do: take long. `vocative-bench resolve` measures the time;
/// here it is the outcomes that hold although the work ends.
@Suite struct WorkTests {
  @Test func workEnds() {
    var work = Work(10)
    // The last piece may be larger than what is left.
    let taken = [work.take(8), work.take(8), work.take(1)]
    #expect(taken == [true, true, false])
    #expect(work.isDone)
  }

  /// Who is called so is found behind any number of others who are called almost so.
  @Test func whoIsCalledSoIsFoundAmongThousandsOfEquals() {
    let announced = SeededGenerator.announced("whoIsCalledSoIsFoundAmongThousandsOfEquals")
    var random = SeededGenerator(seed: announced.seed)
    for letters in [["an", "na", "an ", "na "], ["王", "一", "然", "依"], ["a", "b", "c", "d"]] {
      let names = (0..<5000).map { _ in
        (0..<Int.random(in: 2...9, using: &random)).map { _ in
          letters.randomElement(using: &random)!
        }.joined()
      }
      let resolver = Resolver(NameIndex(names.map { NameEntry($0) }))
      for name in (0..<50).map({ _ in names.randomElement(using: &random)! }) {
        let resolution = resolver.resolve(name)
        let found = resolution.candidates.map { names[$0.position] }
        #expect(found.first == name, "\(announced.seed): \(name)")
        let equals = names.count { $0 == name }
        #expect(
          resolution.outcome == (equals == 1 ? .success : .disambiguation),
          "\(announced.seed): \(name)")
      }
    }
  }

  /// Identical names of different people never become a success, however many there are.
  @Test func manyOfOneNameAreOfferedInTheirOrder() {
    let names = (0..<20_000).map { NameEntry("Ann 王一", identifier: "\($0)") }
    let resolver = Resolver(NameIndex(names))
    for phrase in ["Ann 王一", "text ann 王一", "ann wang yi", "王一", "Ann"] {
      let resolution = resolver.resolve(phrase)
      #expect(resolution.outcome == .disambiguation, "\(phrase)")
      #expect(resolution.candidates.map(\.position) == [0, 1, 2, 3, 4], "\(phrase)")
    }
    let all = resolver.resolve("all", allowsAll: true)
    #expect(all.candidates.map(\.position) == [0, 1, 2, 3, 4])
    // One person under many names is no rival of their own.
    let same = (0..<2000).map {
      NameEntry("Ann\(String(repeating: "!", count: $0 % 9))", identifier: "a")
    }
    #expect(Resolver(NameIndex(same)).resolve("ann").outcome == .success)
  }

  @Test func sentencesOfNothingButCarriersEnd() {
    let resolver = Resolver(NameIndex(["王一然", "Ann Lee", "with"].map { NameEntry($0) }))
    for phrase in [
      " with with with on on sur", "给给给给发消息说说，，", ", , and and et y e", "和和、、", "用", "使用", "，",
      ": ",
      "to to to to to", "and ", "que que que", "\u{301}, \u{301}和\u{301}",
    ] {
      for count in [1, 2, 20] {
        _ = resolver.resolve(String(repeating: phrase, count: count), allowsAll: true)
      }
    }
    #expect(resolver.resolve("call with using Signal", limit: 0).candidates.count <= 1)
  }

  @Test(arguments: [
    ("zhaofenghan", ["zhao", "feng", "han"]), ("xian", ["xian"]), ("a", ["a"]),
    ("fangan", ["fang", "an"]), ("nian", ["nian"]),
  ]) func lettersAreSplitIntoSyllables(_ example: (String, [String])) {
    var found: [String] = []
    let isPinyin = EnglishEar.forEachSyllable(of: Array(example.0.utf8)) { syllable in
      found.append(String(decoding: syllable, as: UTF8.self))
    }
    #expect(isPinyin && found == example.1)
  }

  @Test(arguments: ["", "smith", "zhaof", "ï", String(repeating: "an", count: 13)])
  func whatIsNoPinyin(_ word: String) {
    #expect(!EnglishEar.forEachSyllable(of: Array(word.utf8)) { _ in })
  }

  @Test func keysAreSortedHoweverManyThereAre() {
    let announced = SeededGenerator.announced("keysAreSortedHoweverManyThereAre")
    var random = SeededGenerator(seed: announced.seed)
    for count in [0, 1, 200, 257, 5000] {
      var table = KeyTable()
      var expected: [UInt32: [Int]] = [:]
      for number in 0..<count {
        let hash = [0, 1, .max, UInt32.random(in: 0...(.max), using: &random)]
          .randomElement(using: &random)!
        table.add(hash, number / 2)
        if expected[hash]?.last != number / 2 { expected[hash, default: []].append(number / 2) }
      }
      table.finish()
      for (hash, numbers) in expected {
        #expect(table.numbers(hash) == numbers, "\(announced.seed)")
        #expect(table.count(hash) == numbers.count, "\(announced.seed)")
        #expect(table.numbers(hash, most: 1) == Array(numbers.prefix(1)), "\(announced.seed)")
      }
      #expect(table.numbers(77).isEmpty || expected[77] != nil)
    }
  }
}
