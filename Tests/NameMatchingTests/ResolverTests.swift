import NameMatching
import TestSupport
import Testing

@Suite struct ResolverTests {
  private static func resolve(
    _ phrase: String, _ names: [String]
  ) -> (outcome: ResolutionOutcome, names: [String]) {
    let resolution = Resolver(NameIndex(names.map { NameEntry($0) })).resolve(phrase)
    return (resolution.outcome, resolution.candidates.map { names[$0.position] })
  }

  private static let contacts = [
    "王一然", "Jon Snow", "John Smith", "李荣桃", "崔Bob", "妈妈", "Elizabeth Bauer", "郭泽Emma",
    "Наталья Зайцева", "송경수", "しんのすけ", "老八", "Anthony Baker", "诸葛依", "仇敏", "班主任陈老师",
  ]

  @Test(arguments: [
    ("王一然", "王一然"), ("给王一然发消息", "王一然"), ("text 王一然", "王一然"), ("SMITH, JOHN", "John Smith"),
    ("tell Jon Snow", "Jon Snow"), ("老8", "老八"), ("郭泽 emma", "郭泽Emma"), ("シンノスケ", "しんのすけ"),
  ]) func namedItself(_ example: (String, String)) {
    let result = Self.resolve(example.0, Self.contacts)
    #expect(result.outcome == .success)
    #expect(result.names.first == example.1)
  }

  @Test(arguments: [
    ("王依然", "王一然"), ("wang yiran", "王一然"), ("Yiran Wang", "王一然"), ("小桃", "李荣桃"), ("崔鲍勃", "崔Bob"),
    ("mom", "妈妈"), ("Betty", "Elizabeth Bauer"), ("guo ze Emma", "郭泽Emma"),
    ("Наташа Зайцева", "Наталья Зайцева"), ("Natalya Zaytseva", "Наталья Зайцева"),
    ("Song Gyeongsu", "송경수"), ("shinnosuke", "しんのすけ"), ("Antony Bakr", "Anthony Baker"),
    ("jew guh e", "诸葛依"), ("秋敏", "仇敏"), ("Baker", "Anthony Baker"), ("陈老师", "班主任陈老师"),
    ("please text tony baker", "Anthony Baker"),
  ]) func meantButNotNamed(_ example: (String, String)) {
    let result = Self.resolve(example.0, Self.contacts)
    #expect(result.outcome == .confirmationRequired, "\(result)")
    #expect(result.names.first == example.1)
  }

  @Test func tensAreFollowedByOnes() {
    #expect(Self.resolve("room forty two", ["Room 42"]).outcome == .success)
    #expect(Self.resolve("room ten two", ["Room 12"]).outcome != .success)
  }

  /// However many are called alike, as few as asked for are offered.
  @Test func thousandsOfEquals() {
    let entries = (0..<3000).map { NameEntry("Alex", identifier: "\($0)") }
    let resolver = Resolver(NameIndex(entries))
    let resolution = resolver.resolve("Alex") { $0 == 7 ? 1 : 0 }
    #expect(resolution.outcome == .disambiguation)
    #expect(resolution.candidates.map(\.position) == [7, 0, 1, 2, 3])
    #expect(resolver.resolve("all", allowsAll: true).candidates.count == Resolver.shown)
  }

  /// Every part of a phrase must find its part of a name.
  @Test(arguments: [
    "John Baker", "王小明", "Elizabeth Smith", "turn on the lights", "今天天气怎么样", "Natalia Baker",
  ]) func nobody(_ phrase: String) {
    #expect(Self.resolve(phrase, Self.contacts).outcome == .unsupported)
  }

  @Test(arguments: ["", "  ", "?", "给", "给 ", "my friend", "send a message to"])
  func nothingSaid(_ phrase: String) {
    #expect(Self.resolve(phrase, Self.contacts).outcome == .needsValue)
  }

  @Test func namesThatAreEquallyGood() {
    let result = Self.resolve("Joseph", ["Joseph Gill", "Ann", "Joseph Ho", "Josephine Simmons"])
    #expect(result.outcome == .disambiguation)
    #expect(result.names == ["Joseph Gill", "Joseph Ho"])
    let decorated = Self.resolve("段伟", ["段伟🇨🇳", "꧁段伟꧂"])
    #expect(decorated.outcome == .disambiguation && decorated.names.count == 2)
    #expect(Self.resolve("Alex", ["Alex Chen", "Alex"]).outcome == .success)
  }

  @Test func aCarrierThatIsANameIsTheName() {
    #expect(
      Self.resolve("Tell Williams", ["Tell Williams", "Williams"]).names == ["Tell Williams"])
    #expect(Self.resolve("tell Williams", ["Ann", "Williams"]).names == ["Williams"])
  }

  @Test func hintsAreSpellings() {
    let index = NameIndex([NameEntry("大場 花子", hint: "おおば はなこ"), NameEntry("鈴木 舞", hint: "すずき まい")])
    let resolver = Resolver(index)
    #expect(resolver.resolve("おおばはなこ").outcome == .success)
    #expect(resolver.resolve("Hanako Oba").candidates.first?.position == 0)
    #expect(resolver.resolve("suzuki mai").candidates.first?.position == 1)
  }

  @Test func symbolsAloneAreANameToo() {
    #expect(Self.resolve("♪♪♪", ["♪♪♪", "Ann"]).outcome == .success)
  }
}

@Suite struct ResolverPropertyTests {
  private static func vocabulary(using random: inout SeededGenerator) -> [String] {
    let syllables = [
      "王", "一", "然", "李", "明", "Ann", "Bob", "Lee ", "smith", "さ", "くら", "김", "7", "★",
    ]
    return (0..<Int.random(in: 1...30, using: &random)).map { _ in
      (0..<Int.random(in: 1...3, using: &random)).map { _ in
        syllables.randomElement(using: &random)!
      }.joined()
    }
  }

  @Test func theOrderOfUploadChangesNotWhoMatches() {
    let announced = SeededGenerator.announced("theOrderOfUploadChangesNotWhoMatches")
    var random = SeededGenerator(seed: announced.seed)
    for _ in 0..<200 {
      let names = Self.vocabulary(using: &random)
      let other = names.shuffled(using: &random)
      let phrase =
        names.randomElement(using: &random)! + ["", "x", "明"].randomElement(using: &random)!
      func found(_ names: [String]) -> [String] {
        NameIndex(names.map { NameEntry($0) }).matches(phrase)
          .map { "\(names[$0.position]) \($0.score)" }.sorted()
      }
      #expect(found(names) == found(other), "\(announced.seed): \(phrase)")
    }
  }

  @Test func whoIsCalledSoIsFoundWhateverElseIsThere() {
    let announced = SeededGenerator.announced("whoIsCalledSoIsFoundWhateverElseIsThere")
    var random = SeededGenerator(seed: announced.seed)
    for _ in 0..<200 {
      var names = Self.vocabulary(using: &random)
      let name = RandomText.any(using: &random)
      names.insert(name, at: Int.random(in: 0...names.count, using: &random))
      let matches = NameIndex(names.map { NameEntry($0) }).matches(name)
      #expect(matches.contains { names[$0.position] == name }, "\(announced.seed)")
      #expect(matches.first?.reason == .identical)
    }
  }

  @Test func noTextIsTooMuch() {
    let announced = SeededGenerator.announced("noTextIsTooMuch")
    var random = SeededGenerator(seed: announced.seed)
    let names = (0..<300).map { _ in RandomText.any(using: &random) }
    let resolver = Resolver(NameIndex(names.map { NameEntry($0) }))
    for _ in 0..<2000 {
      let text = RandomText.any(using: &random)
      let resolution = resolver.resolve(text)
      #expect(resolution.candidates.count <= 5)
      #expect(
        (resolution.outcome == .disambiguation)
          == (resolution.candidates.count > 1 && resolution.outcome != .success
            && resolution.outcome != .confirmationRequired))
    }
    _ = resolver.resolve(String(repeating: "王", count: 1000))
    _ = resolver.resolve(String(repeating: "an ", count: 1000))
    _ = resolver.resolve(String(repeating: "Z̷̡̘", count: 300))
  }
}

@Suite struct SentenceTests {
  private static let names = ["王一然", "Jon", "Tom", "Jerry", "小王", "小李", "Rock and Roll", "Ann Lee"]
  private static let resolver = Resolver(NameIndex(names.map { NameEntry($0) }))

  @Test(arguments: [
    ("用QQ发消息给王一然说你好", "王一然"), ("给王一然发消息说我很生气", "王一然"), ("tell Jon I'm late", "Jon"),
    ("text Ann Lee that dinner is ready", "Ann Lee"),
    ("send a message to Tom using Telegram", "Tom"),
  ]) func namesAreFoundInSentences(_ example: (String, String)) {
    let resolution = Self.resolver.resolve(example.0)
    #expect(resolution.candidates.first.map { Self.names[$0.position] } == example.1)
    #expect(resolution.outcome == .success)
  }

  @Test func aPartOfANameBeforeASentence() {
    let resolver = Resolver(NameIndex(["Jon Snow", "Maria Lopez"].map { NameEntry($0) }))
    let resolution = resolver.resolve("tell Jon I'm late")
    #expect(resolution.outcome == .confirmationRequired)
    #expect(resolution.candidates.first?.position == 0)
    // A full name of somebody else is no first name with a sentence behind it.
    #expect(resolver.resolve("text Maria Garcia Perez").outcome == .unsupported)
  }

  @Test func severalNamesAreResolvedEach() {
    for phrase in [
      "Tom and Jerry", "text Tom and Jerry", "Tom, Jerry, and Jon", "小王和小李", "给小王和小李发消息",
    ] {
      let resolution = Self.resolver.resolve(phrase)
      #expect(resolution.outcome == .success, "\(phrase)")
      #expect(resolution.parts.count == (phrase.contains("Jon") ? 3 : 2), "\(phrase)")
    }
    #expect(Self.resolver.resolve("Rock and Roll").parts.isEmpty)
    #expect(Self.resolver.resolve("Tom and Bartholomew").parts.isEmpty)
  }

  /// The List-o-Mat tutorial: exact is success, one that contains it is confirmed, several are
  /// offered, "all" offers all, nothing is unsupported.
  @Test func listsAsInTheTutorial() {
    let lists = ["Grocery Store", "Hardware Store", "Packing"]
    let resolver = Resolver(NameIndex(lists.map { NameEntry($0) }))
    #expect(resolver.resolve("grocery store", allowsAll: true).outcome == .success)
    #expect(resolver.resolve("show the grocery store list", allowsAll: true).outcome == .success)
    let one = resolver.resolve("Grocery", allowsAll: true)
    #expect(one.outcome == .confirmationRequired && one.candidates.first?.position == 0)
    let stores = resolver.resolve("store", allowsAll: true)
    #expect(stores.outcome == .disambiguation && stores.candidates.map(\.position) == [0, 1])
    let all = resolver.resolve("all", allowsAll: true)
    #expect(all.outcome == .disambiguation && all.candidates.count == 3)
    #expect(resolver.resolve("all").outcome == .unsupported)
    #expect(resolver.resolve("garden", allowsAll: true).outcome == .unsupported)
    #expect(resolver.resolve("", allowsAll: true).outcome == .needsValue)
  }

  @Test func preferenceSortsEqualsAndNoMore() {
    let resolver = Resolver(NameIndex(["Joseph Gill", "Joseph Ho"].map { NameEntry($0) }))
    let resolution = resolver.resolve("Joseph", preference: { Double($0) })
    #expect(resolution.outcome == .disambiguation)
    #expect(resolution.candidates.map(\.position) == [1, 0])
  }
}
