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
