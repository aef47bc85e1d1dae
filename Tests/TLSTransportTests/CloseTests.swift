import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import TLSTransport
import Testing

@Suite struct CloseTests {
  let certificates = try! TestCertificates.shared.get()

  /// NIOSSL reports `uncleanShutdown` when our close_notify is missing.
  @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
  func serverSaysGoodbye(version: TLSVersion) async throws {
    let server = try await TestServer(.init(certificates, "ecdsa"))
    let client = try await TestClient(port: server.port, certificates) {
      $0.maximumTLSVersion = version
    }
    try await client.send("ping")
    try await client.closed()
    #expect(client.seen.errors.all == [])
    #expect(server.errors.all.filter { $0 != "inputClosed" } == [])
    try await server.connections.value().closeFuture.get()
    try await server.stop()
  }

  @Test(arguments: [true, false])
  func clientSaysGoodbye(halfClosure: Bool) async throws {
    let server = try await TestServer(
      .init(certificates, "ecdsa"), allowHalfClosure: halfClosure)
    let client = try await TestClient(port: server.port, certificates)
    try await client.send("hello")
    try await eventually { client.received.readableBytes == 5 }
    try await client.channel.close()
    try await server.connections.value().closeFuture.get()
    #expect(server.errors.all == ["inputClosed"])
    #expect(client.seen.errors.all == [])
    try await server.stop()
  }

  /// TCP's end without TLS's: told apart, with and without half-closure.
  @Test(arguments: [true, false])
  func truncationIsToldApart(halfClosure: Bool) async throws {
    let server = try await TestServer(
      .init(certificates, "ecdsa"), allowHalfClosure: halfClosure)
    let client = try await TestClient(port: server.port, certificates)
    try await client.send("hello")
    try await eventually { client.received.readableBytes == 5 }
    // From the client's first handler on, past its TLS handler, as a cut cable does.
    try await client.channel.eventLoop.flatSubmit { [channel = client.channel] in
      let head = try! channel.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
      let promise = channel.eventLoop.makePromise(of: Void.self)
      head.close(promise: promise)
      return promise.futureResult
    }.get()
    try await server.connections.value().closeFuture.get()
    #expect(server.errors.all == (halfClosure ? ["truncation", "inputClosed"] : ["truncation"]))
    try await server.stop()
  }

  /// HTTP/1.1 clients may end their side and wait for the answer.
  @Test func answersAfterTheEndOfInput() async throws {
    let server = try await TestServer(.init(certificates, "ecdsa"), application: LateHandler.init)
    let output = try await certificates.client(port: server.port, ["-alpn", "http/1.1"])
    #expect(output.text.contains("late answer"), "\(output.text)")
    try await server.stop()
  }

  @Test func endOfInputClosesHTTP2() async throws {
    let server = try await TestServer(.init(certificates, "ecdsa"), application: LateHandler.init)
    let client = try await TestClient(port: server.port, certificates) {
      $0.applicationProtocols = ["h2"]
    }
    #expect(try await client.handshake() == "h2")
    client.channel.close(promise: nil)
    try await server.connections.value().closeFuture.get()
    #expect(server.errors.all == [])
    try await server.stop()
  }

  /// Closing right after a large write delivers it whole, though the client reads late.
  @Test func closeDeliversWhatWasFlushed() async throws {
    let size = 20 << 20
    let server = try await TestServer(
      .init(certificates, "ecdsa"), application: { WriteAndCloseHandler(size: size) })
    let client = try await TestClient(port: server.port, certificates, autoRead: false)
    client.channel.read()
    let connection = try await server.connections.value()
    try await eventually { !connection.isWritable }
    try await client.channel.setOption(.autoRead, value: true).get()
    try await client.closed()
    #expect(client.received.readableBytes == size)
    #expect(client.seen.errors.all == [])
    try await connection.closeFuture.get()
    try await server.stop()
  }

  /// A client that neither reads nor leaves cannot hold a connection that is being closed.
  @Test func closeIsBounded() async throws {
    var limits = TLSConnectionLimits()
    limits.closeTimeout = .milliseconds(200)
    let server = try await TestServer(
      .init(certificates, "ecdsa"), limits: limits,
      application: { WriteAndCloseHandler(size: 20 << 20) })
    let client = try await TestClient(port: server.port, certificates, autoRead: false)
    client.channel.read()
    try await server.connections.value().closeFuture.get()
    try? await client.channel.close()  // was cut off
    try await server.stop()
  }

  /// Answers only after the end of input.
  final class LateHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      // s_client ends when we do: end our input for it.
      context.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      guard case ChannelEvent.inputClosed = event else { return }
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "late answer\n")), promise: nil)
      context.close(mode: .output, promise: nil)
    }
  }

  final class WriteAndCloseHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    let size: Int
    init(size: Int) { self.size = size }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(repeating: 9, count: size)), promise: nil)
      context.close(promise: nil)
    }
  }
}

@Suite struct LimitTests {
  let certificates = try! TestCertificates.shared.get()

  private func connect(_ port: Int) async throws -> any Channel {
    try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(host: "127.0.0.1", port: port).get()
  }

  @Test(arguments: [[], [0x16], [0x16, 0x03, 0x01, 0x01, 0x00, 0x01]] as [[UInt8]])
  func stalledHandshake(prefix: [UInt8]) async throws {
    var limits = TLSConnectionLimits()
    limits.handshakeTimeout = .milliseconds(300)
    let server = try await TestServer(.init(certificates, "ecdsa"), limits: limits)
    let begin = ContinuousClock.now
    let client = try await connect(server.port)
    try? await client.writeAndFlush(ByteBuffer(bytes: prefix))  // too late on a busy machine
    try await client.closeFuture.get()
    #expect(try await server.outcomes.value().failure?.code == .handshakeTimedOut)
    #expect(ContinuousClock.now - begin >= .milliseconds(290))
    #expect(server.errors.all == ["handshake-timed-out"])
    try await server.stop()
  }

  @Test func connectionsOutliveTheHandshakeTimeout() throws {
    let pair = try EmbeddedConnection(TLSContext(.init(certificates, "ecdsa")), certificates)
    defer { pair.end() }
    pair.server.embeddedEventLoop.advanceTime(by: .seconds(9))
    try pair.handshake()
    pair.server.embeddedEventLoop.advanceTime(by: .seconds(60))
    #expect(pair.server.isActive)
    pair.client.writeAndFlush(ByteBuffer(string: "still here"), promise: nil)
    try pair.exchange { [$0] }
    #expect(String(buffer: pair.serverReceived) == "still here")
  }

  /// Well-formed handshake records without an end.
  @Test func floodOfHandshakeBytes() async throws {
    let server = try await TestServer(.init(certificates, "ecdsa"))
    let client = try await connect(server.port)
    // A ClientHello that announces 128 KiB, in records of 16 KiB.
    var flood = ByteBuffer(bytes: [0x16, 3, 1, 0x40, 0, 1, 0x02, 0, 0, 3, 3])
    flood.writeRepeatingByte(0, count: 0x4000 - 6)
    for _ in 0..<8 {
      flood.writeBytes([0x16, 3, 1, 0x40, 0])
      flood.writeRepeatingByte(0, count: 0x4000)
    }
    client.writeAndFlush(flood, promise: nil)
    try await client.closeFuture.get()
    let error = try #require(try await server.outcomes.value().failure)
    #expect([.handshakeTooLarge, .handshakeFailed].contains(error.code), "\(error)")
    try await server.stop()
  }

  @Test func handshakeLimitInBytes() async throws {
    var limits = TLSConnectionLimits()
    limits.handshakeBytes = 100
    let server = try await TestServer(.init(certificates, "ecdsa"), limits: limits)
    let client = try await TestClient(port: server.port, certificates)
    try await client.closed()
    #expect(try await server.outcomes.value().failure?.code == .handshakeTooLarge)
    try await server.stop()
  }

  @Test func plainHTTPIsRefused() async throws {
    let server = try await TestServer(.init(certificates, "ecdsa"))
    let client = try await connect(server.port)
    try await client.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
    try await client.closeFuture.get()
    let error = try #require(try await server.outcomes.value().failure)
    #expect(error.description == "the TLS handshake failed (http request)")
    try await server.stop()
  }
}
