/// The `tracestate` header (W3C Trace Context, Level 2, section 3.3).
enum TraceState {
  static let maximumMembers = 32
  /// Longest value that is handed on; what is longer is shortened by whole members.
  static let maximumBytes = 512

  /// The members of all headers in one value, or nil when one is not valid: then none counts.
  static func normalised(_ headers: [String]) -> String? {
    var members: [Substring] = []
    var keys: Set<Substring> = []
    for header in headers {
      for part in header.split(separator: ",", omittingEmptySubsequences: false) {
        let member = trimmed(part)
        if member.isEmpty { continue }
        let equals = member.firstIndex(of: "=") ?? member.endIndex
        let key = member[..<equals]
        guard members.count < maximumMembers, equals < member.endIndex,
          isKey(key.utf8), isValue(member[member.index(after: equals)...].utf8),
          keys.insert(key).inserted
        else { return nil }
        members.append(member)
      }
    }
    return shortened(members).joined(separator: ",")
  }

  /// Drops long members first, then the last ones (section 3.3.1.5).
  private static func shortened(_ members: [Substring]) -> [Substring] {
    func size(_ members: [Substring]) -> Int { members.reduce(-1) { $0 + $1.utf8.count + 1 } }
    var members = members
    if size(members) > maximumBytes { members.removeAll { $0.utf8.count > 128 } }
    while size(members) > maximumBytes { members.removeLast() }
    return members
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text.drop { $0 == " " || $0 == "\t" }
  }

  private static func isKey(_ key: Substring.UTF8View) -> Bool {
    guard (1...256).contains(key.count), let first = key.first else { return false }
    return isLowerOrDigit(first)
      && key.allSatisfy { byte in isLowerOrDigit(byte) || "_-*/@".utf8.contains(byte) }
  }

  private static func isLowerOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isValue(_ value: Substring.UTF8View) -> Bool {
    (1...256).contains(value.count)
      && value.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x2C && $0 != 0x3D }
  }
}
