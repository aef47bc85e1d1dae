import NIOCore
import NIOEmbedded
import Testing

@testable import VocativeServer

/// The tests stay synchronous: an embedded channel belongs to one thread.
@Suite struct SilentClientTests {
  private static func channel() throws -> EmbeddedChannel {
    let handler = SilentClientHandler(idleTimeout: .seconds(60), answerTimeout: .seconds(10))
    let channel = EmbeddedChannel(handler: handler)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return channel
  }

  @Test func silenceEndsAConnection() throws {
    let channel = try Self.channel()
    channel.embeddedEventLoop.advanceTime(by: .seconds(59))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }

  @Test(arguments: [true, false]) func trafficEitherWayKeepsIt(isRead: Bool) throws {
    let channel = try Self.channel()
    for _ in 0..<5 {
      channel.embeddedEventLoop.advanceTime(by: .seconds(40))
      if isRead {
        try channel.writeInbound(ByteBuffer(string: "frame"))
      } else {
        try channel.writeOutbound(ByteBuffer(string: "frame"))
      }
    }
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(60))
    #expect(!channel.isActive)
  }

  /// What the service writes is no answer.
  @Test(arguments: [true, false]) func aStopWaitsForAnAnswerOnly(answers: Bool) throws {
    let channel = try Self.channel()
    channel.embeddedEventLoop.advanceTime(by: .seconds(5))
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    channel.embeddedEventLoop.advanceTime(by: .seconds(5))
    try channel.writeOutbound(ByteBuffer(string: "GOAWAY, PING"))
    if answers { try channel.writeInbound(ByteBuffer(string: "PING, ACK")) }
    channel.embeddedEventLoop.advanceTime(by: .seconds(5))
    #expect(channel.isActive == answers)
    _ = try? channel.finish()
  }
}
