import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import TestSupport

/// A connection whose bytes the test writes itself, in clear or through TLS.
final class RawConnection: Sendable {
  private final class Inbox: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let state = Mutex((bytes: Data(), isClosed: false))

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let buffer = unwrapInboundIn(data)
      state.withLock { $0.bytes.append(contentsOf: buffer.readableBytesView) }
    }

    func channelInactive(context: ChannelHandlerContext) {
      state.withLock { $0.isClosed = true }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }
  }

  private let channel: any Channel
  private let inbox: Inbox

  /// Connects to a service, with TLS unless told otherwise.
  static func open(
    _ service: RunningService, tls: Bool = true, alpn: String = "http/1.1"
  ) async throws -> RawConnection {
    let inbox = Inbox()
    let context = tls ? try tlsContext(service, alpn) : nil
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          if let context {
            try channel.pipeline.syncOperations.addHandler(
              NIOSSLClientHandler(context: context, serverHostname: "localhost"))
          }
          try channel.pipeline.syncOperations.addHandler(inbox)
        }
      }
      .connect(host: "127.0.0.1", port: service.port).get()
    return RawConnection(channel, inbox)
  }

  private static func tlsContext(
    _ service: RunningService, _ alpn: String
  ) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.trustRoots = .file(service.caFile)
    configuration.applicationProtocols = [alpn]
    return try NIOSSLContext(configuration: configuration)
  }

  private init(_ channel: any Channel, _ inbox: Inbox) {
    self.channel = channel
    self.inbox = inbox
  }

  /// Writes; a peer that has closed already is no error.
  func send(_ bytes: some Sequence<UInt8> & Sendable) async {
    try? await channel.writeAndFlush(ByteBuffer(bytes: bytes))
  }

  func send(_ text: String) async { await send(Array(text.utf8)) }

  func close() async { try? await channel.close() }

  var received: String { inbox.state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }
  var isClosed: Bool { inbox.state.withLock { $0.isClosed } }

  /// Waits until the peer closes.
  ///
  /// - Returns: how long that took.
  func waitForClose(within deadline: Duration) async throws -> Duration {
    let start = ContinuousClock.now
    try await eventually(within: deadline) { isClosed }
    return ContinuousClock.now - start
  }

  /// Waits for one whole answer that has a body of known length or none.
  func answer(within deadline: Duration = .seconds(10)) async throws -> RawAnswer {
    var answer: RawAnswer?
    try await eventually(within: deadline) {
      answer = RawAnswer(received)
      return answer != nil || isClosed
    }
    guard let answer else { throw NoAnswer(received: received) }
    return answer
  }
}

struct NoAnswer: Error { let received: String }

/// An HTTP/1.1 response as text.
struct RawAnswer {
  var status: Int
  var headers: [String: String] = [:]
  var body: String

  /// Nil while it is not whole.
  init?(_ text: String) {
    guard let end = text.range(of: "\r\n\r\n") else { return nil }
    let lines = text[..<end.lowerBound].split(separator: "\r\n")
    guard let first = lines.first, let code = first.split(separator: " ").dropFirst().first,
      let status = Int(code)
    else { return nil }
    self.status = status
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] =
        line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    body = String(text[end.upperBound...])
    guard body.utf8.count >= Int(headers["content-length"] ?? "0") ?? 0 else { return nil }
  }

  var json: [String: Any]? {
    (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any]
  }
}
