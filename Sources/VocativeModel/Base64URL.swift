/// Base64 with the URL-safe alphabet and no padding (RFC 4648, section 5). Every request for changes
/// reads or writes a token, and Foundation's base64 with its characters replaced took longer than
/// the signature.
public enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static let values: [UInt8] = {
    var values = [UInt8](repeating: .max, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }()

  /// 4 characters for each 3 bytes.
  public static func encode(_ bytes: [UInt8]) -> String {
    let count = (bytes.count * 8 + 5) / 6
    return String(unsafeUninitializedCapacity: count) { text in
      for index in 0..<count {
        let (byte, shift) = (index * 6 / 8, index * 6 % 8)
        let next = byte + 1 < bytes.count ? bytes[byte + 1] : 0
        let pair = UInt16(bytes[byte]) << 8 | UInt16(next)
        text[index] = alphabet[Int(pair >> (10 - shift) & 63)]
      }
      return count
    }
  }

  /// Nil for anything that `encode` would not write: a token has one spelling.
  public static func decode(_ text: String) -> [UInt8]? {
    let text = text.utf8
    guard text.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 6 / 8)
    var bits: UInt32 = 0
    var held = 0
    for character in text {
      let value = values[Int(character)]
      guard value < 64 else { return nil }
      bits = bits << 6 | UInt32(value)
      held += 6
      if held >= 8 {
        held -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> held))
        bits &= (1 << held) - 1
      }
    }
    return bits == 0 ? bytes : nil
  }
}
