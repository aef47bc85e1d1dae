import TestSupport
import Testing

@testable import NameMatching

@Suite struct FoldingTests {
  @Test(arguments: [
    ("ミ★空城旧梦★彡", "空城旧梦"), ("꧁段伟꧂", "段伟"), ("邓怡゛", "邓怡"), ("陈\u{1D73B}", "陈"), ("ζ𝐓om", "Tom"),
    ("江湖夜雨™", "江湖夜雨"),
    ("℡曾Eva", "曾Eva"), ("Ⓢⓐⓜ", "sam"), ("𝓛𝓲𝓼𝓪", "LISA"), ("ᴏꜱᴄᴀʀ", "oscar"), ("Ｋｅｉｔｈ", "Keith"),
    ("Anunciación", "anunciacion"), ("Łukasz Øre", "lukasz ore"), ("O’Connor", "O'Connor"),
    ("O’Connor", "oconnor"), ("Saint-Exupéry", "Saint Exupery"), ("陳老師", "陈老师"), ("ピカチュウ", "ぴかちゅう"),
    ("ｼｮｰﾝ", "ショーン"), ("か\u{3099}", "が"), ("Beno\u{0069}\u{0302}t", "Benoît"), ("佐々木", "佐佐木"),
    ("한", "\u{1112}\u{1161}\u{11AB}"), ("ΜΑΡΊΑ", "μαρια"), ("Straße", "STRASSE"),
  ]) func spellingsOfOneName(_ pair: (String, String)) {
    #expect(Folding.fold(pair.0).joined == Folding.fold(pair.1).joined)
  }

  /// A symbol-only nickname is still a name; a letter that is an ornament elsewhere is kept inside.
  @Test func whatIsLeftAlone() {
    #expect(Folding.fold("彡").joined == "彡".unicodeScalars.map(\.value))
    #expect(Folding.fold("ミキ").joined == "みき".unicodeScalars.map(\.value))
    #expect(Folding.fold("♪♪♪").isEmpty)
  }

  @Test func segmentsSplitAtTheBordersOfScripts() {
    #expect(
      Folding.fold("郭泽Emma 7号").segments.map(\.script) == [.han, .latin, .digits, .han])
    #expect(Folding.fold("Isabel (work)").core == 1)
    #expect(Folding.fold("(蔡Nina)").core == nil)
  }

  private static func isEdgy(_ scalar: Unicode.Scalar) -> Bool {
    (0x1100...0x11FF).contains(scalar.value) || Folding.isOrnament(scalar.value, beside: nil)
  }

  @Test func foldingIsIdempotent() {
    let announced = SeededGenerator.announced("foldingIsIdempotent")
    var random = SeededGenerator(seed: announced.seed)
    for _ in 0..<5000 {
      let text = RandomText.any(using: &random)
      // Ornaments fall off at edges, and folding may make new ones; loose jamo may meet.
      guard !text.unicodeScalars.contains(where: Self.isEdgy) else { continue }
      let once = Folding.fold(text)
      var view = String.UnicodeScalarView()
      for (number, segment) in once.segments.enumerated() {
        // Scripts part by themselves; a space would make an edge, where ornaments fall off.
        if number > 0, once.segments[number - 1].script == segment.script { view.append(" ") }
        for scalar in segment.scalars { view.append(Unicode.Scalar(scalar)!) }
      }
      #expect(
        Folding.fold(String(view)).joined == once.joined,
        "\(announced.seed): \(text.debugDescription)")
    }
  }
}

enum RandomText {
  private static let alphabets: [[Unicode.Scalar]] = [
    Array("abcdefghijklmnopqrstuvwxyzABCXYZ 0123456789'-.,()".unicodeScalars),
    Array("王一然李小明赵晓景陈老师東國龍馬々〆丶彡".unicodeScalars),
    Array("あいがぱっょんアガパッョンー゛゜ｶﾞ\u{3099}".unicodeScalars),
    Array("김이박정한글\u{1112}\u{1161}\u{11AB}".unicodeScalars),
    Array("éèüßøłñÅ\u{0301}\u{0308}ⓐ𝓐Ａ™℡½①Ⅳ﷽".unicodeScalars),
    Array("ЖжщёМашаΩλαμآرابहिन्दी😀👨‍👩‍👧★♪\u{200D}\u{FE0F}\u{202E}".unicodeScalars),
  ]

  /// Up to 24 characters of a few scripts, now and then any character at all.
  static func any(using random: inout SeededGenerator) -> String {
    var view = String.UnicodeScalarView()
    let alphabet = alphabets.randomElement(using: &random)!
    for _ in 0..<Int.random(in: 0...24, using: &random) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random)) {
          view.append(scalar)
        }
      case 1, 2:
        view.append(alphabets.randomElement(using: &random)!.randomElement(using: &random)!)
      default: view.append(alphabet.randomElement(using: &random)!)
      }
    }
    return String(view)
  }
}
