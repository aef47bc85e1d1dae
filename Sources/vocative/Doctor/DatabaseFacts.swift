/// What the doctor wants to know of a database; gathered by whoever can query it.
struct DatabaseFacts: Sendable, Equatable {
  /// `server_version_num`, such as 150018.
  var serverVersion: Int
  /// The newest migration that is applied; nil when there are none.
  var schemaVersion: Int?
  /// The newest migration that this program brings along.
  var knownSchemaVersion: Int
  /// The roles that the migrations make and that are not there.
  var missingRoles: [String]
  /// Whether the service's connection may bypass the grants: `rolsuper` of `current_user`.
  var isSuperuser: Bool
  /// `pg_is_in_recovery()`: a standby, which takes no writes.
  var isStandby: Bool
  /// `max_connections` less `superuser_reserved_connections`.
  var availableConnections: Int
  /// Sessions of all clients now, the doctor's own included.
  var usedConnections: Int
  /// How far the furthest standby is behind, `pg_stat_replication.replay_lag`; nil without any.
  var replicationLag: Duration?
  /// The database's clock less this host's, measured around one statement.
  var clockSkew: Duration
  /// Whether commits are flushed: `fsync` and `synchronous_commit` other than `off`.
  var isDurable: Bool
}

extension DatabaseFacts {
  private static let oldestServerVersion = 150_000
  private static let largestClockSkew = Duration.seconds(5)
  private static let largestReplicationLag = Duration.seconds(10)

  /// Holds the facts against what the service needs.
  func findings(for configuration: ServiceConfiguration.Database) -> [DoctorFinding] {
    [
      server, schema, roles, connections(for: configuration), durability, replication, clock,
    ]
  }

  private var server: DoctorFinding {
    let shown = "PostgreSQL \(serverVersion / 10_000).\(serverVersion % 10_000)"
    if serverVersion < Self.oldestServerVersion {
      return .failure(
        "Database server", shown, advice: "Upgrade to PostgreSQL 15 or later.")
    }
    if isStandby {
      return .failure(
        "Database server", "\(shown), a standby that takes no writes",
        advice: "Name every host in database.url and add target_session_attrs=read-write.")
    }
    return .ok("Database server", shown)
  }

  private var schema: DoctorFinding {
    guard let schemaVersion else {
      return .failure("Schema", "no migration is applied", advice: "Run: vocative migrate")
    }
    if schemaVersion < knownSchemaVersion {
      return .failure(
        "Schema", "version \(schemaVersion), and this program needs \(knownSchemaVersion)",
        advice: "Run: vocative migrate")
    }
    if schemaVersion > knownSchemaVersion {
      return .failure(
        "Schema", "version \(schemaVersion), and this program knows \(knownSchemaVersion)",
        advice: "Run the newer program that migrated it; it cannot be taken back.")
    }
    return .ok("Schema", "version \(schemaVersion), up to date")
  }

  private var roles: DoctorFinding {
    if !missingRoles.isEmpty {
      return .failure(
        "Roles", "missing: \(missingRoles.joined(separator: ", "))",
        advice: "Run: vocative migrate")
    }
    if isSuperuser {
      return .warning(
        "Roles", "the service connects as a superuser",
        advice: "Connect as a member of the service role, which can do only what it needs.")
    }
    return .ok("Roles", "all there")
  }

  private func connections(for pools: ServiceConfiguration.Database) -> DoctorFinding {
    let wanted = pools.readConnections + pools.writeConnections + pools.leaseConnections
    let free = availableConnections - usedConnections
    let shown = "\(wanted) wanted, \(free) of \(availableConnections) free"
    if wanted > availableConnections {
      return .failure(
        "Connections", shown,
        advice: "Raise the server's max_connections or lower database.*Connections.")
    }
    if wanted > free {
      return .warning(
        "Connections", shown,
        advice: "Fine when this service is running already; else raise max_connections.")
    }
    return .ok("Connections", shown)
  }

  private var durability: DoctorFinding {
    isDurable
      ? .ok("Durability", "commits are flushed")
      : .failure(
        "Durability", "fsync or synchronous_commit is off: a crash loses acknowledged messages",
        advice: "Turn both on in postgresql.conf.")
  }

  private var replication: DoctorFinding {
    guard let replicationLag else { return .ok("Replication", "no standby") }
    let shown = "the furthest standby is \(seconds(replicationLag)) behind"
    return replicationLag > Self.largestReplicationLag
      ? .warning("Replication", shown, advice: "Look at pg_stat_replication and the network.")
      : .ok("Replication", shown)
  }

  private var clock: DoctorFinding {
    let skew = clockSkew < .zero ? .zero - clockSkew : clockSkew
    let shown = "\(seconds(skew)) between this host and the database"
    return skew > Self.largestClockSkew
      ? .warning("Clocks", shown, advice: "Run a time service, such as chrony, on both.")
      : .ok("Clocks", shown)
  }

  private func seconds(_ duration: Duration) -> String {
    "\(Double((duration / .milliseconds(1)).rounded()) / 1000) s"
  }
}
