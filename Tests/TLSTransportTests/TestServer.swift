import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import TLSTransport

/// A TLS server on a loopback port with one application handler a connection.
final class TestServer: Sendable {
  let contexts: TLSContextBox
  let outcomes = Recorder<Result<TLSConnectionInfo, TLSError>>()
  let errors = Recorder<String>()
  let connections = Recorder<any Channel>()
  private let listener: any Channel

  var port: Int { listener.localAddress!.port! }

  init(
    _ configuration: TLSContext.Configuration, limits: TLSConnectionLimits = TLSConnectionLimits(),
    allowHalfClosure: Bool = true, autoRead: Bool = true,
    application: @escaping @Sendable () -> any ChannelHandler & Sendable = { EchoHandler() }
  ) async throws {
    let contexts = TLSContextBox(try TLSContext(configuration))
    self.contexts = contexts
    listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.backlog, value: 1024)
      .childChannelOption(.allowRemoteHalfClosure, value: allowHalfClosure)
      .childChannelOption(.autoRead, value: autoRead)
      .childChannelInitializer { [outcomes, errors, connections] channel in
        connections.append(channel)
        return channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(
            TLSServerHandler(contexts.current, limits: limits) { outcomes.append($0) })
          try pipeline.addHandler(application())
          try pipeline.addHandler(ErrorRecorder(errors))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
  }

  func stop() async throws {
    for connection in connections.all { connection.close(promise: nil) }
    try await listener.close()
  }
}

/// Values in the order of their arrival, from any thread, with waiting.
final class Recorder<Value: Sendable>: Sendable {
  private let values = NIOLockedValueBox<[Value]>([])

  var all: [Value] { values.withLockedValue { $0 } }
  func append(_ value: Value) { values.withLockedValue { $0.append(value) } }

  /// The value at an index once there is one.
  func value(_ index: Int = 0) async throws -> Value {
    try await eventually { self.all.count > index }
    return all[index]
  }
}

struct DeadlineExceeded: Error {}

/// Returns when the condition holds; throws after the deadline.
func eventually(within deadline: Duration = .seconds(60), _ condition: () async throws -> Bool)
  async throws
{
  let end = ContinuousClock.now + deadline
  while try await !condition() {
    guard ContinuousClock.now < end else { throw DeadlineExceeded() }
    try await Task.sleep(for: .milliseconds(2))
  }
}

/// Sends back what it gets; after a line that begins with "ping" it closes.
final class EchoHandler: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    let isPing = buffer.readableBytesView.starts(with: "ping".utf8)
    context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    if isPing { context.close(promise: nil) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }
}

/// Notes errors and events at the end of a pipeline.
final class ErrorRecorder: ChannelInboundHandler, Sendable {
  typealias InboundIn = Any
  private let errors: Recorder<String>
  init(_ errors: Recorder<String>) { self.errors = errors }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    errors.append((error as? TLSError)?.code.description ?? "\(error)")
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is TLSTruncationEvent { errors.append("truncation") }
    if case ChannelEvent.inputClosed = event { errors.append("inputClosed") }
  }
}

/// What a client on NIOSSL saw.
final class ClientRecorder: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer
  let received = NIOLockedValueBox(ByteBuffer())
  let handshakes = Recorder<String?>()
  let errors = Recorder<String>()
  let readsCompleted = NIOLockedValueBox(0)

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    _ = received.withLockedValue { $0.writeBuffer(&buffer) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    readsCompleted.withLockedValue { $0 += 1 }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case TLSUserEvent.handshakeCompleted(let name)? = event as? TLSUserEvent {
      handshakes.append(name)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { errors.append("\(error)") }
}

/// A client on NIOSSL (BoringSSL): another implementation than the one under test.
struct TestClient: Sendable {
  let channel: any Channel
  let seen: ClientRecorder

  var received: ByteBuffer { seen.received.withLockedValue { $0 } }

  init(
    port: Int, _ certificates: TestCertificates, autoRead: Bool = true,
    _ adjust: (inout TLSConfiguration) throws -> Void = { _ in }
  ) async throws {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.trustRoots = .file(certificates.path("ca.pem"))
    try adjust(&configuration)
    let context = try NIOSSLContext(configuration: configuration)
    let seen = ClientRecorder()
    self.seen = seen
    channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelOption(.autoRead, value: autoRead)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(
            NIOSSLClientHandler(context: context, serverHostname: "localhost"))
          try pipeline.addHandler(seen)
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
  }

  func send(_ text: String) async throws { try await send(ByteBuffer(string: text)) }
  func send(_ buffer: ByteBuffer) async throws { try await channel.writeAndFlush(buffer) }

  /// The negotiated protocol once the handshake is done.
  func handshake() async throws -> String? { try await seen.handshakes.value() }
  func closed() async throws { try await channel.closeFuture.get() }
}

extension TLSContext.Configuration {
  /// A configuration of certificates by name.
  init(_ certificates: TestCertificates, _ names: String...) {
    self.init(
      identities: names.map {
        TLSContext.Identity(
          certificateChainFile: certificates.path("\($0).pem"),
          privateKeyFile: certificates.path("\($0).key"))
      })
  }
}
