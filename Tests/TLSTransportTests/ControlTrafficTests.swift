import NIOCore
import NIOEmbedded
import NIOPosix
import TLSTransport
import Testing

@Suite struct ControlTrafficTests {
  let certificates = try! TestCertificates.shared.get()

  /// A client that asks to renegotiate while the channel takes no more. (Key updates need no bound:
  /// OpenSSL answers any number of them once, with the next write.)
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
      port: listener.localAddress!.port!, ["-tls1_2", "-legacy_renegotiation"],
      lines: ["R", "ping"])
    #expect(output.text.contains("no renegotiation"), "\(output.text)")
    // s_client takes the refusal for fatal, and says so.
    #expect(errors.all == [isWritable ? "protocol-violation" : "excessive-control-traffic"])
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
      limits.controlBytes = 20  // less than an alert
      handler = try TLSServerHandler(context, limits: limits)
      self.isWritable = isWritable
      self.errors = errors
    }

    func channelActive(context: ChannelHandlerContext) {
      try! embedded.pipeline.syncOperations.addHandlers(handler, ErrorRecorder(errors))
      // The client may be gone already.
      guard let address = context.remoteAddress else { return }
      _ = embedded.connect(to: address)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      try! embedded.writeInbound(unwrapInboundIn(data))
      if handler.connectionInfo != nil { embedded.isWritable = isWritable }
      while let buffer = try! embedded.readOutbound(as: ByteBuffer.self) {
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
      }
      var isPing = false
      while let buffer = try! embedded.readInbound(as: ByteBuffer.self) {
        isPing = String(buffer: buffer).contains("ping")
      }
      if isPing || !embedded.isActive { context.close(promise: nil) }
    }
  }
}
