public import Logging
import NIOConcurrencyHelpers
import Glibc

/// Puts a new context into a box when a certificate, key or ticket key file has changed.
///
/// Files are compared by device, inode, size and modification time, so that a rename into place, a
/// write in place and a swapped symbolic link (Kubernetes secrets) are all seen. Files that do not
/// load leave the context as it is and are reported once; the next change tries again.
public actor TLSReloader {
  private let configuration: TLSContext.Configuration
  private let box: TLSContextBox
  private let logger: Logger
  private var seen: [FileIdentity?]

  /// - Parameters:
  ///   - configuration: What the context in `box` was made from.
  ///   - box: What new connections take their context from.
  ///   - logger: Told of each reload and of each failure, with the file and the reason.
  public init(configuration: TLSContext.Configuration, box: TLSContextBox, logger: Logger) {
    self.configuration = configuration
    self.box = box
    self.logger = logger
    seen = configuration.files.map(FileIdentity.init)
  }

  /// Looks at the files every `interval` until the task is cancelled.
  ///
  /// A change is thus in use after `interval` at the latest; connections are never dropped.
  public func run(every interval: Duration, clock: some Clock<Duration> = ContinuousClock()) async {
    while (try? await clock.sleep(for: interval)) != nil { reloadIfChanged() }
  }

  /// Reloads when a file has changed since the last look.
  /// - Returns: Whether a new context is in use.
  @discardableResult
  public func reloadIfChanged() -> Bool {
    // Before reading, so that a change meanwhile is seen by the next look.
    let now = configuration.files.map(FileIdentity.init)
    guard now != seen else { return false }
    seen = now
    return (try? reload()) != nil
  }

  /// Reloads whether or not a file has changed, as on SIGHUP.
  /// - Throws: ``TLSError`` (also logged) when the files do not load; the context stays as it is.
  public func reload() throws(TLSError) {
    do throws(TLSError) {
      let context = try TLSContext(configuration)
      box.replace(with: context)
      logger.info("TLS certificates and keys reloaded")
      for warning in context.warnings { logger.warning("\(warning)") }
    } catch {
      logger.error(
        "TLS certificates and keys not reloaded, the old ones stay in use: \(error)",
        metadata: ["code": "\(error.code)"])
      throw error
    }
  }
}

/// What tells one version of a file from another without reading it.
private struct FileIdentity: Equatable {
  let device: UInt64
  let inode: UInt64
  let size: Int64
  let seconds: Int64
  let nanoseconds: Int64

  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    seconds = Int64(status.st_mtim.tv_sec)
    nanoseconds = Int64(status.st_mtim.tv_nsec)
  }
}
