import Logging

/// One line of a log in the making.
struct LogLine {
  /// Longest message or value, in bytes; the rest is cut off.
  static let maximumValueBytes = 4096
  /// Deepest nesting of metadata that is written; below stands an ellipsis.
  static let maximumDepth = 8

  private var text = ""
  private let timestamp: String
  private let label: String

  init(timestamp: String, label: String) {
    self.timestamp = timestamp
    self.label = label
  }

  /// The line with its newline.
  var bytes: [UInt8] { Array(text.utf8) + [UInt8(ascii: "\n")] }

  mutating func appendText(_ event: LogEvent, metadata: Logger.Metadata) {
    let level = event.level.rawValue.uppercased()
    text += "\(timestamp) \(level)"
    text += String(repeating: " ", count: max(0, 8 - level.utf8.count))
    text += " \(Escape.terminal(label)): \(Escape.terminal(Self.cut(event.message.description)))"
    for (key, value) in metadata.sorted(by: { $0.key < $1.key }) {
      text += " \(Self.word(key))="
      switch value {
      case .string(let value): text += Self.word(value)
      case .stringConvertible(let value): text += Self.word(value.description)
      case .array, .dictionary: append(json: value, depth: 0)
      }
    }
  }

  mutating func appendJSON(_ event: LogEvent, metadata: Logger.Metadata) {
    text += "{\"timestamp\":\"\(timestamp)\",\"level\":\"\(event.level.rawValue)\",\"label\":"
    text += Escape.json(label)
    text += ",\"message\":"
    text += Escape.json(Self.cut(event.message.description))
    if !metadata.isEmpty {
      text += ",\"metadata\":"
      append(json: .dictionary(metadata), depth: 0)
    }
    text += "}"
  }

  private mutating func append(json value: Logger.Metadata.Value, depth: Int) {
    guard depth <= Self.maximumDepth else {
      text += "\"…\""
      return
    }
    switch value {
    case .string(let value): text += Escape.json(Self.cut(value))
    case .stringConvertible(let value): text += Escape.json(Self.cut(value.description))
    case .array(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        append(json: value, depth: depth + 1)
      }
      text += "]"
    case .dictionary(let members):
      text += "{"
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { text += "," }
        text += Escape.json(member.key) + ":"
        append(json: member.value, depth: depth + 1)
      }
      text += "}"
    }
  }

  /// A value as it is where it has no spaces, quotes or equals signs, else quoted.
  private static func word(_ value: String) -> String {
    let value = cut(value)
    let isPlain =
      !value.isEmpty
      && value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"=\\".utf8.contains($0) }
    return isPlain ? value : Escape.json(value)
  }

  private static func cut(_ value: String) -> String {
    guard value.utf8.count > maximumValueBytes else { return value }
    var end = value.utf8.index(value.startIndex, offsetBy: maximumValueBytes)
    while end.samePosition(in: value.unicodeScalars) == nil {
      end = value.utf8.index(before: end)
    }
    return value[..<end] + "…"
  }
}

/// Ways to write a text so that it stays on its line and what it shows is what it is.
enum Escape {
  /// A JSON string with its quotes (RFC 8259, section 7).
  static func json(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where isHarmful(scalar): result += "\\u" + fourDigits(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }

  /// Text for a terminal: as it is, but for control characters, which are written as in JSON.
  static func terminal(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHarmful) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where isHarmful(scalar): result += "\\u" + fourDigits(scalar)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Control characters, line separators, and marks that reorder the text around them.
  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C: true
    default: false
    }
  }

  private static func fourDigits(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }
}

/// A point in time, given in milliseconds since 1970, as RFC 3339 writes it, in UTC.
func rfc3339(milliseconds: Int64) -> String {
  func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
  func divided(_ number: Int64, by divisor: Int64) -> (Int64, Int64) {
    let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
  }
  let (seconds, fraction) = divided(milliseconds, by: 1000)
  let (days, second) = divided(seconds, by: 86400)
  // Days to a date in the proleptic Gregorian calendar, in eras of 400 years that begin in March.
  let (era, dayOfEra) = divided(days + 719_468, by: 146_097)
  let year = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
  let monthFromMarch = (5 * dayOfYear + 2) / 153
  let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
  let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  let date =
    "\(padded(era * 400 + year + (month <= 2 ? 1 : 0), 4))-\(padded(month, 2))-\(padded(day, 2))"
  let time = "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
  return "\(date)T\(time).\(padded(fraction, 3))Z"
}
