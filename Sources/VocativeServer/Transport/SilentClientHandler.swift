import NIOCore

/// Closes an HTTP/2 connection whose client has gone silent.
///
/// Hummingbird ends idle connections, and all of them when the service stops, with GOAWAY and a
/// PING, and waits for the answer to the PING without a limit (2.28): a client that never answers
/// would keep the connection, and a stopping service, for ever.
final class SilentClientHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  private let idleTimeout: TimeAmount
  private let answerTimeout: TimeAmount
  private var lastRead = NIODeadline.uptimeNanoseconds(0)
  private var lastWrite = NIODeadline.uptimeNanoseconds(0)
  private var idleTimer: Scheduled<Void>?
  private var answerTimer: Scheduled<Void>?

  /// - Parameters:
  ///   - idleTimeout: Ends a connection on which nothing was sent or received for so long.
  ///   - answerTimeout: Ends a connection from which nothing came for so long after the service
  ///     began to stop.
  init(idleTimeout: TimeAmount, answerTimeout: TimeAmount) {
    self.idleTimeout = idleTimeout
    self.answerTimeout = answerTimeout
  }

  func handlerAdded(context: ChannelHandlerContext) {
    lastRead = context.eventLoop.now
    lastWrite = lastRead
    watchIdleness(context, for: idleTimeout)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    idleTimer?.cancel()
    answerTimer?.cancel()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    lastRead = context.eventLoop.now
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    lastWrite = context.eventLoop.now
    context.write(data, promise: promise)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent { watchAnswer(context) }
    context.fireUserInboundEventTriggered(event)
  }

  private func watchIdleness(_ context: ChannelHandlerContext, for delay: TimeAmount) {
    idleTimer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [weak self] in
      guard let self else { return }
      let remaining = max(lastRead, lastWrite) + idleTimeout - context.eventLoop.now
      if remaining <= .zero {
        context.close(promise: nil)
      } else {
        watchIdleness(context, for: remaining)
      }
    }
  }

  private func watchAnswer(_ context: ChannelHandlerContext) {
    let begin = context.eventLoop.now
    answerTimer?.cancel()
    answerTimer = context.eventLoop.assumeIsolated().scheduleTask(in: answerTimeout) {
      [weak self] in
      guard let self, lastRead < begin else { return }
      context.close(promise: nil)
    }
  }
}
