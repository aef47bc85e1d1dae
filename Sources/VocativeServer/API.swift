public import Crypto
public import FoundationEssentials
public import Hummingbird
import HummingbirdCore
public import Identity
public import Logging
public import VocativeModel
public import TLSTransport
public import VocativeStorage

/// What the routes need; all of it is made by the process.
public struct ServiceParts: Sendable {
  public var storage: Storage
  public var authenticator: Authenticator
  /// Signs the feed tokens and the confirmations.
  public var tokenKey: SymmetricKey
  public var limits: Limits
  public var intents: IntentPolicy
  public var readiness: @Sendable () async -> Readiness
  /// What the demo page works with; nil outside of development mode, where the page does not exist.
  public var demo: DemoSession?
  /// Whether browsers are told to use TLS only (RFC 6797).
  public var sendsHSTS: Bool
  public var now: @Sendable () -> Date
  /// 64 random bits, for trace ids.
  public var random: @Sendable () -> UInt64
  /// Indexes of users' vocabularies, for all routes together.
  let indexes: VocabularyIndexes

  public init(
    storage: Storage, authenticator: Authenticator, tokenKey: SymmetricKey, limits: Limits,
    intents: IntentPolicy = IntentPolicy(),
    readiness: @escaping @Sendable () async -> Readiness, demo: DemoSession?,
    sendsHSTS: Bool, now: @escaping @Sendable () -> Date, random: @escaping @Sendable () -> UInt64
  ) {
    self.storage = storage
    self.authenticator = authenticator
    self.tokenKey = tokenKey
    self.limits = limits
    self.intents = intents
    self.readiness = readiness
    self.demo = demo
    self.sendsHSTS = sendsHSTS
    self.now = now
    self.random = random
    indexes = VocabularyIndexes(vocabulary: storage.vocabulary, budget: limits.indexBytes)
  }
}

/// The public address: all of `/v1`, the contract, and the health checks.
public enum API {
  /// The API as an application to be run.
  ///
  /// - Parameters:
  ///   - contexts: what TLS is made from; nil for plain HTTP, on loopback only.
  ///   - port: 0 for any free port.
  ///   - maximumConnections: connections at a time; further ones wait to be accepted.
  ///   - onRunning: called with the port once it listens.
  public static func application(
    _ parts: ServiceParts, contexts: TLSContextBox?, host: String, port: Int, logger: Logger,
    maximumConnections: Int, onRunning: @escaping @Sendable (_ port: Int) async -> Void
  ) -> some ApplicationProtocol {
    Application(
      responder: router(parts).buildResponder(), server: makeServerBuilder(tls: contexts),
      configuration: ApplicationConfiguration(
        address: .hostname(host, port: port), serverName: "vocative", backlog: 4096,
        availableConnectionsDelegate: MaximumAvailableConnections(maximumConnections)),
      onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? port) },
      logger: logger)
  }

  static func router(_ parts: ServiceParts) -> Router<ServiceContext> {
    // Built twice, as the outermost middleware has to know the routes that lie behind it.
    router(parts, methods: MethodTable(routes(parts)))
  }

  /// Path pattern and method of each route.
  static func routes(_ parts: ServiceParts) -> [(path: String, method: String)] {
    router(parts, methods: MethodTable([])).routes.map { route in
      (
        "/" + route.path.description.split(separator: "/").joined(separator: "/"),
        route.method.rawValue
      )
    }
  }

  private static func router(
    _ parts: ServiceParts, methods: MethodTable
  ) -> Router<ServiceContext> {
    let router = Router(context: ServiceContext.self)
    router.add(
      middleware: RequestLog(methods: methods, sendsHSTS: parts.sendsHSTS, random: parts.random))
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
    VocabularyRoutes(storage: parts.storage, limits: parts.limits).add(to: device)
    let resolution = PhraseResolution(
      indexes: parts.indexes, vocabulary: parts.storage.vocabulary)
    ResolveRoutes(resolution: resolution, limits: parts.limits).add(to: device)
    let intents = device.group("intents")
    IntentRoutes(resolution: resolution, threads: parts.storage.threads, limits: parts.limits)
      .add(to: intents)
    SendMessageRoutes(
      sending: MessageSending(
        storage: parts.storage, policy: parts.intents, tokenKey: parts.tokenKey, now: parts.now),
      limits: parts.limits
    ).add(to: intents)
    let jobs = router.group("v1/jobs")
      .add(
        middleware: Authentication(
          authenticator: parts.authenticator, scope: .vocabularyUpload))
    VocabularyJobRoutes(storage: parts.storage, limits: parts.limits).add(to: jobs)
    return router
  }
}
