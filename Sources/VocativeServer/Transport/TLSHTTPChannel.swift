import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOHTTP2
import TLSTransport

/// A connection over TLS that speaks HTTP/2 or HTTP/1.1, as the client's ALPN asks; without ALPN,
/// HTTP/1.1.
struct TLSHTTPChannel: ServerChildChannel {
  typealias Negotiated = NIONegotiatedHTTPVersion<HTTP1Channel.Value, HTTP2Channel.Value>

  struct Value: ServerChildChannelValue {
    let negotiated: EventLoopFuture<Negotiated>
    let channel: any Channel
  }

  private let contexts: TLSContextBox
  private let limits: TLSConnectionLimits
  private let idleTimeout: TimeAmount
  private let answerTimeout: TimeAmount
  private let onHandshake: @Sendable (Result<TLSConnectionInfo, TLSError>) -> Void
  private let http1: HTTP1Channel
  private let http2: HTTP2Channel

  init(
    contexts: TLSContextBox, limits: TransportLimits,
    onHandshake: @escaping @Sendable (Result<TLSConnectionInfo, TLSError>) -> Void,
    responder: @escaping HTTPChannelHandler.Responder
  ) {
    self.contexts = contexts
    self.limits = limits.tls
    answerTimeout = TimeAmount(limits.http2GracefulCloseTimeout)
    idleTimeout = TimeAmount(limits.http2IdleTimeout) + answerTimeout
    self.onHandshake = onHandshake
    http1 = HTTP1Channel(responder: responder, configuration: limits.http1)
    http2 = HTTP2Channel(responder: responder, configuration: limits.http2)
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(
        TLSServerHandler(contexts.current, limits: limits, onHandshake: onHandshake))
    }.flatMap {
      channel.configureHTTP2AsyncSecureUpgrade(
        http1ConnectionInitializer: { http1.setup(channel: $0, logger: logger) },
        http2ConnectionInitializer: { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(
              SilentClientHandler(idleTimeout: idleTimeout, answerTimeout: answerTimeout))
          }.flatMap { http2.setup(channel: channel, logger: logger) }
        })
    }.map { Value(negotiated: $0, channel: channel) }
  }

  func handle(value: Value, logger: Logger) async {
    switch try? await value.negotiated.get() {
    case .http1_1(let connection): await http1.handle(value: connection, logger: logger)
    case .http2(let connection): await http2.handle(value: connection, logger: logger)
    case nil: break  // the handshake failed; `onHandshake` has said so
    }
  }
}
