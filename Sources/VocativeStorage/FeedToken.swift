public import Crypto
public import FoundationEssentials
public import VocativeModel

/// A place in a user's feed, as it goes to clients: opaque to them, signed, and complete, so that
/// any replica serves any token and nothing is stored for it.
public struct FeedToken: Sendable, Hashable {
  /// The database's epoch; another one's numbers mean nothing.
  public var epoch: UUID
  /// The head when the follower last was up to date: what changed since is counted from here,
  /// until it is up to date again.
  public var base: Int64
  /// The highest place whose changes it has.
  public var cursor: Int64
  /// While the initial sync goes on: it has what lies at or above. Nil when it is over.
  public var bound: Int64?

  public init(epoch: UUID, base: Int64, cursor: Int64, bound: Int64?) {
    self.epoch = epoch
    self.base = base
    self.cursor = cursor
    self.bound = bound
  }

  private static let version: UInt8 = 1
  private static let bodyLength = 1 + 16 + 3 * 8
  private static let signatureLength = 32

  /// The token in base64url (RFC 4648), 98 characters. The signature covers the user, too, who is
  /// not in the text.
  public func string(for user: UserID, key: SymmetricKey) -> String {
    var body: [UInt8] = [Self.version]
    body.reserveCapacity(Self.bodyLength + Self.signatureLength)
    withUnsafeBytes(of: epoch.uuid) { body.append(contentsOf: $0) }
    for number in [base, cursor, bound ?? -1] {
      withUnsafeBytes(of: number.bigEndian) { body.append(contentsOf: $0) }
    }
    body.append(
      contentsOf: HMAC<SHA256>.authenticationCode(for: Self.signed(body, user), using: key))
    return Base64URL.encode(body)
  }

  /// Reads a token that was made for this user with this key; nil for anything else.
  public init?(_ string: String, for user: UserID, key: SymmetricKey) {
    guard let bytes = Base64URL.decode(string),
      bytes.count == Self.bodyLength + Self.signatureLength, bytes[0] == Self.version
    else { return nil }
    let body = Array(bytes[..<Self.bodyLength])
    guard
      HMAC<SHA256>.isValidAuthenticationCode(
        Array(bytes[Self.bodyLength...]), authenticating: Self.signed(body, user), using: key)
    else { return nil }
    var raw = UUID().uuid
    withUnsafeMutableBytes(of: &raw) { $0.copyBytes(from: body[1..<17]) }
    func number(at first: Int) -> Int64 {
      body[first..<first + 8].reduce(0) { $0 << 8 | Int64($1) }
    }
    epoch = UUID(uuid: raw)
    base = number(at: 17)
    cursor = number(at: 25)
    let bound = number(at: 33)
    self.bound = bound < 0 ? nil : bound
  }

  private static func signed(_ body: [UInt8], _ user: UserID) -> [UInt8] {
    Array("vocative feed token\0".utf8) + body + Array(user.string.utf8)
  }
}

/// Base64 with the URL-safe alphabet and no padding (RFC 4648, section 5). Every request for changes
/// reads or writes a token, and Foundation's base64 with its characters replaced took longer than
/// the signature.
enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static let values: [UInt8] = {
    var values = [UInt8](repeating: .max, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
  }()

  static func encode(_ bytes: [UInt8]) -> String {
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
  static func decode(_ text: String) -> [UInt8]? {
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
