public import NIOCore

extension TLSServerHandler {
  public func read(context: ChannelHandlerContext) {
    readRequested = true
    context.read()
  }

  public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard state != .closed, !discardsInput, !inputEnded else { return }
    var buffer = unwrapInboundIn(data)
    session.receive(&buffer)
    if state == .handshaking { handshake(context) }
    if state == .open { decrypt(context) }
    session.releaseInput()
  }

  public func channelReadComplete(context: ChannelHandlerContext) {
    sendControl(context)
    context.fireChannelReadComplete()
    // Half a record, a handshake message and the end of a discarded request deliver nothing, and
    // whoever waits for data does not ask twice.
    if state == .handshaking || discardsInput || readRequested { context.read() }
  }

  public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed:
      endInput(context, isTruncated: !inputShutdown)
    case is ChannelShouldQuiesceEvent where state == .handshaking:
      // Nobody else in the pipeline would end it before the timeout.
      context.close(promise: nil)
    default:
      context.fireUserInboundEventTriggered(event)
    }
  }

  private func decrypt(_ context: ChannelHandlerContext) {
    // Whoever gets data may write, close, or cause more to arrive while we are in here.
    guard !isDecrypting else { return }
    isDecrypting = true
    defer { isDecrypting = false }
    while state == .open, !inputEnded, !discardsInput {
      let (plaintext, end) = session.decrypt(context.channel.allocator)
      if let plaintext {
        readRequested = false
        context.fireChannelRead(wrapInboundOut(plaintext))
      }
      switch end {
      case .done: continue
      case .needsInput where session.received.readableBytes > 0: continue
      case .needsInput: return limitControl(context)
      case .closeNotify: return endInput(context, isTruncated: false)
      case .failed(let error): return fail(context, error)
      }
    }
  }

  /// Sends what reading made OpenSSL say: handshake messages, key updates, alerts.
  private func sendControl(_ context: ChannelHandlerContext) {
    guard state != .closed, session.toSend.readableBytes > 0 else { return }
    context.writeAndFlush(wrapOutboundOut(session.takeOutput()), promise: nil)
  }

  /// Answers that a client causes but does not read would fill memory.
  private func limitControl(_ context: ChannelHandlerContext) {
    guard state == .open, session.toSend.readableBytes > 0 else { return }
    controlBytes =
      context.channel.isWritable ? 0 : controlBytes + session.toSend.readableBytes
    guard controlBytes > limits.controlBytes else { return }
    fail(
      context,
      TLSError(.excessiveControlTraffic, "the client does not read the answers it asks for"))
  }

  private func endInput(_ context: ChannelHandlerContext, isTruncated: Bool) {
    guard state != .closed else { return }
    guard !inputEnded || discardsInput else { return }
    inputEnded = true
    guard state == .open else {
      return fail(
        context, TLSError(.handshakeFailed, "the client left during the handshake"))
    }
    if isTruncated && !discardsInput && output != .closed {
      context.fireUserInboundEventTriggered(TLSTruncationEvent())
    }
    guard state == .open else { return }
    if output == .closed {
      finish(context)
    } else if discardsInput {
      return  // still sending: finishes after close_notify
    } else if halfCloses {
      context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    } else {
      close(context: context, mode: .all, promise: nil)
    }
  }
}
