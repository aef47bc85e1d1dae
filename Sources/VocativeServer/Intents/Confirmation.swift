import Crypto
import FoundationEssentials
import VocativeModel
import VocativeStorage

/// The right to send one message once: what `confirm` hands out and `handle` takes. It is complete
/// and signed, so that any replica takes any and nothing is stored for it.
struct Confirmation: Sendable, Hashable {
  /// What was confirmed.
  var digest: [UInt8]
  /// The conversation that the message goes to; it may have yet to be made.
  var thread: ThreadID
  /// The id that the entry will have: sent twice, it is the same entry.
  var entry: EntryID
  var expiresAt: Instant

  private static let version: UInt8 = 1
  private static let bodyLength = 1 + 8 + 16 + 16 + 32
  private static let signatureLength = 32

  init(_ intent: MessageIntent, to thread: ThreadID, as entry: EntryID, until end: Instant) {
    digest = Self.digest(of: intent)
    self.thread = thread
    self.entry = entry
    expiresAt = end
  }

  /// The confirmation in base64url, 140 characters. The signature covers the user, too, who is not
  /// in the text.
  func string(for user: UserID, key: SymmetricKey) -> String {
    var body: [UInt8] = [Self.version]
    body.reserveCapacity(Self.bodyLength + Self.signatureLength)
    withUnsafeBytes(of: expiresAt.milliseconds.bigEndian) { body.append(contentsOf: $0) }
    for id in [thread.uuid, entry.uuid] {
      withUnsafeBytes(of: id.uuid) { body.append(contentsOf: $0) }
    }
    body += digest
    body.append(
      contentsOf: HMAC<SHA256>.authenticationCode(for: Self.signed(body, user), using: key))
    return Base64URL.encode(body)
  }

  /// Reads a confirmation that was made for this user with this key; nil for anything else.
  init?(_ string: String, for user: UserID, key: SymmetricKey) {
    guard string.utf8.count < 256, let bytes = Base64URL.decode(string),
      bytes.count == Self.bodyLength + Self.signatureLength, bytes[0] == Self.version
    else { return nil }
    let body = Array(bytes[..<Self.bodyLength])
    guard
      HMAC<SHA256>.isValidAuthenticationCode(
        Array(bytes[Self.bodyLength...]), authenticating: Self.signed(body, user), using: key)
    else { return nil }
    expiresAt = Instant(milliseconds: body[1..<9].reduce(0) { $0 << 8 | Int64($1) })
    thread = ThreadID(Self.uuid(body[9..<25]))
    entry = EntryID(Self.uuid(body[25..<41]))
    digest = Array(body[41...])
  }

  /// Whether it is about this message.
  func binds(_ intent: MessageIntent) -> Bool { digest == Self.digest(of: intent) }

  private static func digest(of intent: MessageIntent) -> [UInt8] {
    Array(SHA256.hash(data: intent.recipients.normalized + [0] + Array(intent.content.utf8)))
  }

  private static func signed(_ body: [UInt8], _ user: UserID) -> [UInt8] {
    Array("vocative confirmation\0".utf8) + body + Array(user.string.utf8)
  }

  fileprivate static func uuid(_ bytes: ArraySlice<UInt8>) -> UUID {
    var raw = UUID().uuid
    withUnsafeMutableBytes(of: &raw) { $0.copyBytes(from: bytes) }
    return UUID(uuid: raw)
  }
}

/// Ids for conversations that have yet to be made. The same people get the same ones, so that two
/// of them who write to each other at the same time make one conversation; nobody else can know
/// them and so take them away.
enum ConversationID {
  /// How many there are for the same people; further ones are needed where people came into or
  /// left what was made under the first.
  static let count: UInt8 = 16

  static func candidates(for people: Set<UserID>, key: SymmetricKey) -> [ThreadID] {
    var base = Array("vocative conversation\0".utf8)
    // An id has no control characters, so 0 separates.
    for person in people.sorted() { base += Array(person.string.utf8) + [0] }
    return (0..<count).map { number in
      var bytes = Array(
        HMAC<SHA256>.authenticationCode(for: base + [number], using: key).prefix(16))
      // Version 8 and the variant (RFC 9562, section 5.8).
      bytes[6] = bytes[6] & 0x0f | 0x80
      bytes[8] = bytes[8] & 0x3f | 0x80
      return ThreadID(Confirmation.uuid(bytes[...]))
    }
  }
}
