import COpenSSL

/// The keys that session tickets are sealed with (RFC 5077, RFC 8446 section 4.6.1).
///
/// The file is N × 80 bytes, N from 1 to ``maximumCount``: 16 bytes of name, 32 of AES-256-CBC key,
/// 32 of HMAC-SHA-256 key (the layout of nginx's `ssl_session_ticket_key`). The first key seals new
/// tickets; all of them open old ones. Replicas that have the same file resume each other's
/// sessions; while a rotated file is still on its way to some of them, their clients make a full
/// handshake. Whoever has this file can decrypt TLS 1.2 sessions that used its keys: keep it 0600,
/// rotate it at least daily, and drop old keys.
public struct TicketKeyRing: Sendable {
  /// Bytes of one key in the file.
  public static let keySize = 80
  /// The most keys that a file may hold.
  public static let maximumCount = 16

  let storage: Storage

  /// How many keys there are, 1 to ``maximumCount``.
  public var count: Int { storage.bytes.count / Self.keySize }

  /// Reads a ring from the bytes of a key file.
  /// - Throws: `badTicketKeys` for a wrong size or two keys of the same name.
  public init(bytes: some Collection<UInt8>) throws(TLSError) {
    let storage = Storage(copying: bytes)
    guard !bytes.isEmpty, bytes.count.isMultiple(of: Self.keySize),
      bytes.count <= Self.maximumCount * Self.keySize
    else {
      throw TLSError(
        .badTicketKeys,
        "ticket keys take 1 to \(Self.maximumCount) times \(Self.keySize) bytes, not \(bytes.count)"
      )
    }
    self.storage = storage
    let names = (0..<count).map { Array(key(at: $0)[..<16]) }
    guard Set(names).count == names.count else {
      throw TLSError(.badTicketKeys, "two ticket keys have the same name")
    }
  }

  /// Reads a key file.
  /// - Throws: `unreadableFile`, `insecurePermissions` when group or others may read or write it,
  ///   `badTicketKeys`; each names the file.
  public init(file path: String) throws(TLSError) {
    var contents = try SecretFile.read(path)
    defer { contents.bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
    guard contents.mode & 0o077 == 0 else {
      throw TLSError(
        .insecurePermissions,
        "\(path) can be read or written by others than its owner; run: chmod 600 \(path)")
    }
    do { try self.init(bytes: contents.bytes) } catch {
      throw TLSError(error.code, "\(path): \(error.message)")
    }
  }

  /// A ring of one new random key.
  public static func random() throws(TLSError) -> TicketKeyRing {
    try TicketKeyRing(bytes: randomKey())
  }

  /// Puts a new random key first in the file and keeps the newest `keeping` in all.
  ///
  /// Makes the file when it is missing. The file is replaced whole (rename) with mode 0600, so
  /// that a service that reloads it at any moment sees the old or the new ring. Only one process
  /// may rotate a file at a time.
  /// - Parameter keeping: 1 to ``maximumCount``; a ticket opens for this many rotations.
  /// - Returns: The new ring.
  @discardableResult
  public static func rotate(file path: String, keeping: Int) throws(TLSError) -> TicketKeyRing {
    precondition((1...maximumCount).contains(keeping), "keeping is 1 to \(maximumCount)")
    var bytes = try randomKey()
    if SecretFile.exists(path) {
      let old = try TicketKeyRing(file: path)
      bytes += old.storage.bytes.prefix((keeping - 1) * keySize)
    }
    defer { bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
    let ring = try TicketKeyRing(bytes: bytes)
    try SecretFile.replace(path, with: UnsafeRawBufferPointer(ring.storage.bytes))
    return ring
  }

  /// The 80 bytes of a key: name, AES key, HMAC key.
  func key(at index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      rebasing: storage.bytes[(index * Self.keySize)..<((index + 1) * Self.keySize)])
  }

  private static func randomKey() throws(TLSError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: keySize)
    guard RAND_bytes(&bytes, Int32(keySize)) == 1 else {
      throw .fromQueue(.badTicketKeys, "the random generator failed")
    }
    return bytes
  }

  /// Key bytes that are wiped when the last user lets go of them.
  final class Storage: @unchecked Sendable {
    // Unchecked: written in init only.
    let bytes: UnsafeMutableRawBufferPointer

    init(copying source: some Collection<UInt8>) {
      bytes = .allocate(byteCount: source.count, alignment: 8)
      bytes.copyBytes(from: source)
    }

    deinit {
      OPENSSL_cleanse(bytes.baseAddress, bytes.count)
      bytes.deallocate()
    }
  }
}

extension TicketKeyRing: CustomStringConvertible, CustomReflectable {
  /// How many keys there are; never the keys.
  public var description: String { "TicketKeyRing(\(count) keys)" }
  /// Empty, so that no dump shows a key.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
