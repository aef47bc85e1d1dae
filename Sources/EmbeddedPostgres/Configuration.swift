extension EmbeddedPostgres {
  /// How a private cluster is made and run.
  public struct Configuration: Sendable {
    /// What survives a crash of the machine.
    public enum Durability: Sendable {
      /// A committed transaction survives a crash of the machine: `fsync` and
      /// `synchronous_commit` are on.
      case durable
      /// Nothing is flushed. Survives a killed server but not a killed machine; for tests.
      case ephemeral
    }

    /// The directory that the cluster owns: lock file, data and socket. Made when missing, with
    /// permissions 0700. When started by root it is given to ``systemUser``.
    public var directory: String
    /// Defaults to ``Durability/durable``. It may differ between starts of the same directory.
    public var durability: Durability = .durable
    /// A TCP port on 127.0.0.1 to listen on besides the socket, 1 to 65535; `nil` for none.
    ///
    /// Every local user can connect through it as any role: it is for tests only.
    public var loopbackPort: Int?
    /// `max_connections`, 5 to 10,000. Defaults to 50.
    public var maxConnections: Int = 50
    /// Further server settings, by their names in `postgresql.conf`. They override those above.
    public var settings: [String: String] = [:]
    /// Where the installed versions are, as `VERSION/bin`. Defaults to Debian's place.
    public var installationsDirectory: String = "/usr/lib/postgresql"
    /// The unprivileged user that runs the cluster when the process is started by root.
    /// Defaults to `postgres`, which Debian's package makes.
    public var systemUser: String = "postgres"
    /// How long a start may take, crash recovery included. Defaults to 120 seconds.
    public var startDeadline: Duration = .seconds(120)
    /// How long a fast stop may take before it becomes an immediate one. Defaults to 30 seconds.
    public var stopDeadline: Duration = .seconds(30)
    /// Whether a server that ends by itself is started again, with growing pauses of 0.1 to
    /// 10 seconds between failed attempts. Defaults to `true`.
    public var restartsAfterCrash: Bool = true

    /// A durable cluster in `directory` that is reached through its socket only.
    public init(directory: String) {
      self.directory = directory
    }

    /// The server settings of this configuration, as `name=value`, sorted by name.
    func serverSettings(socketDirectory: String) -> [String] {
      var values = [
        "cluster_name": "vocative",
        "listen_addresses": loopbackPort == nil ? "" : "127.0.0.1",
        "port": String(port),
        "unix_socket_directories": socketDirectory,
        "unix_socket_permissions": "0700",
        "max_connections": String(maxConnections),
        "timezone": "UTC",
        "log_timezone": "UTC",
        "logging_collector": "off",
        "log_destination": "stderr",
        "log_line_prefix": "",
        "log_checkpoints": "off",
        // Texts of users must not reach a log: statements, details and parameters stay out, and
        // errors of statements (below LOG in the server's order) are left to the caller's log.
        "log_min_messages": "log",
        "log_error_verbosity": "terse",
        "log_min_error_statement": "panic",
        "log_parameter_max_length": "0",
        "log_parameter_max_length_on_error": "0",
      ]
      if durability == .ephemeral {
        for name in ["fsync", "synchronous_commit", "full_page_writes"] { values[name] = "off" }
      }
      values.merge(settings) { _, override in override }
      return values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    }

    /// The port that names the socket file and, when asked for, the TCP port.
    var port: Int { loopbackPort ?? 5432 }
  }
}
