import ArgumentParser
import Foundation
import Hummingbird
import Identity
import Logging
import NIOCore
import Postgres
import PostgresWire
import ServiceLifecycle
import TLSTransport
import UnixSignals
import VocativeServer
import VocativeStorage

/// `vocative serve`: the service.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs the service.", discussion: ConfigurationReference.help)

  @Flag(help: "Loads a small conversation, and serves a page to try it; in development mode only.")
  var demo = false

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let composition = try Composition(options)
    if demo, composition.mode != .development {
      throw ValidationError("--demo goes with mode development only")
    }
    let access = try await composition.openDatabase()
    do {
      if let cluster = access.cluster { try await composition.prepare(cluster, access) }
      let wantsDemo = demo
      try await composition.withClient(composition.client(access.service)) { client in
        try await Server(composition: composition, client: client, demo: wantsDemo).run()
      }
    } catch {
      try? await access.cluster?.stop()
      throw error
    }
    try await access.cluster?.stop()
  }
}

/// The service over a database that is there.
private struct Server: Sendable {
  let composition: Composition
  let client: PostgresClient
  let demo: Bool

  private var logger: Logger { composition.logger }
  private var configuration: ServiceConfiguration { composition.configuration }

  func run() async throws {
    // First, as nothing has to be waited for to tell of a certificate that cannot be used.
    let tls = try configuration.plaintext ? nil : makeTLS()
    let installation = try await verifiedInstallation()
    let storage = Storage(database: client, makeID: Composition.makeID)
    let (source, authenticator) = try composition.authentication()
    do throws(JWKSError) { try await source.refresh() } catch {
      logger.warning("no tokens are accepted yet", metadata: ["error": "\(error)"])
    }
    let session = demo ? try await DemoConversation(composition, storage).load() : nil
    let parts = ServiceParts(
      storage: storage, authenticator: authenticator, tokenKey: installation.tokenKey,
      limits: composition.limits, intents: try composition.intents(),
      readiness: readiness(source), demo: session,
      sendsHSTS: !configuration.plaintext && composition.mode == .production,
      now: Composition.now, random: Composition.random)

    var services: [any Service] = [source]
    services.append(
      WakeUpService(
        wakeUps: storage.wakeUps, client: client, replica: replicaName(),
        heartbeat: configuration.events.heartbeat, poll: configuration.events.poll, logger: logger))
    if let tls {
      services.append(TLSReloadService(tls.reloader, every: .seconds(5)))
      services.append(HangUpService(reloader: tls.reloader, keys: source))
    }
    services.append(
      Administration.application(
        metrics: composition.metrics, readiness: parts.readiness,
        host: configuration.admin.host, port: configuration.admin.port,
        gauges: gauges(storage, authenticator), logger: logger))
    services.append(
      API.application(
        parts, contexts: tls?.contexts, host: configuration.listen.host,
        port: configuration.listen.port, logger: logger,
        maximumConnections: Composition.maximumConnections
      ) { announce(port: $0) })

    var group = ServiceGroupConfiguration(
      services: services.map { .init(service: $0) }, gracefulShutdownSignals: [.sigterm, .sigint],
      logger: logger)
    group.maximumGracefulShutdownDuration = configuration.shutdownDeadline
    try await ServiceGroup(configuration: group).run()
    logger.info("stopped")
  }

  /// What connections take their TLS from, and what keeps it up to date.
  private func makeTLS() throws -> (contexts: TLSContextBox, reloader: TLSReloader) {
    let tls = try composition.tlsConfiguration()
    let context = try TLSContext(tls)
    for warning in context.warnings {
      logger.warning("a certificate needs attention", metadata: ["finding": "\(warning)"])
    }
    let contexts = TLSContextBox(context)
    return (contexts, TLSReloader(configuration: tls, box: contexts, logger: logger))
  }

  /// Waits for the database, and refuses one that this build was not made for.
  private func verifiedInstallation() async throws -> Installation {
    var pause = Duration.milliseconds(100)
    var attempts = 0
    while true {
      let installation: Installation
      do throws(PostgresError) {
        installation = try await Installation.load(from: client)
      } catch {
        if error.sqlState == "3F000" || error.sqlState == "42P01" {
          throw ExitWithMessage("the database has no schema yet: run `vocative migrate`")
        }
        if error.sqlState == "42501" {
          throw ExitWithMessage(
            "the database's role may not read the schema: make it a member of vocative_service")
        }
        attempts += 1
        guard error.code != .server, error.code != .configuration, attempts < 10 else {
          throw error
        }
        logger.warning("the database is not there yet", metadata: ["error": "\(error)"])
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .seconds(5))
        continue
      }
      return try Self.verified(installation)
    }
  }

  private static func verified(_ installation: Installation) throws -> Installation {
    guard installation.version == Installation.expectedVersion else {
      throw ExitWithMessage(
        "the database's schema has version \(installation.version), this build needs "
          + "\(Installation.expectedVersion): "
          + (installation.version < Installation.expectedVersion
            ? "run `vocative migrate`" : "run a newer build"))
    }
    return installation
  }

  private func announce(port: Int) {
    let scheme = configuration.plaintext ? "http" : "https"
    logger.info(
      "listening",
      metadata: ["address": "\(scheme)://\(configuration.listen.host):\(port)"])
    guard demo else { return }
    // Written at once, also where standard output is a pipe.
    FileHandle.standardOutput.write(
      Data(DemoConversation.welcome(composition, port: port).utf8))
  }

  private func readiness(_ source: JWKSSource) -> @Sendable () async -> Readiness {
    let probe = DatabaseProbe(client: client)
    return {
      let database = await probe.failure()
      let keys = source.status.isReady ? nil : "no key set is loaded"
      return Readiness(parts: [("database", database), ("identity", keys)])
    }
  }

  private func gauges(
    _ storage: Storage, _ authenticator: Authenticator
  ) -> @Sendable () -> [(name: String, value: Double)] {
    {
      [
        ("vocative_followers", Double(storage.wakeUps.followers)),
        ("vocative_cached_tokens", Double(authenticator.cachedTokens)),
      ]
    }
  }

  /// What other replicas know this one by: 8 hexadecimal characters.
  private func replicaName() -> String {
    let digits = String(Composition.random() & 0xffff_ffff, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

/// Asks the database whether it is there, at most once a second however many ask.
private actor DatabaseProbe {
  private let client: PostgresClient
  private var last: (asked: ContinuousClock.Instant, answer: Task<String?, Never>)?

  init(client: PostgresClient) { self.client = client }

  /// Nil where it is there; else what is wrong.
  func failure() async -> String? {
    if let last, last.asked.duration(to: .now) < .seconds(1) { return await last.answer.value }
    let answer = Task { [client] () -> String? in
      do throws(PostgresError) {
        try await client.ready(deadline: .seconds(3))
        return nil
      } catch {
        return "\(error.code)"
      }
    }
    last = (.now, answer)
    return await answer.value
  }
}

/// Wake-ups, for the life of the service.
private struct WakeUpService: ServiceLifecycle.Service {
  let wakeUps: WakeUps
  let client: PostgresClient
  let replica: String
  let heartbeat: Duration
  let poll: Duration
  let logger: Logger

  func run() async throws {
    await wakeUps.run(
      client, replica: replica, heartbeat: heartbeat, poll: poll, logger: logger)
  }
}

/// SIGHUP reads certificates, ticket keys and the key set anew.
private struct HangUpService: ServiceLifecycle.Service {
  let reloader: TLSReloader
  let keys: JWKSSource

  func run() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
      // Both log what comes of it, and keep what they have where that fails.
      try? await reloader.reload()
      try? await keys.refresh()
    }
  }
}

/// Ends the process with a line for its user.
struct ExitWithMessage: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
