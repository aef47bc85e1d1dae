public import Crypto
public import FoundationEssentials
public import Hummingbird
public import Identity
public import Logging
public import VocativeModel
public import VocativeStorage

/// What the routes need; all of it is made by the process.
public struct ServiceParts: Sendable {
  public var storage: Storage
  public var authenticator: Authenticator
  /// Signs the feed tokens.
  public var tokenKey: SymmetricKey
  public var limits: Limits
  public var readiness: @Sendable () async -> Readiness
  /// What the demo page works with; nil outside of development mode, where the page does not exist.
  public var demo: DemoSession?
  public var now: @Sendable () -> Date
  /// 64 random bits, for trace ids.
  public var random: @Sendable () -> UInt64

  public init(
    storage: Storage, authenticator: Authenticator, tokenKey: SymmetricKey, limits: Limits,
    readiness: @escaping @Sendable () async -> Readiness, demo: DemoSession?,
    now: @escaping @Sendable () -> Date, random: @escaping @Sendable () -> UInt64
  ) {
    self.storage = storage
    self.authenticator = authenticator
    self.tokenKey = tokenKey
    self.limits = limits
    self.readiness = readiness
    self.demo = demo
    self.now = now
    self.random = random
  }
}

/// The service's routes.
public enum Service {
  /// The responder of the public address: all of `/v1`, the contract, and the health checks.
  public static func responder(_ parts: ServiceParts) -> some HTTPResponder<some RequestContext> {
    router(parts).buildResponder()
  }

  static func router(_ parts: ServiceParts) -> Router<ServiceContext> {
    let router = Router(context: ServiceContext.self)
    router.add(middleware: RequestLog(random: parts.random))
    OperationRoutes(readiness: parts.readiness).add(to: router)
    if let demo = parts.demo { DemoRoutes(session: demo).add(to: router) }
    let device = router.group("v1")
      .add(middleware: Authentication(authenticator: parts.authenticator, scope: .device))
    ThreadRoutes(storage: parts.storage, limits: parts.limits).add(to: device)
    EntryRoutes(storage: parts.storage, limits: parts.limits).add(to: device)
    FeedRoutes(storage: parts.storage, limits: parts.limits, tokenKey: parts.tokenKey)
      .add(to: device)
    EventRoutes(
      storage: parts.storage, limits: parts.limits, tokenKey: parts.tokenKey, now: parts.now
    ).add(to: device)
    return router
  }
}
