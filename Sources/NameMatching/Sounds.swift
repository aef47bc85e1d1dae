/// Keys by sound, for Latin letters.
enum Sounds {
  private static func isVowel(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "i"), UInt8(ascii: "o"),
      UInt8(ascii: "u"), UInt8(ascii: "y"):
      true
    default: false
    }
  }

  /// What an English or French ear keeps of a word: consonants in classes, and whether it begins
  /// with a vowel. In the spirit of Metaphone (Lawrence Philips, 1990).
  static func key(_ word: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    var index = 0
    func at(_ offset: Int) -> UInt8 {
      let place = index + offset
      return place >= 0 && place < word.count ? word[place] : 0
    }
    func put(_ code: Unicode.Scalar) {
      let byte = UInt8(ascii: code)
      if out.last != byte { out.append(byte) }
    }
    while index < word.count {
      let next = at(1)
      var width = 1
      switch Unicode.Scalar(word[index]) {
      case "a", "e", "i", "o", "u":
        if index == 0 { put("A") }
      case "y":
        if index == 0 { put(isVowel(next) ? "Y" : "A") }
      case "b": put("P")
      case "p":
        if next == UInt8(ascii: "h") {
          put("F")
          width = 2
        } else if !(index == 0 && next == UInt8(ascii: "s")) {
          put("P")
        }
      case "c":
        if next == UInt8(ascii: "h") {
          put("X")
          width = 2
        } else if next == UInt8(ascii: "k") || next == UInt8(ascii: "c") {
          put("K")
          width = 2
        } else if next == UInt8(ascii: "e") || next == UInt8(ascii: "i")
          || next == UInt8(ascii: "y")
        {
          put("S")
        } else {
          put("K")
        }
      case "s":
        if next == UInt8(ascii: "h") {
          put("X")
          width = 2
        } else if next == UInt8(ascii: "c"), at(2) == UInt8(ascii: "h") {
          put("X")
          width = 3
        } else {
          put("S")
        }
      case "x":
        put(index == 0 ? "S" : "K")
        if index > 0 { put("S") }
      case "z": put("S")
      case "t":
        if next == UInt8(ascii: "h") { width = 2 }
        if next == UInt8(ascii: "s"), at(2) == UInt8(ascii: "c"), at(3) == UInt8(ascii: "h") {
          put("X")
          width = 4
        } else {
          put("T")
        }
      case "d":
        if next == UInt8(ascii: "g"), at(2) == UInt8(ascii: "e") {
          put("J")
          width = 2
        } else {
          put("T")
        }
      case "g":
        if next == UInt8(ascii: "h") {
          if index == 0 { put("K") }
          width = 2
        } else if next == UInt8(ascii: "n") {
          put("N")
          width = 2
        } else if next == UInt8(ascii: "e") || next == UInt8(ascii: "i")
          || next == UInt8(ascii: "y")
        {
          put("J")
        } else {
          put("K")
        }
      case "j": put("J")
      case "k":
        if !(index == 0 && next == UInt8(ascii: "n")) { put("K") }
      case "q": put("K")
      case "f", "v": put("F")
      case "w":
        if index == 0, next == UInt8(ascii: "r") { break }
        if isVowel(next) || (index == 0 && next == UInt8(ascii: "h")) { put("W") }
      case "l": put("L")
      case "r": put("R")
      case "m": put("M")
      case "n": put("N")
      case "h":
        if index == 0 || !isVowel(at(-1)), isVowel(next) { put("H") }
      default: break
      }
      index += width
    }
    return out
  }

  /// A coarse key that Latin spellings share with pinyin and with how foreigners hear it:
  /// consonants in wide classes, finals n and ng alike, no vowels.
  static func skeleton(_ word: [UInt8], into out: inout [UInt8]) {
    out.removeAll(keepingCapacity: true)
    var index = 0
    func at(_ offset: Int) -> UInt8 {
      let place = index + offset
      return place >= 0 && place < word.count ? word[place] : 0
    }
    func put(_ code: Unicode.Scalar) { out.append(UInt8(ascii: code)) }
    while index < word.count {
      let letter = word[index]
      let next = at(1)
      var width = 1
      // A doubled consonant is one.
      if letter == next, !isVowel(letter) { width = 2 }
      switch Unicode.Scalar(letter) {
      case "b", "p":
        if letter == UInt8(ascii: "p"), next == UInt8(ascii: "h") {
          put("F")
          width = 2
        } else {
          put("P")
        }
      case "d", "t":
        put("T")
        if next == UInt8(ascii: "h") { width = 2 }
        if next == UInt8(ascii: "s"), !isVowel(at(2)) || at(2) == UInt8(ascii: "u") {
          out[out.count - 1] = UInt8(ascii: "S")
          width = 2
        }
      case "g", "k", "q":
        if letter == UInt8(ascii: "g"), next == UInt8(ascii: "h") {
          if index == 0 { put("K") }
          width = 2
        } else if letter == UInt8(ascii: "k"), index == 0, next == UInt8(ascii: "n") {
          break
        } else if letter == UInt8(ascii: "g"),
          next == UInt8(ascii: "i") || next == UInt8(ascii: "y") && index > 0
        {
          put("J")
        } else if letter == UInt8(ascii: "q"), next != UInt8(ascii: "u") || isVowel(at(2)) == false
        {
          put("J")
        } else {
          put("K")
          if letter == UInt8(ascii: "q") { width = 2 }
        }
      case "c":
        if next == UInt8(ascii: "h") {
          put("J")
          width = 2
        } else if next == UInt8(ascii: "k") {
          put("K")
          width = 2
        } else if next == UInt8(ascii: "e") || next == UInt8(ascii: "i")
          || next == UInt8(ascii: "y")
        {
          put("S")
        } else {
          put("K")
        }
      case "j": put("J")
      case "z":
        put(next == UInt8(ascii: "h") ? "J" : "S")
        if next == UInt8(ascii: "h") { width = 2 }
      case "s":
        put("S")
        if next == UInt8(ascii: "h") { width = 2 }
        if next == UInt8(ascii: "c"), at(2) == UInt8(ascii: "h") { width = 3 }
      case "x":
        if index == 0 || isVowel(next) && next == UInt8(ascii: "i") || next == UInt8(ascii: "u") {
          put("S")
        } else {
          put("K")
          put("S")
        }
      case "f": put("F")
      case "v": put("W")
      case "w":
        if isVowel(next) { put("W") } else if next == UInt8(ascii: "r"), index == 0 { break }
      case "l", "r":
        if letter == UInt8(ascii: "r"), !isVowel(next), index > 0 { break }
        put("L")
      case "m": put("M")
      case "n":
        put("N")
        if next == UInt8(ascii: "g"), !isVowel(at(2)) { width = 2 }
      case "h":
        if isVowel(next), index == 0 || isVowel(at(-1)) || at(-1) == UInt8(ascii: "n") { put("H") }
      default: break
      }
      index += width
    }
  }

  /// Pinyin or a word with the pairs merged that speakers and recognisers mix up: zh z, ch c, sh s,
  /// n l, final ng n.
  static func fuzzy(_ letters: [UInt8], into out: inout [UInt8]) {
    out.removeAll(keepingCapacity: true)
    var index = 0
    while index < letters.count {
      let letter = letters[index]
      let next = index + 1 < letters.count ? letters[index + 1] : 0
      switch letter {
      case UInt8(ascii: "z"), UInt8(ascii: "c"), UInt8(ascii: "s"):
        out.append(letter)
        index += next == UInt8(ascii: "h") ? 2 : 1
      case UInt8(ascii: "n") where next == UInt8(ascii: "g"):
        out.append(UInt8(ascii: "l"))
        index += 2
      case UInt8(ascii: "n"):
        out.append(UInt8(ascii: "l"))
        index += 1
      default:
        out.append(letter)
        index += 1
      }
    }
  }
}
