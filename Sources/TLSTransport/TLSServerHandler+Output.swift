public import NIOCore

extension TLSServerHandler {
  /// Plaintext bytes that become ciphertext at a time. More would grow the channel's buffer far
  /// beyond its high-water mark; less would cost more system calls.
  private static let batchBytes = 128 << 10
  /// The most plaintext in a record (RFC 8446 section 5.1).
  private static let recordBytes = 16 << 10
  /// Unflushed plaintext that is kept; more is sent, so that the channel's writability knows of it.
  private static let unflushedLimit = 64 << 10

  public func write(
    context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
  ) {
    guard state != .closed else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    guard output == .open else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    let buffer = unwrapOutboundIn(data)
    unflushedBytes += buffer.readableBytes
    pending.append((buffer, promise))
    if state == .handshaking {
      guard unflushedBytes <= limits.earlyWriteBytes else {
        return fail(
          context,
          TLSError(.writeBeforeHandshake, "too much was written before the end of the handshake"))
      }
    } else if unflushedBytes >= Self.unflushedLimit {
      flush(context: context)
    }
  }

  public func flush(context: ChannelHandlerContext) {
    pending.mark()
    guard state == .open else { return }
    unflushedBytes = 0
    sendPending(context)
  }

  public func channelWritabilityChanged(context: ChannelHandlerContext) {
    sendPending(context)
    context.fireChannelWritabilityChanged()
  }

  /// Encrypts and sends flushed plaintext for as long as the channel takes it; the rest waits for
  /// the channel to become writable.
  func sendPending(_ context: ChannelHandlerContext) {
    // A completed promise may write, flush or close while we are in here.
    guard state == .open, !isEncrypting else { return }
    isEncrypting = true
    while state == .open, pending.hasMark, context.channel.isWritable {
      var promise: EventLoopPromise<Void>?
      do throws(TLSError) {
        try encryptBatch(&promise)
      } catch {
        promise?.fail(error)
        fail(context, error)
        break
      }
      if session.toSend.readableBytes > 0 {
        context.writeAndFlush(wrapOutboundOut(session.takeOutput()), promise: promise)
        if discardsInput { limitClosing(context) }
      } else {
        promise?.succeed()
      }
    }
    isEncrypting = false
    if state == .open, output == .closing, !pending.hasMark { sendCloseNotify(context) }
  }

  /// Encrypts the oldest flushed plaintext, up to a batch. Small writes share a record.
  /// - Parameter promise: Set to one that completes all promises of the batch.
  private func encryptBatch(_ promise: inout EventLoopPromise<Void>?) throws(TLSError) {
    var room = Self.batchBytes
    var gathered = ByteBuffer()
    while room > 0, pending.hasMark, let (first, completion) = pending.first {
      var buffer = first
      if buffer.readableBytes > room, let part = buffer.readSlice(length: room) {
        pending[pending.startIndex] = (buffer, completion)
        buffer = part
      } else {
        _ = pending.popFirst()
        if let completion { promise = merge(promise, completion) }
      }
      room -= buffer.readableBytes
      if buffer.readableBytes + gathered.readableBytes > Self.recordBytes {
        try session.encrypt(gathered)
        gathered.clear()
      }
      if buffer.readableBytes > Self.recordBytes / 2
        || (gathered.readableBytes == 0 && !pending.hasMark)
      {
        try session.encrypt(gathered)
        gathered.clear()
        try session.encrypt(buffer)
      } else {
        if gathered.capacity == 0 { gathered.reserveCapacity(max(1024, buffer.readableBytes * 2)) }
        gathered.writeImmutableBuffer(buffer)
      }
    }
    try session.encrypt(gathered)
  }

  private func merge(_ first: EventLoopPromise<Void>?, _ second: EventLoopPromise<Void>)
    -> EventLoopPromise<Void>
  {
    guard let first else { return second }
    // The first one is the channel's, and completes the others in the order of their writes.
    first.futureResult.cascade(to: second)
    return first
  }

  func failPending(_ error: any Error) {
    unflushedBytes = 0
    while let (_, promise) = pending.popFirst() { promise?.fail(error) }
  }

  // MARK: Closing

  public func close(
    context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
  ) {
    switch mode {
    case .input:
      inputShutdown = true
      context.close(mode: .input, promise: promise)
    case .output where state == .open:
      guard output == .open else {
        promise?.fail(ChannelError.outputClosed)
        return
      }
      outputPromise = promise
      closeOutput(context)
    case .all where state == .open:
      closeAll(context, promise)
    case .all, .output:
      // Nothing to say goodbye to: the handshake is not done, or all is over.
      context.close(mode: mode, promise: promise)
    }
  }

  private func closeAll(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
    guard !discardsInput else {
      context.channel.closeFuture.cascade(to: promise)
      return
    }
    discardsInput = true
    closePromise = promise
    limitClosing(context)
    switch output {
    case .open: closeOutput(context)
    case .closing: break
    case .closed: if inputEnded { finish(context) } else { context.read() }
    }
  }

  /// Starts the time to close, again for each batch that a slow client has made room for.
  private func limitClosing(_ context: ChannelHandlerContext) {
    guard state == .open else { return }
    setTimer(context, after: limits.closeTimeout) { $0.finish(context) }
  }

  /// Sends what was written, flushed or not, then close_notify: HTTP/2 closes a connection from
  /// within the write that ends its last stream.
  private func closeOutput(_ context: ChannelHandlerContext) {
    output = .closing
    unflushedBytes = 0
    pending.mark()
    sendPending(context)
  }

  private func sendCloseNotify(_ context: ChannelHandlerContext) {
    output = .closed
    session.closeOutput()
    let sent = context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenComplete { [self] _ in
      guard state == .open else { return }
      guard !inputEnded else { return finish(context) }
      context.close(mode: .output, promise: outputPromise.take())
      if discardsInput, state == .open { context.read() }
    }
    context.writeAndFlush(wrapOutboundOut(session.takeOutput()), promise: sent)
  }

  /// Both sides have ended, or the time for it has.
  func finish(_ context: ChannelHandlerContext) {
    guard state == .open else { return }
    state = .closed
    outputPromise.take()?.succeed()
    context.close(promise: closePromise.take())
  }
}
