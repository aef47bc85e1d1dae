import Crypto
import Hummingbird
import NIOCore
import ServiceLifecycle
import VocativeModel
import VocativeStorage

/// The feed, asked for.
struct FeedRoutes {
  let storage: Storage
  let limits: Limits
  let tokenKey: SymmetricKey

  func add(to group: RouterGroup<ServiceContext>) {
    group.get("changes", use: changes)
  }

  private func changes(_ request: Request, _ context: ServiceContext) async throws -> Response {
    let query = try Query(request, allowing: ["since", "limit", "wait"])
    let pageLimits = try query.pageLimits(limits)
    let wait = try query.integer("wait", in: 0...Int64(limits.longPollSeconds)) ?? 0
    let caller = context.caller
    guard let since = query["since"] else {
      return try await answer(nil, caller, pageLimits)
    }
    let token = try Self.token(String(since), for: caller, tokenKey)
    if let page = try await storage.feeds.nothingNew(since: token, for: caller) {
      guard wait > 0 else {
        return .json { page.write(to: &$0, for: caller, token: String(since)) }
      }
      try await waitForMove(beyond: token, caller, seconds: wait, request)
    }
    return try await answer(token, caller, pageLimits)
  }

  /// Reads a token of the caller's.
  static func token(
    _ text: String, for caller: UserID, _ key: SymmetricKey
  ) throws -> FeedToken {
    guard let token = FeedToken(text, for: caller, key: key) else {
      throw ServiceError(.badToken)
    }
    return token
  }

  /// The answer to a token whose numbers this database does not have.
  static var expired: ServiceError {
    var error = ServiceError(
      Problem(
        "token-expired", status: 410, title: "The feed token is no longer valid",
        detail: "keep what you have, and read the changes anew without a token: each thread that "
          + "comes replaces what you have of it, and threads that do not come are gone"))
    error.link = ("reconcile", "/v1/changes")
    return error
  }

  private func answer(
    _ token: FeedToken?, _ caller: UserID, _ limits: FeedStore.PageLimits
  ) async throws -> Response {
    let outcome = try await storage.feeds.changes(
      for: caller, since: token, limits: limits)
    guard case .page(let page) = outcome else { throw Self.expired }
    let next = page.next.string(for: caller, key: tokenKey)
    return .json(reserving: 256 + 4096 * page.threads.count) {
      page.write(to: &$0, for: caller, token: next)
    }
  }

  /// Returns when the feed may have moved, the time is over, or the service is to stop.
  private func waitForMove(
    beyond token: FeedToken, _ caller: UserID, seconds: Int64, _ request: Request
  ) async throws {
    guard let subscription = storage.wakeUps.follow(caller, limit: limits.streamsPerUser) else {
      throw ServiceError.tooManyStreams
    }
    // What moved between the first look and the subscription would not be signalled.
    guard try await storage.feeds.nothingNew(since: token, for: caller) != nil else { return }
    try await request.body.consumeWithInboundCloseHandler { _ in
      await withGracefulShutdownHandler {
        await withTaskGroup(of: Void.self) { group in
          group.addTask {
            for await _ in subscription.signals where subscription.hasMoved(beyond: token.cursor) {
              return
            }
          }
          group.addTask { try? await Task.sleep(for: .seconds(seconds)) }
          await group.next()
          group.cancelAll()
        }
      } onGracefulShutdown: {
        subscription.cancel()
      }
    } onInboundClosed: {
      // Nobody waits any more; the place is free for the client's next try.
      subscription.cancel()
    }
  }
}
