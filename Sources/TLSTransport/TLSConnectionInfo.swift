import COpenSSL
public import NIOCore

/// What a finished handshake agreed on.
public struct TLSConnectionInfo: Hashable, Sendable {
  /// `TLSv1.2` or `TLSv1.3`.
  public let version: String
  /// The cipher suite by its OpenSSL name, for example `TLS_AES_128_GCM_SHA256`.
  public let cipher: String
  /// The application protocol by ALPN. Nil when the client offered none.
  public let applicationProtocol: String?
  /// The host name that the client asked for (SNI, RFC 6066). Not verified, chosen by the client.
  public let serverName: String?
  /// Whether the session was resumed from a ticket.
  public let isResumed: Bool
  /// The client's certificate, verified against the authorities. Nil when it showed none.
  public let peerCertificate: TLSCertificate?

  /// - Parameter ssl: an `SSL*` after its handshake; borrowed.
  init(_ ssl: OpaquePointer) {
    version = String(cString: SSL_get_version(ssl))
    cipher = String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)))
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &length)
    applicationProtocol = name.map {
      String(decoding: UnsafeBufferPointer(start: $0, count: Int(length)), as: UTF8.self)
    }
    serverName = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
    isResumed = SSL_session_reused(ssl) == 1
    peerCertificate = SSL_get0_peer_certificate(ssl).map(TLSCertificate.init)
  }

  /// Looks the connection up of a channel or of an HTTP/2 stream's channel.
  /// - Returns: Nil without TLS, and before the handshake is done.
  public static func of(_ channel: any Channel) -> EventLoopFuture<TLSConnectionInfo?> {
    channel.eventLoop.submit {
      for candidate in [channel, channel.parent].compactMap({ $0 }) {
        let pipeline = candidate.pipeline.syncOperations
        if let handler = try? pipeline.handler(type: TLSServerHandler.self) {
          return handler.connectionInfo
        }
        // The parent of a TCP connection is its listener, which has a loop of its own.
        if !(candidate.parent?.eventLoop.inEventLoop ?? false) { break }
      }
      return nil
    }
  }
}
