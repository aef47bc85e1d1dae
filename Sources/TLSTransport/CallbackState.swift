import COpenSSL

/// What OpenSSL's callbacks of a context need.
///
/// The SSL_CTX itself retains it, as ex-data with a release function, so that it lives exactly as
/// long as the last connection that can call back.
final class CallbackState: @unchecked Sendable {
  // Unchecked: written in init only.

  /// ALPN's wire form: each name after its length (RFC 7301 section 3.1). At a fixed address,
  /// because OpenSSL reads the selected name after the callback has returned.
  private let protocols: UnsafeMutableBufferPointer<UInt8>
  private let ticketKeys: TicketKeyRing

  init(applicationProtocols: [String], ticketKeys: TicketKeyRing) throws(TLSError) {
    guard applicationProtocols.allSatisfy({ (1...255).contains($0.utf8.count) }) else {
      throw TLSError(.badConfiguration, "names of application protocols take 1 to 255 bytes")
    }
    let wire = applicationProtocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    protocols = .allocate(capacity: wire.count)
    _ = protocols.initialize(from: wire)
    self.ticketKeys = ticketKeys
  }

  deinit { protocols.deallocate() }

  func install(in context: OpaquePointer) throws(TLSError) {
    let retained = Unmanaged.passRetained(self)
    guard SSL_CTX_set_ex_data(context, Self.index, retained.toOpaque()) == 1 else {
      retained.release()
      throw .fromQueue(.badConfiguration, "OpenSSL has no memory")
    }
    SSL_CTX_set_tlsext_ticket_key_evp_cb(context) { ssl, nameBytes, ivBytes, cipher, mac, encrypt in
      guard let state = CallbackState.of(ssl) else { return -1 }
      let name = UnsafeMutableRawBufferPointer(start: nameBytes, count: 16)
      let iv = UnsafeMutableRawBufferPointer(start: ivBytes, count: Int(EVP_MAX_IV_LENGTH))
      return encrypt == 1
        ? state.seal(name: name, iv: iv, cipher: cipher, mac: mac)
        : state.open(name: name, iv: iv, cipher: cipher, mac: mac, ssl: ssl)
    }
    guard !protocols.isEmpty else { return }
    SSL_CTX_set_alpn_select_cb(
      context,
      { ssl, selected, length, offered, offeredLength, _ in
        guard let state = CallbackState.of(ssl), let selected else {
          return SSL_TLSEXT_ERR_ALERT_FATAL
        }
        var choice: UnsafeMutablePointer<UInt8>?
        let outcome = SSL_select_next_proto(
          &choice, length, state.protocols.baseAddress, UInt32(state.protocols.count), offered,
          offeredLength)
        guard outcome == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        selected.pointee = UnsafePointer(choice)
        return SSL_TLSEXT_ERR_OK
      }, nil)
  }

  private static let index = vocative_ctx_new_index { _, pointer, _, _, _, _ in
    // Called for every SSL_CTX of the process, libpq's too; theirs have no state of ours.
    guard let pointer else { return }
    Unmanaged<CallbackState>.fromOpaque(pointer).release()
  }

  private static func of(_ ssl: OpaquePointer?) -> CallbackState? {
    SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), index).map {
      Unmanaged<CallbackState>.fromOpaque($0).takeUnretainedValue()
    }
  }

  // MARK: Tickets: SSL_CTX_set_tlsext_ticket_key_evp_cb(3ssl)

  private func seal(
    name: UnsafeMutableRawBufferPointer, iv: UnsafeMutableRawBufferPointer,
    cipher: OpaquePointer?, mac: OpaquePointer?
  ) -> Int32 {
    let key = ticketKeys.key(at: 0)
    name.copyMemory(from: UnsafeRawBufferPointer(rebasing: key[..<16]))
    guard RAND_bytes(iv.baseAddress, 16) == 1, setMAC(mac, key) else { return -1 }
    return EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), nil, bytes(key, 16), bytes(iv)) == 1
      ? 1 : -1
  }

  private func open(
    name: UnsafeMutableRawBufferPointer, iv: UnsafeMutableRawBufferPointer,
    cipher: OpaquePointer?, mac: OpaquePointer?, ssl: OpaquePointer?
  ) -> Int32 {
    let indices = 0..<ticketKeys.count
    guard let index = indices.first(where: { ticketKeys.key(at: $0)[..<16].elementsEqual(name) })
    else { return 0 }  // not ours, or a key that is gone: a full handshake
    let key = ticketKeys.key(at: index)
    guard setMAC(mac, key),
      EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nil, bytes(key, 16), bytes(iv)) == 1
    else { return -1 }
    // 2: resume and issue a new ticket. Those of old keys move on to the first one, and in TLS 1.3
    // a ticket should be used once only (RFC 8446 appendix C.4).
    return index > 0 || SSL_version(ssl) >= TLS1_3_VERSION ? 2 : 1
  }

  private func setMAC(_ mac: OpaquePointer?, _ key: UnsafeRawBufferPointer) -> Bool {
    vocative_mac_use_sha256(mac, bytes(key, 48), 32) == 1
  }

  private func bytes(_ buffer: UnsafeRawBufferPointer, _ offset: Int) -> UnsafePointer<UInt8> {
    (buffer.baseAddress! + offset).assumingMemoryBound(to: UInt8.self)
  }

  private func bytes(_ buffer: UnsafeMutableRawBufferPointer) -> UnsafePointer<UInt8> {
    UnsafePointer(buffer.baseAddress!.assumingMemoryBound(to: UInt8.self))
  }
}
