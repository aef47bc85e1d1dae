public import ServiceLifecycle
public import TLSTransport

/// Reloads certificates and ticket keys when their files change, for the life of the service.
public struct TLSReloadService: Service {
  private let reloader: TLSReloader
  private let interval: Duration

  /// - Parameters:
  ///   - reloader: What to run; the process also calls its `reload()` on SIGHUP.
  ///   - interval: Time between looks at the files; a few seconds.
  public init(_ reloader: TLSReloader, every interval: Duration) {
    self.reloader = reloader
    self.interval = interval
  }

  public func run() async throws {
    await cancelWhenGracefulShutdown { await reloader.run(every: interval) }
  }
}
