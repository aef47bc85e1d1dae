/// What the engine has to know; times in nanoseconds. `PostgresConfiguration` documents each.
package struct EngineSettings: Sendable {
  package var hosts: [Host]
  /// Connection parameters other than host, hostaddr, port and target_session_attrs.
  package var parameters: [ConnectParameter]
  package var targetSessionAttributes: String
  package var readConnections = 2
  package var writeConnections = 2
  package var leaseConnections = 4
  package var connectTimeout: UInt64 = 5_000_000_000
  package var onConnect: [(name: String, value: String)] = []
  package var maximumWaiting = 65_536
  package var maximumGroup = 512
  package var maximumDepth = 1024
  package var maximumSetbacks = 4
  /// How long an overdue statement may outlive its cancel request, and a rollback may take, before
  /// the connection is closed.
  package var cleanUpTimeout: UInt64 = 5_000_000_000
  package var backoffBase = Duration.milliseconds(50)
  package var backoffCap = Duration.seconds(5)

  package init(
    hosts: [Host], parameters: [ConnectParameter] = [], targetSessionAttributes: String = "any"
  ) {
    self.hosts = hosts
    self.parameters = parameters
    self.targetSessionAttributes = targetSessionAttributes
  }
}

/// One host of a connection string. Empty strings stand for libpq's defaults.
package struct Host: Sendable, Hashable {
  package var name: String
  package var address: String
  package var port: String

  package init(name: String, address: String, port: String) {
    self.name = name
    self.address = address
    self.port = port
  }

  /// Whether libpq would look the name up, which blocks.
  var needsResolving: Bool {
    address.isEmpty && !name.isEmpty && !name.hasPrefix("/") && !name.hasPrefix("@")
  }
}
