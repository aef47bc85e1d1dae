import NIOCore
import NIOHTTPTypes

/// A request's body ended before its end.
struct RequestCutOff: Error {}

/// Fails a request whose stream closes before the request has ended.
///
/// Hummingbird takes the end of a stream for the end of the body (2.28), so that what came of a
/// request before its client was gone would be read as the whole of it.
final class CutOffRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart

  private var isInRequest = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head: isInRequest = true
    case .body: break
    case .end: isInRequest = false
    }
    context.fireChannelRead(data)
  }

  func channelInactive(context: ChannelHandlerContext) {
    if isInRequest { context.fireErrorCaught(RequestCutOff()) }
    context.fireChannelInactive()
  }
}
