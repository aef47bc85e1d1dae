public import HummingbirdCore
import HummingbirdHTTP2
public import TLSTransport

/// Makes Hummingbird's server: HTTP/2 and HTTP/1.1 over TLS, or plain HTTP/1.1.
///
/// Connections are handled on their own event loops (``EventLoopBoundChannel``).
/// - Parameters:
///   - tls: The contexts for new connections. Nil: plain HTTP/1.1, for loopback and unix sockets
///     only; the caller checks the address.
///   - limits: What a connection may take.
///   - onHandshake: Called on the connection's event loop after each handshake, good or failed, for
///     logs and metrics; must not block.
public func makeServerBuilder(
  tls: TLSContextBox?, limits: TransportLimits = TransportLimits(),
  onHandshake: @escaping @Sendable (Result<TLSConnectionInfo, TLSError>) -> Void = { _ in }
) -> HTTPServerBuilder {
  HTTPServerBuilder { responder in
    guard let tls else {
      return EventLoopBoundChannel(
        HTTP1Channel(responder: responder, configuration: limits.http1))
    }
    return EventLoopBoundChannel(
      TLSHTTPChannel(
        contexts: tls, limits: limits, onHandshake: onHandshake, responder: responder))
  }
}
