public import NIOCore
import NIOTLS

/// The server's end of TLS on OpenSSL, as the first handler of a channel.
///
/// - Fires `TLSUserEvent.handshakeCompleted` with the protocol chosen by ALPN, and
///   ``TLSTruncationEvent``.
/// - End of input (close_notify or TCP's) becomes `ChannelEvent.inputClosed`, so that a response
///   can still be written; with HTTP/2, which knows no half-closed connections, it closes.
/// - `close` sends what was written, then close_notify and TCP's end, discards what still comes,
///   and ends when the peer ends or after the limit: so the last response is not lost to a reset.
/// - Errors are ``TLSError``; each closes the channel.
/// - Not thread-safe: use on the channel's event loop only.
public final class TLSServerHandler: ChannelDuplexHandler {
  public typealias InboundIn = ByteBuffer
  public typealias InboundOut = ByteBuffer
  public typealias OutboundIn = ByteBuffer
  public typealias OutboundOut = ByteBuffer

  enum State { case handshaking, open, closed }
  enum Output { case open, closing, closed }

  let session: TLSSession
  let limits: TLSConnectionLimits
  var state = State.handshaking

  // Input
  var inputEnded = false
  /// We shut the input down ourselves, so that its end is no truncation.
  var inputShutdown = false
  var discardsInput = false
  var isDecrypting = false
  /// Somebody asked for data and has got none since.
  var readRequested = false
  var controlBytes = 0
  /// Whether the output may outlive the input.
  var halfCloses = true

  // Output
  var output = Output.open
  var pending = MarkedCircularBuffer<(ByteBuffer, EventLoopPromise<Void>?)>(initialCapacity: 4)
  var unflushedBytes = 0
  var isEncrypting = false
  var outputPromise: EventLoopPromise<Void>?
  var closePromise: EventLoopPromise<Void>?

  private let onHandshake: (@Sendable (Result<TLSConnectionInfo, TLSError>) -> Void)?
  private var timer: Scheduled<Void>?

  /// - Parameters:
  ///   - context: Kept for the life of the connection.
  ///   - limits: What the connection may take.
  ///   - onHandshake: Called once on the event loop when the handshake is done or has failed, for
  ///     logs and metrics; must not block.
  /// - Throws: `badConfiguration` when OpenSSL has no memory.
  public init(
    _ context: TLSContext, limits: TLSConnectionLimits = TLSConnectionLimits(),
    onHandshake: (@Sendable (Result<TLSConnectionInfo, TLSError>) -> Void)? = nil
  ) throws(TLSError) {
    session = try TLSSession(context, handshakeBytes: limits.handshakeBytes)
    self.limits = limits
    self.onHandshake = onHandshake
  }

  /// What the handshake agreed on. Nil before it is done.
  public var connectionInfo: TLSConnectionInfo? { state == .handshaking ? nil : info }
  private var info: TLSConnectionInfo?

  // MARK: Lifecycle

  public func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { beginHandshake(context) }
  }

  public func handlerRemoved(context: ChannelHandlerContext) { release() }

  public func channelActive(context: ChannelHandlerContext) {
    context.fireChannelActive()
    beginHandshake(context)
  }

  public func channelInactive(context: ChannelHandlerContext) {
    let wasHandshaking = state == .handshaking
    // A channel that does not allow half-closure ends at once, without an end of input.
    let isTruncated =
      state == .open && !inputEnded && !inputShutdown && !discardsInput && output == .open
    release()
    if wasHandshaking {
      onHandshake?(.failure(TLSError(.handshakeFailed, "the client left during the handshake")))
    }
    if isTruncated { context.fireUserInboundEventTriggered(TLSTruncationEvent()) }
    context.fireChannelInactive()
  }

  /// Ends everything that could still call back, and completes every promise.
  private func release() {
    state = .closed
    timer?.cancel()
    timer = nil
    failPending(ChannelError.ioOnClosedChannel)
    outputPromise.take()?.fail(ChannelError.ioOnClosedChannel)
    closePromise.take()?.succeed()
  }

  private func beginHandshake(_ context: ChannelHandlerContext) {
    guard state == .handshaking else { return }
    setTimer(context, after: limits.handshakeTimeout) { handler in
      handler.fail(context, TLSError(.handshakeTimedOut, "the handshake took too long"))
    }
    // A channel that reads on demand would wait for an application that waits for us.
    context.read()
  }

  /// Replaces the timer: a connection waits for one thing at a time.
  func setTimer(
    _ context: ChannelHandlerContext, after delay: TimeAmount,
    _ body: @escaping (TLSServerHandler) -> Void
  ) {
    timer?.cancel()
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in
      guard let self, self.state != .closed else { return }
      body(self)
    }
  }

  // MARK: Handshake

  func handshake(_ context: ChannelHandlerContext) {
    switch session.handshake() {
    case .needsInput: break
    case .failed(let error): fail(context, error)
    case .closeNotify:
      fail(context, TLSError(.handshakeFailed, "the client left during the handshake"))
    case .done:
      timer?.cancel()
      timer = nil
      let agreed = session.info
      info = agreed
      halfCloses = agreed.applicationProtocol != "h2"
      state = .open
      unflushedBytes = 0
      onHandshake?(.success(agreed))
      context.fireUserInboundEventTriggered(
        TLSUserEvent.handshakeCompleted(negotiatedProtocol: agreed.applicationProtocol))
      sendPending(context)
    }
  }

  // MARK: Failure

  /// Sends OpenSSL's alert if there is one, reports, and closes at once.
  func fail(_ context: ChannelHandlerContext, _ error: TLSError) {
    guard state != .closed else { return }
    let wasHandshaking = state == .handshaking
    state = .closed
    timer?.cancel()
    timer = nil
    if session.toSend.readableBytes > 0 {
      context.writeAndFlush(wrapOutboundOut(session.takeOutput()), promise: nil)
    }
    failPending(error)
    outputPromise.take()?.fail(error)
    if wasHandshaking { onHandshake?(.failure(error)) }
    context.fireErrorCaught(error)
    context.close(promise: closePromise.take())
  }
}

@available(*, unavailable)
extension TLSServerHandler: Sendable {}
