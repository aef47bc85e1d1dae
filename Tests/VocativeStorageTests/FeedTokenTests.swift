import Crypto
import FoundationEssentials
import Testing
import TestSupport
import VocativeModel
import VocativeStorage

@Suite struct FeedTokenTests {
  private let key = SymmetricKey(size: .bits256)
  private let token = FeedToken(epoch: UUID(), base: 17, cursor: 1 << 40, bound: nil)

  @Test func isReadAsItWasWritten() {
    for bound in [nil, 0, 1, Int64.max] as [Int64?] {
      var token = token
      token.bound = bound
      let text = token.string(for: UserID(number: 1), key: key)
      #expect(text.utf8.count == 98)
      #expect(FeedToken(text, for: UserID(number: 1), key: key) == token)
    }
  }

  @Test func anyChangeMakesItInvalid() {
    let text = token.string(for: UserID(number: 1), key: key)
    #expect(FeedToken(text, for: UserID(number: 2), key: key) == nil)
    #expect(FeedToken(text, for: UserID(number: 1), key: SymmetricKey(size: .bits256)) == nil)
    var random = SeededGenerator.announced()
    let characters = Array("ABCabc019-_=+/ ")
    for index in text.indices {
      var changed = text
      let other = characters.filter { $0 != text[index] }.randomElement(using: &random)!
      changed.replaceSubrange(index...index, with: [other])
      #expect(FeedToken(changed, for: UserID(number: 1), key: key) == nil)
    }
    for text in ["", "a", String(text.dropLast()), text + "A", text + "=", "é" + text] {
      #expect(FeedToken(text, for: UserID(number: 1), key: key) == nil)
    }
  }
}
