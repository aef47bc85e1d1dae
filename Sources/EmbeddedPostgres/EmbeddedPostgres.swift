public import Logging
import Subprocess

import FoundationEssentials
import Glibc

/// A private PostgreSQL cluster, made and run in a directory with the system's own binaries.
///
/// - It listens on a unix socket in a directory of mode 0700. It runs as an ordinary user: the
///   current one or, when started by root, ``Configuration/systemUser``.
/// - One process uses a directory at a time; a lock file says which.
/// - `initdb` works under another name that is renamed when it is done, so that an interruption
///   leaves nothing half made.
/// - The server is a child process in a session of its own. When the service ends without
///   stopping it, however it ends, the kernel sends it SIGINT and it shuts down. Whatever is still
///   running at the next start is stopped first; it is never taken over, because its settings and
///   messages would be those of the earlier start.
/// - When the server ends by itself it is started again; PostgreSQL then recovers what was
///   committed.
public actor EmbeddedPostgres {
  /// How to stop the server (PostgreSQL's documentation, "Shutting Down the Server").
  public enum StopMode: Sendable {
    /// Ends open sessions, rolls back their transactions and writes a checkpoint. Becomes
    /// ``immediate`` after ``Configuration/stopDeadline``.
    case fast
    /// Ends at once; the next start recovers.
    case immediate
  }

  /// The superuser of the cluster.
  public static let superuser = "vocative_admin"

  /// The configuration that the cluster was started with.
  public nonisolated let configuration: Configuration
  /// The directory of the unix socket: inside the cluster's directory or, where a socket's path
  /// would be longer than 107 bytes there, `/tmp/vocative-UID-HASH`, of mode 0700 too.
  public nonisolated let socketDirectory: String
  /// The major version of the server.
  public nonisolated let majorVersion: Int

  private let directory: ClusterDirectory
  private let installation: Installation
  private let logger: Logger
  private var lock: FileLock?
  private var postmaster: Postmaster?
  private var supervision: Task<Void, Never>?
  private var isStopping = false

  private init(
    configuration: Configuration, directory: ClusterDirectory, installation: Installation,
    lock: FileLock, logger: Logger
  ) {
    self.configuration = configuration
    self.directory = directory
    self.socketDirectory = directory.socketDirectory
    self.installation = installation
    self.majorVersion = installation.majorVersion
    self.lock = lock
    self.logger = logger
  }

  /// Makes the cluster when there is none, starts its server and returns once it accepts
  /// connections.
  ///
  /// The server runs until ``stop(_:)`` or the end of this process; letting go of the value does
  /// not stop it.
  /// - Throws: ``EmbeddedPostgresError``, or `CancellationError`; nothing runs on then.
  public static func start(
    _ configuration: Configuration, logger: Logger
  ) async throws -> EmbeddedPostgres {
    let user = try SystemUser.toRunAs(configuration.systemUser)
    let directory = try ClusterDirectory(
      path: configuration.directory, owner: user, port: configuration.port)
    let lock = try FileLock(path: directory.lockFile)
    let installation = try Installation.find(
      in: configuration.installationsDirectory,
      clusterVersion: ClusterDirectory.clusterVersion(of: directory.cluster))
    let cluster = EmbeddedPostgres(
      configuration: configuration, directory: directory, installation: installation, lock: lock,
      logger: logger)
    try await cluster.initializeIfNeeded()
    try await cluster.startServer()
    return cluster
  }

  /// The major version of the server that a start would run; makes and changes nothing.
  ///
  /// - Throws: ``EmbeddedPostgresError`` when there is none to run.
  public static func installedVersion(for configuration: Configuration) throws -> Int {
    try Installation.find(
      in: configuration.installationsDirectory,
      clusterVersion: ClusterDirectory.clusterVersion(of: "\(configuration.directory)/cluster")
    ).majorVersion
  }

  /// The libpq connection string of the server that runs in a directory, whoever started it; nil
  /// where none does. Starts and changes nothing.
  public static func runningConninfo(
    directory: String, database: String, user: String = EmbeddedPostgres.superuser
  ) -> String? {
    // PostgreSQL's lock file: process id, data directory, start time, port, socket directory, …
    guard let data = FileManager.default.contents(atPath: "\(directory)/cluster/postmaster.pid")
    else { return nil }
    let lines = String(decoding: data, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.count > 4, let processID = pid_t(lines[0]), Glibc.kill(processID, 0) == 0,
      let port = Int(lines[3])
    else { return nil }
    return Conninfo.string(host: String(lines[4]), port: port, database: database, user: user)
  }

  /// The server's process id; nil while it does not run.
  public var processID: Int32? {
    guard let postmaster, !postmaster.hasEnded else { return nil }
    return postmaster.processID
  }

  /// The libpq connection string for the unix socket.
  public nonisolated func conninfo(
    database: String, user: String = EmbeddedPostgres.superuser
  ) -> String {
    Conninfo.string(
      host: socketDirectory, port: configuration.port, database: database, user: user)
  }

  /// The libpq connection string for 127.0.0.1; nil without ``Configuration/loopbackPort``.
  public nonisolated func loopbackConninfo(
    database: String, user: String = EmbeddedPostgres.superuser
  ) -> String? {
    configuration.loopbackPort.map {
      Conninfo.string(host: "127.0.0.1", port: $0, database: database, user: user)
    }
  }

  /// Stops the server, waits for its end and lets go of the directory. Does nothing when called
  /// again.
  public func stop(_ mode: StopMode = .fast) async throws {
    guard lock != nil else { return }
    await stopServer(mode)
    lock = nil
  }

  /// Stops the server, by `mode`, and starts it again on the same socket.
  public func restart(_ mode: StopMode = .fast) async throws {
    guard lock != nil else {
      throw EmbeddedPostgresError(code: .startFailed, message: "The cluster has been stopped.")
    }
    await stopServer(mode)
    try await startServer()
  }

  /// Kills the server with SIGKILL and returns once it is gone; for tests of recovery. It comes
  /// back by itself when ``Configuration/restartsAfterCrash`` is set, else with ``restart(_:)``.
  public func kill() async {
    guard let postmaster else { return }
    postmaster.send(.kill)
    await postmaster.waitForEnd()
  }

  // MARK: Making

  private func initializeIfNeeded() async throws {
    try directory.removeUnfinishedCluster()
    guard try ClusterDirectory.clusterVersion(of: directory.cluster) == nil else { return }
    logger.info("Making a PostgreSQL cluster", metadata: ["directory": "\(directory.path)"])
    var arguments = [
      "--pgdata=\(directory.unfinishedCluster)", "--username=\(Self.superuser)",
      "--encoding=UTF8", "--locale=C", "--data-checksums", "--auth=trust",
    ]
    if configuration.durability == .ephemeral { arguments.append("--no-sync") }
    let result = try await Subprocess.run(
      command("initdb", arguments, orphanSignal: .terminate).configuration,
      output: .string(limit: 64 * 1024), error: .string(limit: 64 * 1024))
    guard result.terminationStatus.isSuccess else {
      try directory.removeUnfinishedCluster()
      throw EmbeddedPostgresError(
        code: .initializationFailed,
        message: "initdb ended with \(result.terminationStatus): \(result.standardError)")
    }
    try directory.commitUnfinishedCluster()
  }

  // MARK: Starting

  private func startServer() async throws {
    isStopping = false
    let postmaster = try await launch()
    self.postmaster = postmaster
    supervision = Task { await supervise(postmaster) }
  }

  /// Starts the server and waits until it accepts connections.
  private func launch() async throws -> Postmaster {
    let began = ContinuousClock.now
    let leftovers = try await ClusterProcesses(cluster: directory.cluster).stopAll(
      deadline: configuration.stopDeadline)
    if leftovers > 0 {
      logger.warning(
        "Ended PostgreSQL processes that were left running",
        metadata: ["processes": "\(leftovers)"])
    }
    directory.removeStaleLockFiles()
    try directory.writeAccessRules(loopback: configuration.loopbackPort != nil)
    let settings = configuration.serverSettings(socketDirectory: socketDirectory)
    let postmaster = try await Postmaster.launch(
      command(
        "postgres", ["-D", directory.cluster] + settings.flatMap { ["-c", $0] },
        orphanSignal: .interrupt),
      logger: logger)
    do {
      try await waitUntilReady(postmaster, deadline: began + configuration.startDeadline)
    } catch {
      await end(postmaster, .immediate)
      throw error
    }
    logger.info(
      "PostgreSQL is ready",
      metadata: [
        "version": "\(majorVersion)", "process": "\(postmaster.processID)",
        "took": "\(began.duration(to: .now))",
      ])
    return postmaster
  }

  /// Reads the status that `pg_ctl` waits for too.
  private func waitUntilReady(
    _ postmaster: Postmaster, deadline: ContinuousClock.Instant
  ) async throws {
    while true {
      if let ending = postmaster.messages.ending {
        throw EmbeddedPostgresError(
          code: .startFailed,
          message: "PostgreSQL ended (\(ending)) at its start:\n\(postmaster.messages.lastLines)")
      }
      let status = PostmasterStatus(file: directory.statusFile)
      if let status, status.isReady, status.processID == postmaster.processID { return }
      guard ContinuousClock.now < deadline else {
        throw EmbeddedPostgresError(
          code: .startFailed,
          message: """
            PostgreSQL was not ready within \(configuration.startDeadline):
            \(postmaster.messages.lastLines)
            """)
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Starts the server again whenever it ends by itself, until it is stopped.
  private func supervise(_ first: Postmaster) async {
    var current = first
    while true {
      await current.waitForEnd()
      guard !isStopping else { return }
      logger.error(
        "PostgreSQL ended by itself",
        metadata: ["status": "\(current.messages.ending ?? "unknown")"])
      guard configuration.restartsAfterCrash, let next = await relaunch() else { return }
      postmaster = next
      current = next
    }
  }

  /// Tries until the server runs; nil when it is stopped meanwhile.
  private func relaunch() async -> Postmaster? {
    var pause = Duration.milliseconds(100)
    while !isStopping {
      do {
        return try await launch()
      } catch is CancellationError {
        return nil
      } catch {
        logger.error("PostgreSQL could not be started again", metadata: ["error": "\(error)"])
      }
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .seconds(10))
    }
    return nil
  }

  // MARK: Stopping

  private func stopServer(_ mode: StopMode) async {
    isStopping = true
    supervision?.cancel()
    if let postmaster { await end(postmaster, mode) }
    await supervision?.value
    // The supervisor may have been starting a server when it was told to stop.
    if let postmaster { await end(postmaster, mode) }
    postmaster = nil
    supervision = nil
  }

  private func end(_ postmaster: Postmaster, _ mode: StopMode) async {
    if mode == .fast {
      postmaster.send(.interrupt)
      if await postmaster.ends(within: configuration.stopDeadline) { return }
      logger.warning("PostgreSQL did not stop in time", metadata: ["next": "immediate stop"])
    }
    postmaster.send(.quit)
    if await postmaster.ends(within: .seconds(5)) { return }
    postmaster.send(.kill)
    await postmaster.waitForEnd()
  }

  private func command(
    _ name: String, _ arguments: [String], orphanSignal: ServerCommand.OrphanSignal
  ) -> ServerCommand {
    ServerCommand(
      program: installation.path(name), arguments: arguments, user: directory.owner,
      orphanSignal: orphanSignal)
  }
}
