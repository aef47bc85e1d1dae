import HummingbirdCore
import HummingbirdHTTP2
public import NIOCore
public import TLSTransport

/// What one client connection may take.
///
/// HTTP/2's own limits are NIOHTTP2's defaults, which Hummingbird does not let us change: 100
/// concurrent streams, header lists of 16 KiB, windows of 64 KiB, at most 200 reset streams in
/// 30 s, and the caps on control frames, empty frames, continuations and glitches.
public struct TransportLimits: Sendable {
  /// TLS: handshake time and bytes, time to close.
  public var tls = TLSConnectionLimits()
  /// HTTP/1.1: how long a connection may be without a request in progress, or a request without
  /// a part of it arriving. HTTP/2: how long a stream's request may be without one. Default 60 s.
  public var idleTimeout: TimeAmount = .seconds(60)
  /// HTTP/2: how long a connection may be without an open stream before it is asked to end
  /// (GOAWAY). One on which nothing at all is sent or received is closed this long, and
  /// ``http2GracefulCloseTimeout``, after the last byte, also with open streams. Default 5 min.
  public var http2IdleTimeout: Duration = .seconds(300)
  /// HTTP/2: how long a client may take to answer a GOAWAY, and then to close its streams.
  /// Default 5 s.
  public var http2GracefulCloseTimeout: Duration = .seconds(5)
  /// HTTP/2: age at which a connection is asked to end (GOAWAY), so that load spreads over new
  /// replicas. Nil, the default: no limit.
  public var http2MaximumAge: Duration?
  /// HTTP/1.1: bytes of a request's header fields, all of them and each. Default 16 KiB, as with
  /// HTTP/2.
  public var headerListBytes: Int = 16 << 10
  /// HTTP/1.1: number of a request's header fields. Default 128.
  public var headerCount: Int = 128

  public init() {}

  var http1: HTTP1Channel.Configuration {
    HTTP1Channel.Configuration(
      additionalChannelHandlers: [CutOffRequestHandler()],
      idleTimeout: idleTimeout,
      httpDecoderConfiguration: .init(
        maxHeaderFieldSize: headerListBytes, maxHeaderListSize: headerListBytes,
        maxHeaderFieldCount: headerCount))
  }

  var http2: HTTP2ChannelConfiguration {
    var configuration = HTTP2ChannelConfiguration(
      idleTimeout: http2IdleTimeout, gracefulCloseTimeout: http2GracefulCloseTimeout,
      streamConfiguration: http1)
    // Hummingbird 2.28's initialiser ignores this argument.
    configuration.maxAgeTimeout = http2MaximumAge
    return configuration
  }
}
