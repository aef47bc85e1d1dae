import Crypto
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PostgresWire
import ServiceLifecycle
import VocativeModel
import VocativeStorage

/// The feed, pushed: Server-Sent Events (WHATWG HTML, section 9.2).
///
/// Each event is a page of changes, and its id the token behind it, so that `Last-Event-ID` resumes
/// at any replica.
struct EventRoutes {
  let storage: Storage
  let limits: Limits
  let tokenKey: SymmetricKey
  let now: @Sendable () -> Date

  func add(to group: RouterGroup<ServiceContext>) {
    group.get("events", use: events)
  }

  private static let lastEventID = HTTPField.Name("Last-Event-ID")!

  private func events(_ request: Request, _ context: ServiceContext) async throws -> Response {
    let query = try Query(request, allowing: ["limit"])
    let pageLimits = try query.pageLimits(limits)
    let caller = context.caller
    let token = try request.headers[Self.lastEventID].map {
      try FeedRoutes.token($0, for: caller, tokenKey)
    }
    guard let subscription = storage.wakeUps.follow(caller, limit: limits.streamsPerUser) else {
      throw ServiceError.tooManyStreams
    }
    // The first page decides between a stream and an error.
    let first = try await storage.feeds.changes(
      for: caller, since: token, limits: pageLimits)
    guard case .page(let page) = first else { throw FeedRoutes.expired }
    let stream = EventStream(
      feeds: storage.feeds, subscription: subscription, caller: caller,
      limits: pageLimits, tokenKey: tokenKey, resumed: token,
      expiresAt: context.expiresAt, now: now, logger: context.logger)
    return Response(
      status: .ok,
      headers: [
        .contentType: "text/event-stream", .cacheControl: "no-store",
        // Proxies must not hold events back.
        HTTPField.Name("X-Accel-Buffering")!: "no",
      ],
      body: ResponseBody { writer in
        try await request.body.consumeWithInboundCloseHandler { _ in
          try await withGracefulShutdownHandler {
            try await stream.run(from: page, &writer)
          } onGracefulShutdown: {
            subscription.cancel()
          }
        } onInboundClosed: {
          subscription.cancel()
        }
        try await writer.finish(nil)
      })
  }
}

/// One open stream.
private struct EventStream {
  let feeds: FeedStore
  let subscription: WakeUps.Subscription
  let caller: UserID
  let limits: FeedStore.PageLimits
  let tokenKey: SymmetricKey
  let resumed: FeedToken?
  let expiresAt: Date
  let now: @Sendable () -> Date
  let logger: Logger

  /// Milliseconds after which a client is to come again; it adds jitter of its own.
  private static let retry = 1000

  func run(from first: FeedStore.Page, _ writer: inout any ResponseBodyWriter) async throws {
    try await writer.write(ByteBuffer(string: "retry: \(Self.retry)\n\n"))
    var page = first
    // A resumed stream that missed nothing has nothing to say.
    if page.next != resumed { try await send(page, &writer) }
    var signals = subscription.signals.makeAsyncIterator()
    while true {
      guard now() < expiresAt, !Task.isShuttingDownGracefully else { break }
      if !page.hasMore {
        guard await signals.next() != nil else { break }
        guard subscription.hasMoved(beyond: page.next.cursor) else {
          try await writer.write(ByteBuffer(string: ":\n\n"))
          continue
        }
      }
      let before = page.next
      guard let next = await nextPage(behind: before) else { break }
      page = next
      // A place may be of vocabulary, without a thread.
      if page.next != before { try await send(page, &writer) }
    }
    // An event without data would not be dispatched.
    try await writer.write(
      ByteBuffer(string: "event: reconnect\nretry: \(Self.retry)\ndata: {}\n\n"))
  }

  /// Nil ends the stream: the client comes again with its last token.
  private func nextPage(behind token: FeedToken) async -> FeedStore.Page? {
    do throws(PostgresError) {
      let outcome = try await feeds.changes(for: caller, since: token, limits: limits)
      guard case .page(let page) = outcome else { return nil }
      return page
    } catch {
      logger.warning("a stream ends, as the feed cannot be read", metadata: ["error": "\(error)"])
      return nil
    }
  }

  private func send(_ page: FeedStore.Page, _ writer: inout any ResponseBodyWriter) async throws {
    let token = page.next.string(for: caller, key: tokenKey)
    var json = JSONWriter(reservingCapacity: 256 + 4096 * page.threads.count)
    page.write(to: &json, for: caller, token: token)
    var buffer = ByteBuffer()
    buffer.reserveCapacity(json.utf8.count + 192)
    buffer.writeString("event: changes\nid: \(token)\ndata: ")
    buffer.writeBytes(json.utf8)
    buffer.writeString("\n\n")
    try await writer.write(buffer)
  }
}
