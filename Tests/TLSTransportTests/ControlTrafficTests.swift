import NIOCore
import NIOEmbedded
import NIOPosix
import TLSTransport
import Testing

@Suite struct ControlTrafficTests {
  let certificates = try! TestCertificates.shared.get()

  /// A client that keeps asking for new keys while the channel takes no more.
  @Test(arguments: [true, false])
  func answersThatWaitAreBounded(isWritable: Bool) async throws {
    let context = try TLSContext(.init(certificates, "ecdsa"))
    let errors = Recorder<String>()
    let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            BridgeHandler(context, isWritable: isWritable, errors))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let output = try await certificates.client(
      port: listener.localAddress!.port!, ["-tls1_3", "-msg"],
      lines: Array(repeating: "K", count: 5) + ["ping"])
    #expect(output.text.contains("KeyUpdate"))
    #expect(errors.all == (isWritable ? [] : ["excessive-control-traffic"]))
    try await listener.close()
  }

  /// Puts the handler under test on an embedded channel, whose writability is in our hands, behind
  /// a real connection.
  private final class BridgeHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let embedded = EmbeddedChannel()
    private let handler: TLSServerHandler
    private let isWritable: Bool
    private let errors: Recorder<String>

    init(_ context: TLSContext, isWritable: Bool, _ errors: Recorder<String>) throws {
      var limits = TLSConnectionLimits()
      limits.controlBytes = 60  // two answers and a bit
      handler = try TLSServerHandler(context, limits: limits)
      self.isWritable = isWritable
      self.errors = errors
    }

    func channelActive(context: ChannelHandlerContext) {
      try! embedded.pipeline.syncOperations.addHandlers(handler, ErrorRecorder(errors))
      _ = embedded.connect(to: context.remoteAddress!)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      try! embedded.writeInbound(unwrapInboundIn(data))
      if handler.connectionInfo != nil { embedded.isWritable = isWritable }
      while let buffer = try! embedded.readOutbound(as: ByteBuffer.self) {
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
      }
      let isPing = (try! embedded.readInbound(as: ByteBuffer.self)) != nil
      if isPing || !embedded.isActive { context.close(promise: nil) }
    }
  }
}
