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
    base.setup(channel: channel, logger: logger)
  }

  public func handle(value: Base.Value, logger: Logger) async {
    await withTaskExecutorPreference(EventLoopTaskExecutor(value.channel.eventLoop)) {
      await base.handle(value: value, logger: logger)
    }
  }
}
