import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP/1.1 server on a loopback port that answers GET requests as told.
final class TestServer: Sendable {
  struct Answer: Sendable {
    var status: HTTPResponseStatus = .ok
    var headers: HTTPHeaders = [:]
    var body: [UInt8] = []
    /// Send the head and then nothing more.
    var stalls = false
  }

  private let channel: any Channel
  private let counter: Counter
  private let scheme: String

  private final class Counter: Sendable {
    let requests = Mutex<[HTTPHeaders]>([])
  }

  /// - Parameter respond: the answer to a request; nil leaves it without any.
  init(
    tls: (chain: String, key: String)? = nil,
    respond: @escaping @Sendable (HTTPRequestHead) -> Answer?
  ) async throws {
    let counter = Counter()
    var context: NIOSSLContext?
    if let tls {
      context = try NIOSSLContext(
        configuration: .makeServerConfiguration(
          certificateChain: try NIOSSLCertificate.fromPEMFile(tls.chain)
            .map { .certificate($0) },
          privateKey: .privateKey(try NIOSSLPrivateKey(file: tls.key, format: .pem))))
    }
    let security = context
    channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let security { try pipeline.addHandler(NIOSSLServerHandler(context: security)) }
          try pipeline.configureHTTPServerPipeline()
          try pipeline.addHandler(Responder(counter: counter, respond: respond))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    self.counter = counter
    scheme = tls == nil ? "http" : "https"
  }

  var url: String { "\(scheme)://localhost:\(channel.localAddress!.port!)/jwks.json" }
  /// Headers of the requests so far.
  var requests: [HTTPHeaders] { counter.requests.withLock { $0 } }

  func stop() async throws { try await channel.close() }

  private final class Responder: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let counter: Counter
    private let respond: @Sendable (HTTPRequestHead) -> Answer?

    init(counter: Counter, respond: @escaping @Sendable (HTTPRequestHead) -> Answer?) {
      self.counter = counter
      self.respond = respond
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .head(let head) = unwrapInboundIn(data) else { return }
      counter.requests.withLock { $0.append(head.headers) }
      guard let answer = respond(head) else { return }
      var headers = answer.headers
      if !answer.stalls {
        headers.replaceOrAdd(name: "Content-Length", value: "\(answer.body.count)")
      }
      context.write(
        wrapOutboundOut(.head(.init(version: .http1_1, status: answer.status, headers: headers))),
        promise: nil)
      context.write(
        wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
      if answer.stalls { return context.flush() }
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}
