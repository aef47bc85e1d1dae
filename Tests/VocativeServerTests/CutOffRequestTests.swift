import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import VocativeServer

@Suite struct CutOffRequestTests {
  private static let head = HTTPRequestPart.head(
    HTTPRequest(method: .post, scheme: "https", authority: "localhost", path: "/"))
  private static let body = HTTPRequestPart.body(ByteBuffer(string: "half"))

  @Test(arguments: [[head], [head, body], [head, .end(nil), head, body]])
  func aStreamThatClosesInARequestFailsIt(_ parts: [HTTPRequestPart]) throws {
    let channel = EmbeddedChannel(handler: CutOffRequestHandler())
    for part in parts { try channel.writeInbound(part) }
    channel.pipeline.fireChannelInactive()
    #expect(throws: RequestCutOff.self) { try channel.throwIfErrorCaught() }
    _ = try? channel.finish()
  }

  @Test(arguments: [[], [head, body, .end(nil)]] as [[HTTPRequestPart]])
  func aStreamThatClosesBetweenRequestsIsInOrder(_ parts: [HTTPRequestPart]) throws {
    let channel = EmbeddedChannel(handler: CutOffRequestHandler())
    for part in parts { try channel.writeInbound(part) }
    channel.pipeline.fireChannelInactive()
    try channel.throwIfErrorCaught()
    _ = try? channel.finish()
  }
}
