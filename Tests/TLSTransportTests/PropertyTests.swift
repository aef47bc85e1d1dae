import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOSSL
import TLSTransport
import Testing

@Suite struct PropertyTests {
  let certificates = try! TestCertificates.shared.get()

  /// Whatever the sizes of writes and wherever the network cuts: what goes in comes out, in order,
  /// and each write's promise is completed once.
  @Test(arguments: [TLSVersion.tlsv12, .tlsv13], 0..<20)
  func anyCutOfTheWire(version: TLSVersion, round: Int) async throws {
    var random = SeededGenerator()
    try await withKnownSeed(random.seed) {
      // Other tests wait for the pool's threads; once there is a channel, it stays on its thread.
      await Task.yield()
      let context = try TLSContext(.init(certificates, round.isMultiple(of: 2) ? "ecdsa" : "rsa"))
      let pair = try EmbeddedConnection(context, certificates, version: version)
      defer { pair.end() }
      var up = ByteBuffer()
      var down = ByteBuffer()
      let completions = NIOLockedValueBox<[Int]>([])
      var writes = 0
      for _ in 0..<Int.random(in: 1...30, using: &random) {
        for _ in 0..<Int.random(in: 0...5, using: &random) {
          let size = [0, 1, 100, 9000, 16384, 40000, 300_000].randomElement(using: &random)!
          let bytes = random.bytes(Int.random(in: 0...size, using: &random))
          let number = writes
          writes += 1
          let promise = pair.server.eventLoop.makePromise(of: Void.self)
          promise.futureResult.whenComplete { _ in completions.withLockedValue { $0.append(number) }
          }
          down.writeBytes(bytes)
          pair.server.write(ByteBuffer(bytes: bytes), promise: promise)
          if Bool.random(using: &random) { pair.server.flush() }
        }
        let bytes = random.bytes(Int.random(in: 0...20000, using: &random))
        up.writeBytes(bytes)
        pair.client.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        try pair.exchange { split($0, &random) }
      }
      pair.server.flush()
      try pair.exchange { split($0, &random) }
      #expect(pair.serverReceived == up)
      #expect(pair.clientReceived == down)
      #expect(completions.withLockedValue { $0 } == Array(0..<writes))
    }
  }

  private func split(_ buffer: ByteBuffer, _ random: inout SeededGenerator) -> [ByteBuffer] {
    var rest = buffer
    var pieces: [ByteBuffer] = []
    let largest = [1, 7, 600, 20000, 100_000].randomElement(using: &random)!
    // One byte at a time for what takes long is enough at the start of it.
    while rest.readableBytes > 0, pieces.count < 3000 {
      let size = min(rest.readableBytes, Int.random(in: 1...largest, using: &random))
      pieces.append(rest.readSlice(length: size)!)
    }
    return pieces + [rest]
  }

  /// Small writes of one flush share a record; large ones fill records.
  @Test func recordsAreCoalesced() throws {
    let pair = try EmbeddedConnection(TLSContext(.init(certificates, "ecdsa")), certificates)
    defer { pair.end() }
    try pair.handshake()
    for _ in 0..<50 { pair.server.write(ByteBuffer(string: "a header"), promise: nil) }
    pair.server.flush()
    #expect(records(try pair.sent(by: pair.server)) == [50 * 8 + 17])
    pair.server.writeAndFlush(ByteBuffer(repeating: 1, count: 65536), promise: nil)
    #expect(records(try pair.sent(by: pair.server)) == Array(repeating: 16384 + 17, count: 4))
  }

  private func records(_ buffer: ByteBuffer) -> [Int] {
    var (buffer, sizes) = (buffer, [Int]())
    while let header = buffer.readBytes(length: 5) {
      sizes.append(Int(header[3]) << 8 | Int(header[4]))
      buffer.moveReaderIndex(forwardBy: sizes.last!)
    }
    return sizes
  }

  /// A channel that does not take more gets no more: plaintext waits, ciphertext is bounded, and
  /// the promise of a write comes with the last of its bytes.
  @Test func encryptsOnlyWhatTheChannelTakes() throws {
    let pair = try EmbeddedConnection(TLSContext(.init(certificates, "ecdsa")), certificates)
    defer { pair.end() }
    try pair.handshake()
    let isDone = NIOLockedValueBox(false)
    pair.server.isWritable = false
    pair.server.writeAndFlush(ByteBuffer(repeating: 5, count: 10 << 20)).whenSuccess {
      isDone.withLockedValue { $0 = true }
    }
    #expect(try pair.sent(by: pair.server).readableBytes == 0)
    let throttle = Throttle()
    try pair.server.pipeline.syncOperations.addHandler(throttle, position: .first)
    pair.server.isWritable = true
    var total = 0
    while total < 10 << 20 {
      #expect(!isDone.withLockedValue { $0 })
      pair.server.pipeline.fireChannelWritabilityChanged()
      let sent = try pair.sent(by: pair.server)
      try #require(sent.readableBytes > 0)
      #expect(sent.readableBytes <= (128 << 10) + 1024)
      try pair.client.writeInbound(sent)
      pair.server.isWritable = true
      pair.collect()
      total = pair.clientReceived.readableBytes
    }
    #expect(isDone.withLockedValue { $0 })
    #expect(total == 10 << 20)
  }

  /// Becomes unwritable with each write.
  private final class Throttle: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      (context.channel as! EmbeddedChannel).isWritable = false
      context.write(data, promise: promise)
    }
  }

  /// HTTP/2 closes on the last frame of the last stream, before it is flushed.
  @Test func closeSendsWhatWasWritten() throws {
    for mode in [CloseMode.all, .output] {
      let pair = try EmbeddedConnection(TLSContext(.init(certificates, "ecdsa")), certificates)
      defer { pair.end() }
      try pair.handshake()
      let write = pair.server.write(ByteBuffer(string: "the last frame"))
      pair.server.close(mode: mode, promise: nil)
      try write.wait()
      #expect { try pair.server.writeAndFlush(ByteBuffer(string: "more")).wait() } throws: {
        [.outputClosed, .ioOnClosedChannel].contains($0 as? ChannelError)
      }
      try pair.client.writeInbound(pair.sent(by: pair.server))
      pair.collect()
      #expect(String(buffer: pair.clientReceived) == "the last frame")
    }
  }

  @Test func writesAreFailedWhenTheChannelEnds() throws {
    for version in [TLSVersion.tlsv12, .tlsv13] {
      for handshakes in [false, true] {
        let pair = try EmbeddedConnection(
          TLSContext(.init(certificates, "ecdsa")), certificates, version: version)
        if handshakes { try pair.handshake() }
        pair.server.isWritable = false
        let completed = NIOLockedValueBox(0)
        for _ in 0..<10 {
          let promise = pair.server.eventLoop.makePromise(of: Void.self)
          promise.futureResult.whenComplete { _ in completed.withLockedValue { $0 += 1 } }
          pair.server.writeAndFlush(ByteBuffer(repeating: 1, count: 1000), promise: promise)
        }
        #expect(completed.withLockedValue { $0 } == 0)
        pair.end()
        #expect(completed.withLockedValue { $0 } == 10)
      }
    }
  }

  @Test func tooMuchBeforeTheHandshake() throws {
    var limits = TLSConnectionLimits()
    limits.earlyWriteBytes = 1000
    let pair = try EmbeddedConnection(
      TLSContext(.init(certificates, "ecdsa")), certificates, limits: limits)
    let first = pair.server.writeAndFlush(ByteBuffer(repeating: 1, count: 1000))
    let second = pair.server.writeAndFlush(ByteBuffer(repeating: 1, count: 1))
    for write in [first, second] {
      #expect { try write.wait() } throws: { ($0 as? TLSError)?.code == .writeBeforeHandshake }
    }
    #expect(!pair.server.isActive)
    pair.end()
  }
}

/// Names the seed in the failure of a property, so that it can be replayed.
func withKnownSeed(_ seed: UInt64, _ body: () async throws -> Void) async throws {
  do { try await body() } catch {
    Issue.record("seed \(seed): \(error)")
    throw error
  }
}
