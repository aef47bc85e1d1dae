/// How a ``PostgresClient`` connects and what it allows.
public struct PostgresConfiguration: Sendable {
  /// A libpq connection string or `postgresql://` URI; several hosts and `target_session_attrs`
  /// are understood. It may hold a password and is never logged.
  public var connectionString: String

  /// Connections that all reads share. 1 to 64. Defaults to `2`.
  public var readConnections = 2

  /// Connections that grouped writes share. 1 to 64. Defaults to `2`.
  ///
  /// A group holds its row locks until it commits. With more than one connection, writes of
  /// different callers that update the same rows in different orders can deadlock; the server then
  /// fails one group after its `deadlock_timeout`, and that group is run again one by one.
  public var writeConnections = 2

  /// Connections for transactions and exclusive leases. 1 to 256. Defaults to `4`.
  public var leaseConnections = 4

  /// How long one attempt at one address may take, sign-in included. 100 ms to 5 min. Defaults to
  /// `5` seconds.
  public var connectTimeout = Duration.seconds(5)

  /// How long a statement or transaction may take, waiting included, when its caller says nothing.
  /// 1 ms to 1 h. Defaults to `10` seconds.
  public var deadline = Duration.seconds(10)

  /// How long a caller waits for an exclusive connection to become free. 1 ms to 1 h. Defaults to
  /// `5` seconds.
  public var leaseWait = Duration.seconds(5)

  /// How long an exclusive connection may be held when its caller says nothing; then it is closed.
  /// 1 ms to 24 h. Defaults to `60` seconds.
  public var leaseDeadline = Duration.seconds(60)

  /// How long `run()` waits at shutdown for statements and leases to end. 0 s to 5 min. Defaults to
  /// `10` seconds.
  public var drainTimeout = Duration.seconds(10)

  /// How long a statement may outlive its deadline, and a rollback after a lease may take, before
  /// the connection is closed. 10 ms to 5 min. Defaults to `5` seconds.
  public var cleanUpTimeout = Duration.seconds(5)

  /// The most statements that may wait in one queue; beyond it calls throw `.queueFull`. 1 to
  /// 1,000,000. Defaults to `65536`.
  public var maximumWaiting = 65_536

  /// The most writes that share one commit. 1 to 10,000. Defaults to `512`.
  public var maximumGroup = 512

  /// TCP keep-alive: idle time before the first probe, in whole seconds. 1 s to 1 h. Defaults to
  /// `30` seconds. Unused on unix sockets.
  public var keepaliveIdle = Duration.seconds(30)

  /// TCP keep-alive: time between probes, in whole seconds. 1 s to 1 h. Defaults to `10` seconds.
  public var keepaliveInterval = Duration.seconds(10)

  /// TCP keep-alive: unanswered probes before the connection counts as lost. 1 to 100. Defaults to
  /// `3`.
  public var keepaliveCount = 3

  /// How long sent data may stay unacknowledged before the connection counts as lost
  /// (TCP_USER_TIMEOUT). 1 s to 1 h. Defaults to `20` seconds.
  public var tcpUserTimeout = Duration.seconds(20)

  /// The name in `pg_stat_activity`, at most 63 bytes. Defaults to `vocative`.
  public var applicationName = "vocative"

  /// Settings made on every connection, such as `search_path` or `lock_timeout`. Defaults to none.
  public var onConnect: [String: String] = [:]

  /// The shortest and the longest wait between attempts to connect; it doubles from one to the
  /// other, with jitter. 1 ms to 5 min. Defaults to `50` milliseconds and `5` seconds.
  public var backoff = Duration.milliseconds(50)...Duration.seconds(5)

  /// A configuration with the defaults.
  public init(connectionString: String) { self.connectionString = connectionString }
}
