import NIOCore
import NIOEmbedded
import NIOSSL
import TLSTransport
import Testing

/// Mutations of what a real client sends. Never a crash; always an end.
@Suite struct FuzzTests {
  let certificates = try! TestCertificates.shared.get()

  private func mutate(_ buffer: ByteBuffer, _ random: inout SeededGenerator) -> ByteBuffer {
    var bytes = Array(buffer.readableBytesView)
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let at = Int.random(in: 0..<max(1, bytes.count), using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0 where !bytes.isEmpty: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 1 where !bytes.isEmpty:
        bytes[at] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random)!
      case 2:
        bytes.insert(
          contentsOf: random.bytes(Int.random(in: 1...50, using: &random)), at: min(at, bytes.count)
        )
      case 3: bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
      case 4: bytes.removeSubrange(at..<min(bytes.count, at + 20))
      default: bytes += bytes[min(at, bytes.count)...]
      }
      if bytes.isEmpty { bytes = random.bytes(8) }
    }
    return ByteBuffer(bytes: bytes)
  }

  /// Whatever came, the connection is over when the client leaves or when the time is up.
  private func end(_ pair: EmbeddedConnection, byTime: Bool) -> Bool {
    if byTime {
      pair.server.embeddedEventLoop.advanceTime(by: .seconds(10))
    } else {
      pair.server.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      // Once it is open, the application decides; ours closes.
      if pair.handler.connectionInfo != nil { pair.server.close(promise: nil) }
      pair.server.embeddedEventLoop.advanceTime(by: .seconds(5))
    }
    defer { pair.end() }
    return !pair.server.isActive
  }

  @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
  func clientHellos(version: TLSVersion) async throws {
    var random = SeededGenerator()
    try await withKnownSeed(random.seed) {
      var configuration = TLSContext.Configuration(certificates, "ecdsa", "rsa")
      configuration.clientCertificates = .optional(authoritiesFile: certificates.path("ca.pem"))
      let context = try TLSContext(configuration)
      let template = try EmbeddedConnection(context, certificates, version: version)
      let hello = try template.sent(by: template.client)
      template.end()
      #expect(hello.readableBytes > 100)
      for round in 0..<2000 {
        await Task.yield()  // the pool's threads are few, and other tests wait for them
        let pair = try EmbeddedConnection(context, certificates, version: version)
        _ = try? pair.server.writeInbound(mutate(hello, &random))
        let byTime = Bool.random(using: &random)
        let isOver = end(pair, byTime: byTime)
        #expect(isOver, "seed \(random.seed), round \(round)")
      }
    }
  }

  @Test func noise() async throws {
    var random = SeededGenerator()
    try await withKnownSeed(random.seed) {
      let context = try TLSContext(.init(certificates, "ecdsa"))
      for round in 0..<1000 {
        await Task.yield()  // the pool's threads are few, and other tests wait for them
        let pair = try EmbeddedConnection(context, certificates)
        var bytes = random.bytes(Int.random(in: 0...3000, using: &random))
        if Bool.random(using: &random), bytes.count > 5 {
          bytes.replaceSubrange(
            0..<5, with: [UInt8.random(in: 20...24, using: &random), 3, 3, 0, 99])
        }
        _ = try? pair.server.writeInbound(ByteBuffer(bytes: bytes))
        let isOver = end(pair, byTime: round.isMultiple(of: 2))
        #expect(isOver, "seed \(random.seed), round \(round)")
      }
    }
  }

  /// The second flight and application data: what arrives is a beginning of what was sent, and a
  /// record that was touched ends the connection.
  @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
  func records(version: TLSVersion) async throws {
    var random = SeededGenerator()
    try await withKnownSeed(random.seed) {
      let context = try TLSContext(.init(certificates, "ecdsa"))
      for round in 0..<700 {
        await Task.yield()  // the pool's threads are few, and other tests wait for them
        let pair = try EmbeddedConnection(context, certificates, version: version)
        let inHandshake = round.isMultiple(of: 3)
        if inHandshake {
          try pair.server.writeInbound(pair.sent(by: pair.client))
          try pair.client.writeInbound(pair.sent(by: pair.server))
        } else {
          try pair.handshake()
        }
        let sent = ByteBuffer(bytes: random.bytes(Int.random(in: 1...3000, using: &random)))
        pair.client.writeAndFlush(sent, promise: nil)
        let wire = try pair.sent(by: pair.client)
        let mutated = mutate(wire, &random)
        _ = try? pair.server.writeInbound(mutated)
        pair.collect()
        let received = pair.serverReceived
        #expect(
          sent.readableBytesView.starts(with: received.readableBytesView),
          "seed \(random.seed), round \(round)")
        let isOver = end(pair, byTime: false)
        #expect(isOver, "seed \(random.seed), round \(round)")
      }
    }
  }
}
