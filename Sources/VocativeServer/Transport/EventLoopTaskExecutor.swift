import Glibc
public import HummingbirdCore
public import Logging
public import NIOCore

/// Runs tasks on one event loop.
///
/// What a connection's tasks wait for (its socket) lives on its loop; running them there saves a
/// thread hop a request. Work that blocks, or computes for more than about a millisecond, has to
/// leave the loop.
final class EventLoopTaskExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(_ loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// A child channel whose connections are handled on their own event loops.
public struct EventLoopBoundChannel<Base: ServerChildChannel>: ServerChildChannel {
  private let base: Base

  public init(_ base: Base) { self.base = base }

  public func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
    // A client that is gone without a word, or reads no more, ends its stream; TCP alone would
    // keep it for a quarter of an hour and longer.
    channel.setOption(
      ChannelOptions.Types.SocketOption(
        level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT)),
      value: Self.unacknowledgedMilliseconds
    ).flatMap { base.setup(channel: channel, logger: logger) }
  }

  /// How long what was sent may stay unacknowledged (RFC 5482).
  private static var unacknowledgedMilliseconds: Int { 30_000 }

  public func handle(value: Base.Value, logger: Logger) async {
    await withTaskExecutorPreference(EventLoopTaskExecutor(value.channel.eventLoop)) {
      await base.handle(value: value, logger: logger)
    }
  }
}
