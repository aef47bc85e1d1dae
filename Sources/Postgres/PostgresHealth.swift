/// How the pools of a ``PostgresClient`` are at one moment.
public struct PostgresHealth: Sendable, Hashable {
  /// How one pool is.
  public struct Pool: Sendable, Hashable {
    /// Connections that the configuration asks for.
    public var size = 0
    /// Connections that are set up and usable.
    public var connected = 0
    /// Statements or leases that wait for a connection.
    public var waiting = 0
    /// Statements that are sent and not answered; in the lease pool, connections in use.
    public var inFlight = 0
  }

  /// Shared reads.
  public var reads = Pool()
  /// Grouped writes.
  public var writes = Pool()
  /// Transactions and leases.
  public var leases = Pool()
  /// Whether the connection that listens is up; nil when nobody listens.
  public var listening: Bool?
  /// Connections opened since the start.
  public var connects = 0
  /// Connections lost since the start, at shutdown not counted.
  public var losses = 0
  /// Why connecting failed last, if it did after the last success. Names hosts, never passwords.
  public var lastConnectError: String?

  /// Whether every pool has a connection.
  public var isReady: Bool {
    reads.connected > 0 && writes.connected > 0 && leases.connected > 0
  }
}
