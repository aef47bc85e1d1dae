import COpenSSL
import Glibc
import NIOCore

/// One server-side SSL*, fed and drained through byte buffers instead of a socket.
///
/// A BIO of our own reads from ``received`` and appends to ``toSend``; OpenSSL's memory BIOs would
/// copy once more each way.
final class TLSSession {
  /// Where OpenSSL stopped.
  enum Outcome {
    /// The handshake is complete, or the buffer is full and there is more to read.
    case done
    /// All that was received has been used.
    case needsInput
    /// The peer has sent close_notify: nothing more will come.
    case closeNotify
    case failed(TLSError)
  }

  /// Ciphertext that OpenSSL has not read yet.
  fileprivate(set) var received = ByteBuffer()
  /// Ciphertext that has not been handed to the channel yet.
  fileprivate(set) var toSend = ByteBuffer()
  /// Bytes that OpenSSL may still read before the handshake is done.
  fileprivate var handshakeAllowance: Int
  fileprivate var isHandshakeDone = false
  fileprivate var exceededAllowance = false

  private let ssl: OpaquePointer
  /// The context's callbacks work on state that the SSL_CTX owns, and the SSL owns a reference to
  /// the SSL_CTX; kept for what Swift code asks of it.
  private let context: TLSContext

  init(_ context: TLSContext, handshakeBytes: Int) throws(TLSError) {
    ERR_clear_error()
    guard let ssl = SSL_new(context.pointer) else {
      throw .fromQueue(.badConfiguration, "OpenSSL made no connection")
    }
    guard let method = bioMethod.pointer, let bio = BIO_new(method) else {
      SSL_free(ssl)
      throw .fromQueue(.badConfiguration, "OpenSSL made no BIO")
    }
    self.ssl = ssl
    self.context = context
    handshakeAllowance = handshakeBytes
    // Unretained: the BIO is the SSL's, and the SSL is freed in this object's deinit.
    BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    SSL_set_bio(ssl, bio, bio)
    SSL_set_accept_state(ssl)
  }

  deinit { SSL_free(ssl) }

  /// What was agreed on; only after the handshake.
  var info: TLSConnectionInfo { TLSConnectionInfo(ssl) }

  /// The negotiated protocol, cheaper than ``info``.
  var applicationProtocol: String? {
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &length)
    return name.map {
      String(decoding: UnsafeBufferPointer(start: $0, count: Int(length)), as: UTF8.self)
    }
  }

  func receive(_ buffer: inout ByteBuffer) {
    if received.readableBytes == 0 { received = buffer } else { received.writeBuffer(&buffer) }
  }

  /// An idle connection holds no buffer.
  func releaseInput() {
    if received.readableBytes == 0 { received = ByteBuffer() }
  }

  func takeOutput() -> ByteBuffer {
    defer { toSend = ByteBuffer() }
    return toSend
  }

  func handshake() -> Outcome {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    guard result != 1 else {
      isHandshakeDone = true
      return finishHandshake()
    }
    if exceededAllowance {
      ERR_clear_error()
      return .failed(TLSError(.handshakeTooLarge, "the handshake exceeds its limit in bytes"))
    }
    return outcome(of: result, code: .handshakeFailed, "the TLS handshake failed")
  }

  /// A resumed session brings its client certificate along without verifying it again.
  private func finishHandshake() -> Outcome {
    guard context.asksForCertificate, SSL_session_reused(ssl) == 1,
      let certificate = SSL_get0_peer_certificate(ssl),
      !TLSCertificate(certificate).isValid(at: Int64(time(nil)))
    else { return .done }
    return .failed(
      TLSError(.handshakeFailed, "the client certificate of a resumed session has expired"))
  }

  /// Decrypts what was received.
  /// - Returns: The plaintext, nil when there is none, and why it ends there.
  func decrypt(_ allocator: ByteBufferAllocator) -> (ByteBuffer?, Outcome) {
    let expected = received.readableBytes + Int(SSL_pending(ssl))
    guard expected > 0 else { return (nil, .needsInput) }
    var plaintext = allocator.buffer(capacity: expected)
    var result: Int32 = 1
    var isUsedUp = false
    ERR_clear_error()
    plaintext.writeWithUnsafeMutableBytes(minimumWritableBytes: expected) { target in
      var total = 0
      while total < target.count, !isUsedUp {
        var count = 0
        result = SSL_read_ex(ssl, target.baseAddress! + total, target.count - total, &count)
        guard result == 1 else { break }
        total += count
        // Asking once more only to be told that there is no more costs as much as a short read.
        isUsedUp = received.readableBytes == 0 && SSL_has_pending(ssl) == 0
      }
      return total
    }
    let end: Outcome
    if result != 1 {
      end = outcome(of: result, code: .protocolViolation, "the TLS connection failed")
    } else {
      end = isUsedUp ? .needsInput : .done
    }
    return (plaintext.readableBytes > 0 ? plaintext : nil, end)
  }

  /// Encrypts a buffer into ``toSend``.
  func encrypt(_ plaintext: ByteBuffer) throws(TLSError) {
    let count = plaintext.readableBytes
    guard count > 0 else { return }
    // Header, content type, nonce and tag take at most 29 bytes a record, of 16 KiB each.
    toSend.reserveCapacity(minimumWritableBytes: count + (count / 16384 + 1) * 32)
    var written = 0
    let result = plaintext.withUnsafeReadableBytes {
      SSL_write_ex(ssl, $0.baseAddress, $0.count, &written)
    }
    guard result == 1 else {
      throw .fromQueue(.protocolViolation, "OpenSSL refuses to encrypt")
    }
  }

  /// Puts close_notify into ``toSend``. Not after a failure.
  func closeOutput() {
    ERR_clear_error()
    _ = SSL_shutdown(ssl)
    ERR_clear_error()
  }

  private func outcome(of result: Int32, code: TLSError.Code, _ message: String) -> Outcome {
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ: .needsInput
    case SSL_ERROR_ZERO_RETURN: .closeNotify
    default: .failed(.fromQueue(code, message))
    }
  }
}

// MARK: The BIO

private struct BIOMethod: @unchecked Sendable {
  // Unchecked: made once and not changed.
  let pointer: OpaquePointer?
}

private let bioMethod: BIOMethod = {
  let type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
  guard let method = BIO_meth_new(type, "ByteBuffer") else { return BIOMethod(pointer: nil) }
  BIO_meth_set_create(method) { bio in
    BIO_set_init(bio, 1)
    return 1
  }
  BIO_meth_set_write(method) { bio, bytes, count in
    session(of: bio).toSend.writeBytes(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    return count
  }
  BIO_meth_set_read(method) { bio, target, count in
    guard let target else { return -1 }
    return session(of: bio).read(
      into: UnsafeMutableRawBufferPointer(start: target, count: Int(count)), bio)
  }
  BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
  return BIOMethod(pointer: method)
}()

private func session(of bio: OpaquePointer?) -> TLSSession {
  Unmanaged<TLSSession>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
}

extension TLSSession {
  fileprivate func read(into target: UnsafeMutableRawBufferPointer, _ bio: OpaquePointer?) -> Int32
  {
    vocative_bio_no_retry(bio)
    let count = min(target.count, received.readableBytes)
    guard count > 0 else {
      vocative_bio_retry_read(bio)
      return -1
    }
    if !isHandshakeDone {
      handshakeAllowance -= count
      if handshakeAllowance < 0 {
        exceededAllowance = true
        return -1
      }
    }
    received.readWithUnsafeReadableBytes { source in
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<count]))
      return count
    }
    return Int32(count)
  }
}
