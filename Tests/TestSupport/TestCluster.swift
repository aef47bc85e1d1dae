public import EmbeddedPostgres
import FoundationEssentials
import Glibc
import Logging
import Synchronization

/// One private PostgreSQL cluster per test process, without durability: started on first use,
/// stopped and removed when the process exits.
///
/// Tests share it, so they must not stop it or change its settings. Who needs that starts an
/// `EmbeddedPostgres` of their own.
public actor TestCluster {
  public static let shared = TestCluster()

  /// Directories of clusters whose process is gone are removed by the next one that starts.
  private static let prefix = "vocative-test-"

  private var starting: Task<EmbeddedPostgres, any Error>?
  private var templates: [String: Task<Void, any Error>] = [:]
  private var databases = 0

  /// The running cluster.
  public func postgres() async throws -> EmbeddedPostgres {
    if let starting { return try await starting.value }
    let task = Task { try await Self.start() }
    starting = task
    return try await task.value
  }

  /// Hands `body` the conninfo of a database of its own, as the cluster's superuser, and removes
  /// the database afterwards.
  ///
  /// - Parameter template: What the database holds at first; it is prepared once per process.
  ///   Without one the database is empty.
  public nonisolated(nonsending) func withDatabase<Result>(
    template: DatabaseTemplate? = nil,
    _ body: (_ conninfo: String) async throws -> Result
  ) async throws -> Result {
    let postgres = try await postgres()
    let source = if let template { try await prepare(template) } else { "template0" }
    let name = await nextDatabaseName()
    try await postgres.createDatabase(name, template: source)
    do {
      let result = try await body(postgres.conninfo(database: name))
      try await postgres.dropDatabase(name)
      return result
    } catch {
      try await postgres.dropDatabase(name)
      throw error
    }
  }

  private func nextDatabaseName() -> String {
    databases += 1
    return "test_\(databases)"
  }

  /// Makes the template's database once and returns its name.
  private func prepare(_ template: DatabaseTemplate) async throws -> String {
    let name = "template_\(template.name)"
    if let prepared = templates[template.name] {
      try await prepared.value
      return name
    }
    let task = Task {
      let postgres = try await postgres()
      try await postgres.createDatabase(name, template: "template0")
      try await template.prepare(postgres.conninfo(database: name))
      // A session in a template would make every copy fail.
      try await postgres.execute("ALTER DATABASE \"\(name)\" WITH ALLOW_CONNECTIONS false")
    }
    templates[template.name] = task
    try await task.value
    return name
  }

  private static func start() async throws -> EmbeddedPostgres {
    removeAbandoned()
    let directory = "/tmp/\(prefix)\(getpid())"
    var configuration = EmbeddedPostgres.Configuration(directory: directory)
    configuration.durability = .ephemeral
    configuration.maxConnections = 200
    configuration.restartsAfterCrash = false
    var logger = Logger(label: "test-cluster")
    logger.logLevel = .critical
    let postgres = try await EmbeddedPostgres.start(configuration, logger: logger)
    ExitCleanup.register(processID: await postgres.processID, directory: directory)
    return postgres
  }

  /// Removes what killed test processes have left.
  private static func removeAbandoned() {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/tmp")) ?? [] {
      guard name.hasPrefix(prefix), let owner = pid_t(name.dropFirst(prefix.count)) else {
        continue
      }
      guard Glibc.kill(owner, 0) != 0, errno == ESRCH else { continue }
      try? FileManager.default.removeItem(atPath: "/tmp/\(name)")
    }
  }
}

/// What a test's database holds at first.
public struct DatabaseTemplate: Sendable {
  /// Distinguishes templates; a part of a database's name, so letters, digits and `_` only.
  public var name: String
  /// Fills the database with this conninfo and closes its connections before it returns.
  public var prepare: @Sendable (_ conninfo: String) async throws -> Void

  public init(name: String, prepare: @escaping @Sendable (String) async throws -> Void) {
    self.name = name
    self.prepare = prepare
  }
}

/// Ends the server and removes its directory in an exit handler, where nothing can be awaited.
private enum ExitCleanup {
  private static let registered = Mutex<(processID: pid_t, directory: String)?>(nil)

  static func register(processID: pid_t?, directory: String) {
    guard let processID else { return }
    registered.withLock { $0 = (processID, directory) }
    atexit { ExitCleanup.run() }
  }

  private static func run() {
    guard let (processID, directory) = registered.withLock({ $0 }) else { return }
    Glibc.kill(processID, SIGQUIT)
    let deadline = ContinuousClock.now + .seconds(5)
    // A process that has ended has no working directory, reaped or not.
    while access("/proc/\(processID)/cwd", F_OK) == 0, ContinuousClock.now < deadline {
      usleep(5000)
    }
    try? FileManager.default.removeItem(atPath: directory)
  }
}
