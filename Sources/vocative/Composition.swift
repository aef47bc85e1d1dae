import ArgumentParser
import EmbeddedPostgres
import FoundationEssentials
import Glibc
import Identity
import Logging
import Metrics
import Observability
import Postgres
import PostgresWire
import ServiceLifecycle
import TLSTransport
import VocativeModel
import VocativeServer
import VocativeStorage

/// Makes the parts of the process from its configuration. Nothing else reads the environment, the
/// clock or randomness: all else is given them.
struct Composition: Sendable {
  let configuration: ServiceConfiguration
  let logger: Logger
  let metrics: PrometheusMetrics

  static let now: @Sendable () -> Date = { Date() }
  static let random: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
  static let makeID: @Sendable () -> UUID = { UUID() }

  /// Reads the configuration, and sets logging and metrics up; once in a process.
  init(_ options: ConfigurationOptions) throws {
    configuration = try options.load()
    let output = LogOutput(
      format: configuration.log.format == .json ? .json : .text,
      level: Logger.Level(rawValue: configuration.log.level) ?? .info, now: Self.now)
    LoggingSystem.bootstrap(
      { label, provider in output.handler(label: label, provider: provider) },
      metadataProvider: TraceContext.metadataProvider)
    metrics = PrometheusMetrics()
    MetricsSystem.bootstrap(metrics)
    logger = Logger(label: "vocative")
  }

  var mode: OperatingMode {
    configuration.mode == .development ? .development : .production
  }

  /// A path in the data directory.
  func dataPath(_ name: String) -> String {
    URL(filePath: configuration.dataDirectory).appending(path: name).path
  }

  // MARK: Database

  /// A database to work with.
  struct DatabaseAccess: Sendable {
    /// The private cluster; nil where the configuration names a database.
    var cluster: EmbeddedPostgres?
    /// How the service connects.
    var service: String
    /// How migrations connect.
    var administration: String
  }

  /// Starts the private cluster, unless the configuration names a database.
  func openDatabase() async throws -> DatabaseAccess {
    if let url = configuration.database.url {
      return DatabaseAccess(
        cluster: nil, service: url.value, administration: url.value)
    }
    var settings = EmbeddedPostgres.Configuration(
      directory: configuration.embeddedDatabaseDirectory)
    settings.maxConnections = 100
    let cluster = try await EmbeddedPostgres.start(settings, logger: logger)
    if try await !cluster.databaseExists("vocative") {
      try await cluster.createDatabase("vocative")
    }
    return DatabaseAccess(
      cluster: cluster, service: cluster.conninfo(database: "vocative", user: "vocative"),
      administration: cluster.conninfo(
        database: "vocative", user: EmbeddedPostgres.superuser))
  }

  /// - Parameter onConnect: settings of the connections; the service's by default.
  func client(
    _ conninfo: String, leases: Int? = nil,
    onConnect: [String: String] = Storage.connectionSettings
  ) -> PostgresClient {
    var settings = PostgresConfiguration(connectionString: conninfo)
    settings.readConnections = configuration.database.readConnections
    settings.writeConnections = configuration.database.writeConnections
    settings.leaseConnections = leases ?? configuration.database.leaseConnections
    settings.deadline = configuration.database.statementDeadline
    settings.onConnect = onConnect
    return PostgresClient(configuration: settings, logger: logger)
  }

  /// The private cluster belongs to the service: it is migrated, and the service's log-in role made.
  func prepare(_ cluster: EmbeddedPostgres, _ access: DatabaseAccess) async throws {
    try await withClient(client(access.administration, leases: 1, onConnect: [:])) { client in
      let applied = try await Migrator(client: client, logger: logger).migrate()
      if !applied.isEmpty { logger.info("migrated", metadata: ["count": "\(applied.count)"]) }
    }
    try await cluster.execute(
      """
      DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'vocative') THEN
          CREATE ROLE vocative LOGIN IN ROLE vocative_service;
        END IF;
      END $$
      """, database: "vocative")
  }

  /// Runs a client for as long as `body` takes.
  func withClient<Result: Sendable>(
    _ client: PostgresClient, _ body: @escaping @Sendable (PostgresClient) async throws -> Result
  ) async throws -> Result {
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(services: [client], logger: logger))
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      let result: Swift.Result<Result, any Error>
      do { result = .success(try await body(client)) } catch { result = .failure(error) }
      await group.triggerGracefulShutdown()
      // Why the client could not run comes before what could not be done without it.
      try await tasks.waitForAll()
      return try result.get()
    }
  }

  // MARK: Identity and TLS

  func developmentIssuer() throws -> DevelopmentIssuer {
    try DevelopmentIssuer(
      directory: dataPath("identity"), mode: mode,
      issuer: configuration.identity.issuer ?? DevelopmentIssuer.defaultIssuer,
      audience: configuration.identity.audience ?? DevelopmentIssuer.defaultAudience,
      now: Self.now)
  }

  /// The key set and what checks tokens against it. In development without an identity provider of
  /// one's own, the built-in issuer's.
  func authentication() throws -> (source: JWKSSource, authenticator: Authenticator) {
    let location: JWKSLocation
    let issuer: String
    let audience: String
    switch configuration.identity.keySet {
    case .file(let text), .url(let text):
      // Whether they are there has been checked with the configuration.
      guard let named = configuration.identity.issuer,
        let meant = configuration.identity.audience
      else {
        throw ValidationError("identity.issuer and identity.audience go with identity.jwks")
      }
      location = try JWKSLocation(text)
      issuer = named
      audience = meant
    case nil:
      let development = try developmentIssuer()
      location = try JWKSLocation(development.jwksPath)
      issuer = development.issuer
      audience = development.audience
    }
    var options = JWKSSource.Options()
    options.interval = configuration.identity.refresh
    let source = JWKSSource(
      location, options: options, logger: logger, now: Self.now,
      random: { Double.random(in: $0) })
    return (
      source,
      Authenticator(
        Authenticator.Configuration(issuer: issuer, audiences: [audience]), keys: source,
        now: Self.now)
    )
  }

  /// The files that TLS is made of; in development without a certificate of one's own, those of a
  /// private authority.
  func tlsConfiguration() throws -> TLSContext.Configuration {
    var identities = configuration.tls.identities.map {
      TLSContext.Identity(certificateChainFile: $0.certificate, privateKeyFile: $0.key)
    }
    if identities.isEmpty {
      let files = try developmentCertificates()
      identities = [
        TLSContext.Identity(
          certificateChainFile: files.serverChainPath, privateKeyFile: files.serverKeyPath)
      ]
    }
    var tls = TLSContext.Configuration(identities: identities)
    tls.ticketKeyFile = configuration.tls.ticketKeys
    if let authority = configuration.tls.clientAuthority {
      tls.clientCertificates = .optional(authoritiesFile: authority)
    }
    return tls
  }

  func developmentCertificates() throws -> DevelopmentCertificates {
    let host = configuration.listen.host
    let isWildcard = host == "0.0.0.0" || host == "::"
    return try DevelopmentCertificates(
      directory: dataPath("tls"), mode: mode, hostNames: isWildcard ? [] : [host],
      now: Self.now())
  }

  // MARK: Limits

  /// Clients' connections at a time: what the limit of open files leaves beside the database's, the
  /// key set's and the log's.
  static var maximumConnections: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 768 }
    return max(64, Int(min(limit.rlim_cur, 1_000_000)) - 256)
  }

  // MARK: Intents

  /// - Throws: `ConfigurationError` where the table of words cannot be used.
  func intents() throws -> IntentPolicy {
    var policy = IntentPolicy(
      restrictsWhileLocked: configuration.intents.restrictsWhileLocked,
      confirmationSeconds: Int(configuration.intents.confirmation.components.seconds))
    if let path = configuration.intents.adaptations {
      func unusable(_ message: String) -> ConfigurationError {
        ConfigurationError(problems: [
          .init(
            source: .combination, name: ConfigurationKey.intentsAdaptations.name, message: message)
        ])
      }
      do {
        policy.adaptation = try IntentPolicy.read(
          [UInt8](try Data(contentsOf: URL(filePath: path))))
      } catch let error as InvalidValue {
        throw unusable("names a file that \(error.reason)")
      } catch is DecodingError {
        throw unusable("names a file that is no JSON object of words and what stands for each")
      } catch {
        throw unusable("names a file that cannot be read")
      }
    }
    return policy
  }

  var limits: Limits {
    var limits = Limits()
    limits.textBytes = configuration.limits.textBytes
    limits.participants = configuration.limits.participants
    limits.batchEntries = configuration.limits.batchEntries
    limits.bodyBytes = configuration.limits.bodyBytes
    limits.bodySeconds = Int(configuration.limits.body.components.seconds)
    limits.pageBytes = configuration.limits.pageBytes
    limits.indexBytes = configuration.limits.indexBytes
    limits.defaultPage = configuration.limits.pageDefault
    limits.maximumPage = configuration.limits.pageMaximum
    limits.longPollSeconds = Int(configuration.limits.longPoll.components.seconds)
    limits.streamsPerUser = configuration.limits.streamsPerUser
    limits.vocabularyStrings = configuration.limits.vocabularyStrings
    limits.vocabularyStringBytes = configuration.limits.vocabularyStringBytes
    limits.vocabularyBytes = configuration.limits.vocabularyBytes
    return limits
  }
}
