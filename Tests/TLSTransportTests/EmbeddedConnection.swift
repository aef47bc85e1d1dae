import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOSSL
import TLSTransport

/// A server of ours and a client on NIOSSL in one thread, with the wire between them in our hands.
final class EmbeddedConnection {
  let server = EmbeddedChannel()
  let client = EmbeddedChannel()
  let handler: TLSServerHandler
  /// What the server's application got.
  var serverReceived = ByteBuffer()
  var clientReceived = ByteBuffer()

  init(
    _ context: TLSContext, _ certificates: TestCertificates,
    limits: TLSConnectionLimits = TLSConnectionLimits(), version: TLSVersion = .tlsv13
  ) throws {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.trustRoots = .file(certificates.path("ca.pem"))
    configuration.minimumTLSVersion = version
    configuration.maximumTLSVersion = version
    handler = try TLSServerHandler(context, limits: limits)
    try server.pipeline.syncOperations.addHandler(handler)
    try client.pipeline.syncOperations.addHandler(
      NIOSSLClientHandler(
        context: NIOSSLContext(configuration: configuration), serverHostname: "localhost"))
    try server.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try client.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 2)).wait()
  }

  /// Lets go of both ends; whatever they still wanted to say is not heard.
  func end() {
    client.pipeline.fireChannelInactive()
    server.pipeline.fireChannelInactive()
    _ = try? client.finish(acceptAlreadyClosed: true)
    _ = try? server.finish(acceptAlreadyClosed: true)
  }

  /// Takes what one end has put on the wire.
  func sent(by channel: EmbeddedChannel) throws -> ByteBuffer {
    var all = ByteBuffer()
    while var buffer = try channel.readOutbound(as: ByteBuffer.self) { all.writeBuffer(&buffer) }
    return all
  }

  func handshake() throws { try exchange { [$0] } }

  /// Moves bytes both ways until neither has any left.
  /// - Parameter split: Cuts what is on the wire into the pieces that arrive.
  func exchange(_ split: (ByteBuffer) throws -> [ByteBuffer]) throws {
    while true {
      let (up, down) = (try sent(by: client), try sent(by: server))
      guard up.readableBytes + down.readableBytes > 0 else { return }
      for piece in try split(up) where piece.readableBytes > 0 { try server.writeInbound(piece) }
      for piece in try split(down) where piece.readableBytes > 0 { try client.writeInbound(piece) }
      collect()
    }
  }

  func collect() {
    while var buffer = try? server.readInbound(as: ByteBuffer.self) {
      serverReceived.writeBuffer(&buffer)
    }
    while var buffer = try? client.readInbound(as: ByteBuffer.self) {
      clientReceived.writeBuffer(&buffer)
    }
  }
}
