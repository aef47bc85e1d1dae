public import FoundationEssentials
public import Logging
public import ServiceLifecycle
import Synchronization

/// A key set in force. The generation changes whenever keys come or go.
struct LoadedKeys: Sendable {
  var set: KeySet
  var generation: UInt64
}

/// The keys that tokens are verified with, kept up to date from a file or a URL while
/// ``run()`` runs.
///
/// A refresh that fails leaves the last good set in force: a provider that is down for a while
/// must not log out its users.
public final class JWKSSource: Service, Sendable {
  /// How often and how long to ask.
  public struct Options: Sendable {
    /// Time between two refreshes of a URL that does not say how long its answer holds.
    public var interval: Duration = .seconds(300)
    /// Bounds within which the `max-age` of an answer replaces ``interval``.
    public var maxAgeBounds: ClosedRange<Duration> = .seconds(60) ... .seconds(3600)
    /// Time between two looks at a file.
    public var fileInterval: Duration = .seconds(5)
    /// Bounds one request of a URL as a whole.
    public var timeout: Duration = .seconds(10)
    /// An unknown `kid` brings about a refresh, but not sooner than this after the last attempt:
    /// forged ones must not make the service hammer the provider.
    public var unknownKeySpacing: Duration = .seconds(10)
    /// The same for a file, which costs nobody else.
    public var unknownKeyFileSpacing: Duration = .seconds(1)
    /// A PEM file of certificate authorities to trust besides the system's, for a private provider.
    public var certificateAuthorities: String?

    /// The defaults.
    public init() {}
  }

  /// What the source knows of itself, for readiness and `doctor`.
  public struct Status: Sendable {
    /// Usable keys; 0 until the first success.
    public var keyCount = 0
    /// When a set was last loaded, or found to be still the same.
    public var refreshedAt: Date?
    /// When the source was last asked.
    public var attemptedAt: Date?
    /// Why the last attempt failed; nil when it succeeded.
    public var lastError: JWKSError?
    /// `kid` and reason of each key of the set that is not usable.
    public var skippedKeys: [String] = []

    /// Whether tokens can be verified at all.
    public var isReady: Bool { keyCount > 0 }
  }

  private struct State {
    var loaded: LoadedKeys?
    var status = Status()
    var validator: JWKSValidator?
    var maxAge: Duration?
    var failuresInARow = 0
    var lastAttempt: ContinuousClock.Instant?
    var refresh: Task<JWKSError?, Never>?
  }

  /// Where the keys come from.
  public let location: JWKSLocation
  private let options: Options
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let random: @Sendable (ClosedRange<Double>) -> Double
  private let state = Mutex(State())

  /// A source that has nothing yet; call ``refresh()`` or ``run()``.
  /// - Parameters:
  ///   - now: the wall clock, for ``Status``.
  ///   - random: spreads the refreshes of many replicas.
  public init(
    _ location: JWKSLocation, options: Options = Options(), logger: Logger,
    now: @escaping @Sendable () -> Date,
    random: @escaping @Sendable (ClosedRange<Double>) -> Double = { Double.random(in: $0) }
  ) {
    self.location = location
    self.options = options
    self.logger = logger
    self.now = now
    self.random = random
  }

  /// What the source knows of itself.
  public var status: Status { state.withLock { $0.status } }

  /// The keys in force.
  var loaded: LoadedKeys? { state.withLock { $0.loaded } }

  /// Loads the keys now, or waits for the load that is under way.
  /// - Throws: why they could not be loaded; keys that were loaded before stay in force.
  public func refresh() async throws(JWKSError) {
    if let error = await refreshing(spacing: .zero)?.value { throw error }
  }

  /// The keys in force after a look for new ones, if one is due.
  func refreshForUnknownKey() async -> LoadedKeys? {
    let spacing =
      switch location {
      case .file: options.unknownKeyFileSpacing
      case .url: options.unknownKeySpacing
      }
    _ = await refreshing(spacing: spacing)?.value
    return loaded
  }

  /// Refreshes the keys until the task is cancelled or the service shuts down gracefully.
  public func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        let refresh = self.refreshing(spacing: .zero)
        // A provider that hangs must not hold up the shutdown.
        await withTaskCancellationHandler {
          _ = await refresh?.value
        } onCancel: {
          refresh?.cancel()
        }
        try? await Task.sleep(for: self.nextDelay())
      }
    }
  }

  /// The refresh under way, or a new one when the last began at least `spacing` ago.
  private func refreshing(spacing: Duration) -> Task<JWKSError?, Never>? {
    state.withLock { state in
      if let refresh = state.refresh { return refresh }
      let instant = ContinuousClock.now
      if let last = state.lastAttempt, last.duration(to: instant) < spacing { return nil }
      state.lastAttempt = instant
      let known = state.validator
      // A task of its own: the caller that began it may be cancelled while others wait for it.
      let refresh = Task { await self.load(known: known) }
      state.refresh = refresh
      return refresh
    }
  }

  private func load(known: JWKSValidator?) async -> JWKSError? {
    let attemptedAt = now()
    let error: JWKSError?
    do throws(JWKSError) {
      let answer =
        switch location {
        case .file(let path): try readJWKS(path: path, known: known)
        case .url(let url):
          try await fetchJWKS(
            url: url, known: known, certificateAuthorities: options.certificateAuthorities,
            timeout: options.timeout)
        }
      try await apply(answer)
      error = nil
    } catch let failure {
      error = failure
    }
    finish(error, attemptedAt: attemptedAt)
    return error
  }

  private func apply(_ answer: JWKSAnswer) async throws(JWKSError) {
    switch answer {
    case .unchanged(let maxAge):
      state.withLock { $0.maxAge = maxAge }
    case .document(let bytes, let validator, let maxAge):
      let set = try await KeySet(parsing: bytes)
      let skipped = set.skipped.map { key in
        "kid \(key.kid.map { String($0.prefix(64)) } ?? "(none)"): \(key.description)"
      }
      let isNew = state.withLock { state in
        state.validator = validator
        state.maxAge = maxAge
        state.status.keyCount = set.keys.count
        state.status.skippedKeys = skipped
        if let old = state.loaded, old.set.hasSameKeys(as: set) { return false }
        state.loaded = LoadedKeys(set: set, generation: (state.loaded?.generation ?? 0) + 1)
        return true
      }
      guard isNew else { return }
      logger.info("Key set loaded", metadata: ["jwks": "\(location)", "keys": "\(set.keys.count)"])
      for key in skipped {
        logger.warning("A key of the key set is not used", metadata: ["key": "\(key)"])
      }
    }
  }

  private func finish(_ error: JWKSError?, attemptedAt: Date) {
    let isNews = state.withLock { state in
      defer { state.status.lastError = error }
      state.refresh = nil
      state.status.attemptedAt = attemptedAt
      state.failuresInARow = error == nil ? 0 : state.failuresInARow + 1
      if error == nil { state.status.refreshedAt = attemptedAt }
      return error != state.status.lastError
    }
    guard let error else { return }
    logger.log(
      level: isNews ? .warning : .debug, "The key set could not be refreshed",
      metadata: ["jwks": "\(location)", "error": "\(error)"])
  }

  /// Time until the next refresh: what the answer or the options say, or after failures 1 s, 2 s,
  /// 4 s … up to that; give or take a tenth.
  private func nextDelay() -> Duration {
    let (maxAge, failures) = state.withLock { ($0.maxAge, $0.failuresInARow) }
    var delay: Duration
    switch location {
    case .file: delay = options.fileInterval
    case .url:
      delay = options.interval
      if let maxAge {
        let bounds = options.maxAgeBounds
        delay = min(max(maxAge, bounds.lowerBound), bounds.upperBound)
      }
    }
    if failures > 0 { delay = min(delay, .seconds(1 << min(failures - 1, 20))) }
    return delay * random(0.9...1.1)
  }
}
