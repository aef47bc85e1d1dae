/// A point in time, in whole milliseconds since 1970-01-01T00:00:00Z, without leap seconds: the
/// precision of every timestamp on the wire.
public struct Instant: Hashable, Sendable, Comparable {
  /// From year 0001 to year 9999, the range that RFC 3339 can write.
  public let milliseconds: Int64

  static let range: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999

  /// Clamps to the years 0001 to 9999.
  public init(milliseconds: Int64) {
    self.milliseconds = min(max(milliseconds, Self.range.lowerBound), Self.range.upperBound)
  }

  public static func < (left: Instant, right: Instant) -> Bool {
    left.milliseconds < right.milliseconds
  }
}

extension Instant: CustomStringConvertible {
  /// RFC 3339 in UTC with three digits of a second, such as `2026-11-21T09:30:00.000Z`.
  public var description: String {
    var writer = JSONWriter()
    writer.bytes(of: self)
    return String(decoding: writer.utf8, as: UTF8.self)
  }

  /// Parses RFC 3339 with any offset; digits below the millisecond are cut off.
  ///
  /// - Returns: nil for anything else, among it days that a month does not have. The leap second
  ///   `:60` is read as the second that follows.
  public init?(_ string: some StringProtocol) {
    let text = Array(string.utf8)
    func number(_ range: Range<Int>) -> Int64? {
      guard range.upperBound <= text.count else { return nil }
      var value: Int64 = 0
      for byte in text[range] {
        guard (48...57).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - 48)
      }
      return value
    }
    guard text.count >= 20, let year = number(0..<4), text[4] == 45, let month = number(5..<7),
      text[7] == 45, let day = number(8..<10), text[10] | 32 == 116, let hour = number(11..<13),
      text[13] == 58, let minute = number(14..<16), text[16] == 58, let second = number(17..<19),
      year >= 1, (1...12).contains(month), day >= 1, day <= Self.days(of: month, in: year),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    var at = 19
    var fraction: Int64 = 0
    if text[at] == 46 {
      at += 1
      let first = at
      while at < text.count, (48...57).contains(text[at]) {
        if at - first < 3 { fraction = fraction * 10 + Int64(text[at] - 48) }
        at += 1
      }
      guard at > first else { return nil }
      for _ in min(at - first, 3)..<3 { fraction *= 10 }
    }
    guard at < text.count else { return nil }
    var offset: Int64 = 0
    if text[at] | 32 == 122 {
      at += 1
    } else if text[at] == 43 || text[at] == 45 {
      guard let hours = number(at + 1..<at + 3), at + 6 == text.count, text[at + 3] == 58,
        let minutes = number(at + 4..<at + 6), hours < 24, minutes < 60
      else { return nil }
      offset = (hours * 60 + minutes) * (text[at] == 43 ? 60 : -60)
      at += 6
    }
    guard at == text.count, at > 19 else { return nil }
    guard text[text.count - 1] | 32 == 122 || offset != 0 || text.count >= 25 else { return nil }
    let seconds =
      Self.dayNumber(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    let milliseconds = seconds * 1000 + fraction
    guard Self.range.contains(milliseconds) else { return nil }
    self.milliseconds = milliseconds
  }

  private static func days(of month: Int64, in year: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  /// Days since 1970-01-01 of a day of the proleptic Gregorian calendar
  /// (H. Hinnant, "chrono-compatible low-level date algorithms", days_from_civil).
  static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The year, month and day of a day number (civil_from_days, same source).
  static func civil(_ dayNumber: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = dayNumber + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
      dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    )
  }
}

extension Instant: Codable {
  public init(from decoder: any Decoder) throws {
    guard let instant = Instant(try decoder.singleValueContainer().decode(String.self)) else {
      throw InvalidValue(
        at: decoder.codingPath, "must be an RFC 3339 timestamp, such as 2026-11-21T09:30:00.000Z")
    }
    self = instant
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
