import COpenSSL
import Glibc

/// Certificates and keys out of PEM files (RFC 7468).
enum PEM {
  /// An `X509*` of our own.
  final class Certificate {
    let pointer: OpaquePointer
    init(owning pointer: OpaquePointer) { self.pointer = pointer }
    deinit { X509_free(pointer) }
  }

  /// An `EVP_PKEY*` of our own, and the permissions of its file.
  final class PrivateKey {
    let pointer: OpaquePointer
    let mode: mode_t
    init(owning pointer: OpaquePointer, mode: mode_t) {
      self.pointer = pointer
      self.mode = mode
    }
    deinit { EVP_PKEY_free(pointer) }
  }

  /// The certificates of a file in its order, at least one.
  static func certificates(in file: String) throws(TLSError) -> [Certificate] {
    let contents = try SecretFile.read(file)
    let memory = try reader(of: contents.bytes)
    defer { BIO_free(memory) }
    var certificates: [Certificate] = []
    while let pointer = PEM_read_bio_X509(memory, nil, nil, nil) {
      certificates.append(Certificate(owning: pointer))
    }
    // Reading past the last block also fails, with "no start line".
    let reason = vocative_error_reason(ERR_peek_last_error())
    if !certificates.isEmpty && reason == PEM_R_NO_START_LINE {
      ERR_clear_error()
      return certificates
    }
    if reason == PEM_R_NO_START_LINE {
      ERR_clear_error()
      throw TLSError(.notPEM, "\(file) holds no certificate in PEM form")
    }
    throw .fromQueue(.notPEM, "\(file) holds a damaged certificate")
  }

  /// The first private key of a file.
  static func privateKey(in file: String) throws(TLSError) -> PrivateKey {
    var contents = try SecretFile.read(file)
    defer { contents.bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
    let memory = try reader(of: contents.bytes)
    defer { BIO_free(memory) }
    var askedForPassword = false
    let pointer = PEM_read_bio_PrivateKey(
      memory, nil,
      { _, _, _, asked in
        asked?.storeBytes(of: true, as: Bool.self)
        return -1
      }, &askedForPassword)
    if let pointer { return PrivateKey(owning: pointer, mode: contents.mode) }
    if askedForPassword {
      ERR_clear_error()
      throw TLSError(
        .encryptedKey, "\(file) is encrypted; decrypt it with: openssl pkey -in \(file)")
    }
    // OpenSSL's decoders say "unsupported" of whatever they cannot read.
    guard contents.bytes.contains(Array("PRIVATE KEY-----".utf8)) else {
      ERR_clear_error()
      throw TLSError(.notPEM, "\(file) holds no private key in PEM form")
    }
    throw .fromQueue(.notPEM, "\(file) holds a damaged private key")
  }

  /// A memory BIO with a copy of the bytes; it wipes them when freed (`BIO_s_secmem`).
  private static func reader(of bytes: [UInt8]) throws(TLSError) -> OpaquePointer {
    ERR_clear_error()
    guard let memory = BIO_new(BIO_s_secmem()),
      bytes.isEmpty || BIO_write(memory, bytes, Int32(bytes.count)) == Int32(bytes.count)
    else { throw .fromQueue(.unreadableFile, "OpenSSL has no memory") }
    return memory
  }
}
