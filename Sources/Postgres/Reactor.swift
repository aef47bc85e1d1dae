import Logging
import NIOConcurrencyHelpers
import PostgresWire

final class Reactor: Sendable {
  let subscriptions = Subscriptions()
  let health = NIOLockedValueBox(PostgresHealth())
  init(logger: Logger) {}
  func start(_ settings: EngineSettings) throws(PostgresError) {}
  func stopped() async {}
  func shutDown(within: Duration) {}
  func listen(to channels: Set<String>) {}
  func deadline(_ after: Duration) -> UInt64 { .max }
  func release(_ lease: Lease, close: Bool) {}
  func perform(_ kind: Work.Kind, _ steps: [Step], _ deadline: UInt64) async -> Outcome {
    .failure(PostgresError(.poolShutDown))
  }
}
extension PostgresConfiguration {
  func settings() throws(PostgresError) -> EngineSettings {
    throw PostgresError(.configuration, message: "not yet")
  }
}
