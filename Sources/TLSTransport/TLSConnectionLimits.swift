public import NIOCore

/// What one connection may take.
public struct TLSConnectionLimits: Hashable, Sendable {
  /// From the accepted connection to the end of the handshake. Default 10 s.
  public var handshakeTimeout: TimeAmount = .seconds(10)
  /// Bytes of TLS records that a client may send before the end of the handshake. Default 64 KiB;
  /// a usual handshake takes less than 2 KiB, one with a chain of client certificates a few more.
  public var handshakeBytes: Int = 64 << 10
  /// From the request to close to the end of the connection: for a slow client to take what was
  /// written before and to close its side. Begins anew with each 128 KiB that the client makes
  /// room for. Default 5 s.
  public var closeTimeout: TimeAmount = .seconds(5)
  /// Plaintext bytes that are kept when they are written before the handshake is done. Default
  /// 1 MiB.
  public var earlyWriteBytes: Int = 1 << 20
  /// Bytes of alerts that a client provokes (TLS 1.2 renegotiation) and does not read. Default
  /// 64 KiB.
  public var controlBytes: Int = 64 << 10

  public init() {}
}

/// A user event: the peer ended its side of TCP without close_notify, so that what it sent may have
/// been cut off by an attacker (RFC 8446 section 6.1).
///
/// Comes before `ChannelEvent.inputClosed` or `channelInactive`. HTTP frames its own messages and
/// tells a truncated one from a whole one by itself; a protocol that ends at the end of input has
/// to reject what it got.
public struct TLSTruncationEvent: Hashable, Sendable {
  public init() {}
}
