import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import TLSTransport
import Testing

@Suite(.serialized) struct TransferTests {
  let certificates = try! TestCertificates.shared.get()
  static let size = 64 << 20

  /// 64 MiB up and the same down at once, each byte compared.
  @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
  func bothWays(version: TLSVersion) async throws {
    var random = SeededGenerator()
    let block = ByteBuffer(bytes: random.bytes(1 << 20))
    let server = try await TestServer(.init(certificates, "ecdsa"))
    let client = try await TestClient(port: server.port, certificates) {
      $0.maximumTLSVersion = version
    }
    for _ in 0..<(Self.size >> 20) { try await client.send(block) }
    try await eventually(within: .seconds(60)) { client.received.readableBytes == Self.size }
    var received = client.received
    while let part = received.readSlice(length: 1 << 20) {
      #expect(part == block, "seed \(random.seed)")
    }
    try await client.channel.close()
    try await server.stop()
  }

  /// One write of 64 MiB to a client that does not read: the server keeps the plaintext that it was
  /// given and no more ciphertext than the channel's mark and a batch.
  @Test func slowReaderOfTheServer() async throws {
    let server = try await TestServer(
      .init(certificates, "ecdsa"),
      application: { CloseTests.WriteAndCloseHandler(size: Self.size) })
    let client = try await TestClient(port: server.port, certificates, autoRead: false)
    client.channel.read()
    let connection = try await server.connections.value()
    try await eventually { !connection.isWritable }
    for _ in 0..<200 {
      client.channel.read()
      let buffered = try await connection.getOption(.bufferedWritableBytes).get()
      #expect(buffered <= 256 << 10)
    }
    try await client.channel.setOption(.autoRead, value: true).get()
    try await client.closed()
    #expect(client.received.readableBytes == Self.size)
    try await server.stop()
  }

  /// A server application that reads on demand gets data for each demand, and nothing unasked
  /// beyond what one read of the socket holds.
  @Test func slowReaderInTheServer() async throws {
    let seen = NIOLockedValueBox(0)
    let server = try await TestServer(
      .init(certificates, "ecdsa"), autoRead: false, application: { CountingHandler(seen) })
    let client = try await TestClient(port: server.port, certificates)
    _ = try await client.handshake()
    client.channel.writeAndFlush(ByteBuffer(repeating: 3, count: Self.size), promise: nil)
    let connection = try await server.connections.value()
    try await eventually { !client.channel.isWritable }
    #expect(seen.withLockedValue { $0 } < 1 << 20)
    while seen.withLockedValue({ $0 }) < Self.size {
      let before = seen.withLockedValue { $0 }
      connection.read()
      try await eventually { seen.withLockedValue { $0 } > before }
    }
    try await client.channel.close()
    try await server.stop()
  }

  final class CountingHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    private let seen: NIOLockedValueBox<Int>
    init(_ seen: NIOLockedValueBox<Int>) { self.seen = seen }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let count = unwrapInboundIn(data).readableBytes
      seen.withLockedValue { $0 += count }
    }
  }
}
