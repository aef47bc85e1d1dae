import Foundation
import Glibc

/// A vCard: version 3 (RFC 2426), 4 (RFC 6350), or what is written in the way of 2.1.
struct VCard {
  /// One property with its parameters.
  struct Property: Equatable {
    /// In upper case, without a group ("item1.").
    var name: String
    /// Names in upper case; values without quotes.
    var parameters: [String: [String]]
    /// As it stands, its escapes not undone.
    var value: String
  }

  var properties: [Property]

  /// The cards of a file, in order.
  static func cards(in bytes: [UInt8]) throws(FileProblem) -> [VCard] {
    var cards: [VCard] = []
    var open: VCard?
    for (number, line) in Self.lines(of: Self.utf8(bytes)) {
      guard let property = property(line) else {
        // What is no property is left out, as by everybody; the end and beginning decide.
        continue
      }
      switch (property.name, property.value.uppercased()) {
      case ("BEGIN", "VCARD"):
        // A card in a card (AGENT of 2.1) is nobody whom the user calls.
        guard open == nil else { throw FileProblem(line: number, "a card begins within a card") }
        open = VCard(properties: [])
      case ("END", "VCARD"):
        guard let card = open else {
          throw FileProblem(line: number, "a card ends without a begin")
        }
        cards.append(card)
        open = nil
      default: open?.properties.append(property)
      }
    }
    if open != nil { throw FileProblem("the last card does not end") }
    if cards.isEmpty { throw FileProblem("there is no card in it") }
    return cards
  }

  /// The first property of a name, and its value without escapes.
  func text(_ name: String) -> String? {
    properties.first { $0.name == name }.map { Self.unescaped($0.value[...]) }
      .flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The parts of a structured value: what stands between `separator`s that are not escaped.
  static func parts(_ value: String, by separator: Character) -> [String] {
    rawParts(value, by: separator).map(unescaped)
  }

  /// The same, with their escapes.
  static func rawParts(_ value: String, by separator: Character) -> [Substring] {
    var parts: [Substring] = []
    var start = value.startIndex
    var index = value.startIndex
    while index < value.endIndex {
      if value[index] == "\\" {
        index = value.index(after: index)
        if index == value.endIndex { break }
      } else if value[index] == separator {
        parts.append(value[start..<index])
        start = value.index(after: index)
      }
      index = value.index(after: index)
    }
    parts.append(value[start...])
    return parts
  }

  /// RFC 6350, section 3.4.
  private static func unescaped(_ value: Substring) -> String {
    var text = ""
    var isEscaped = false
    for character in value {
      if isEscaped {
        text.append(character == "n" || character == "N" ? " " : character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else {
        text.append(character)
      }
    }
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  // MARK: Lines

  /// Bytes as UTF-8 where a byte order mark says UTF-16.
  private static func utf8(_ bytes: [UInt8]) -> [UInt8] {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
    if bytes.starts(with: [0xFE, 0xFF]) || bytes.starts(with: [0xFF, 0xFE]) {
      return String(data: Data(bytes), encoding: .utf16).map { Array($0.utf8) } ?? bytes
    }
    return bytes
  }

  /// Logical lines: folded ones put together (RFC 6350, section 3.2), and those of 2.1 that go on
  /// behind a soft line break.
  private static func lines(of bytes: [UInt8]) -> [(Int, [UInt8])] {
    var lines: [(Int, [UInt8])] = []
    for (index, raw) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
    {
      let line = raw.last == 0x0D ? raw.dropLast() : raw
      if let last = lines.last?.1, last.last == UInt8(ascii: "="), isQuotedPrintable(last) {
        lines[lines.count - 1].1.removeLast()
        lines[lines.count - 1].1 += line
      } else if let first = line.first, first == 0x20 || first == 0x09, !lines.isEmpty {
        lines[lines.count - 1].1 += line.dropFirst()
      } else if !line.isEmpty {
        lines.append((index + 1, Array(line)))
      }
    }
    return lines
  }

  private static func isQuotedPrintable(_ line: [UInt8]) -> Bool {
    String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).uppercased()
      .contains("QUOTED-PRINTABLE")
  }

  private static func property(_ line: [UInt8]) -> Property? {
    guard let colon = unquoted(UInt8(ascii: ":"), in: line).first else { return nil }
    let head = String(decoding: line[..<colon], as: UTF8.self)
    let semicolons = unquoted(UInt8(ascii: ";"), in: Array(head.utf8))
    var words: [String] = []
    var start = 0
    let bytes = Array(head.utf8)
    for end in semicolons + [bytes.count] {
      words.append(String(decoding: bytes[start..<end], as: UTF8.self))
      start = end + 1
    }
    let name = words[0].split(separator: ".").last.map { $0.uppercased() } ?? ""
    guard !name.isEmpty else { return nil }
    var parameters: [String: [String]] = [:]
    for word in words.dropFirst() {
      let pair = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      // In 2.1 the value of ENCODING and TYPE may stand alone.
      let key = pair.count == 2 ? pair[0].uppercased() : "ENCODING"
      let value = String(pair.last ?? "").replacing("\"", with: "")
      parameters[key, default: []].append(value)
    }
    let raw = Array(line[(colon + 1)...])
    return Property(name: name, parameters: parameters, value: decoded(raw, parameters))
  }

  private static func unquoted(_ byte: UInt8, in line: [UInt8]) -> [Int] {
    var isQuoted = false
    var found: [Int] = []
    for (index, each) in line.enumerated() {
      if each == UInt8(ascii: "\"") { isQuoted.toggle() }
      if each == byte, !isQuoted { found.append(index) }
    }
    return found
  }

  // MARK: Values

  private static func decoded(_ raw: [UInt8], _ parameters: [String: [String]]) -> String {
    let encodings = (parameters["ENCODING"] ?? []).map { $0.uppercased() }
    let bytes = encodings.contains("QUOTED-PRINTABLE") ? quotedPrintable(raw) : raw
    if let charset = parameters["CHARSET"]?.first, charset.uppercased() != "UTF-8",
      let text = converted(bytes, from: charset)
    {
      return text
    }
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    // Files of old telephones say nothing, and are in the charset of Windows.
    return converted(bytes, from: "WINDOWS-1252") ?? String(decoding: bytes, as: UTF8.self)
  }

  /// RFC 2045, section 6.7.
  private static func quotedPrintable(_ raw: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = raw[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "="), rest.count >= 2,
        let high = Character(Unicode.Scalar(rest[rest.startIndex])).hexDigitValue,
        let low = Character(Unicode.Scalar(rest[rest.startIndex + 1])).hexDigitValue
      {
        bytes.append(UInt8(high << 4 | low))
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  /// Nil where the charset is not known, or the bytes are none of it.
  private static func converted(_ bytes: [UInt8], from charset: String) -> String? {
    let descriptor = iconv_open("UTF-8", charset)
    guard descriptor != iconv_t(bitPattern: -1) else { return nil }
    defer { iconv_close(descriptor) }
    var input = bytes.map { CChar(bitPattern: $0) }
    var output = [CChar](repeating: 0, count: bytes.count * 4 + 16)
    var inputLeft = input.count
    var outputLeft = output.count
    let failed = input.withUnsafeMutableBufferPointer { source in
      output.withUnsafeMutableBufferPointer { target in
        var from = source.baseAddress
        var to = target.baseAddress
        // (size_t)-1 is its error.
        return iconv(descriptor, &from, &inputLeft, &to, &outputLeft) == Int(bitPattern: UInt.max)
          || inputLeft > 0
      }
    }
    guard !failed else { return nil }
    let text = output[..<(output.count - outputLeft)].map { UInt8(bitPattern: $0) }
    return String(validating: text, as: UTF8.self)
  }
}
