import CLibPQ
import PostgresWire

extension PostgresConfiguration {
  /// What the engine needs, checked.
  func settings() throws(PostgresError) -> EngineSettings {
    try checkRanges()
    var given = try parse(connectionString)
    // libpq's own defaults (PGHOST and the like) count for the host too, as it is looked up here.
    let defaults = try parsedDefaults()
    let place = { (keyword: String) in given.removeValue(forKey: keyword) ?? defaults[keyword] }
    let hosts = try Self.hosts(
      names: place("host"), addresses: place("hostaddr"), ports: place("port"))
    let target = given.removeValue(forKey: "target_session_attrs") ?? "any"
    let own: [String: String] = [
      "client_encoding": "UTF8",
      "application_name": applicationName,
      "keepalives": "1",
      "keepalives_idle": "\(keepaliveIdle.components.seconds)",
      "keepalives_interval": "\(keepaliveInterval.components.seconds)",
      "keepalives_count": "\(keepaliveCount)",
      "tcp_user_timeout": "\(tcpUserTimeout.nanoseconds / 1_000_000)",
    ]
    // What the connection string says goes first, except for the encoding that decoding relies on.
    let parameters = own.merging(given) { mine, theirs in mine == "UTF8" ? mine : theirs }
    var settings = EngineSettings(
      hosts: hosts,
      parameters: parameters.sorted { $0.key < $1.key }.map { ConnectParameter($0.key, $0.value) },
      targetSessionAttributes: target)
    settings.readConnections = readConnections
    settings.writeConnections = writeConnections
    settings.leaseConnections = leaseConnections
    settings.connectTimeout = connectTimeout.nanoseconds
    settings.cleanUpTimeout = cleanUpTimeout.nanoseconds
    settings.onConnect = onConnect.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    settings.maximumWaiting = maximumWaiting
    settings.maximumGroup = maximumGroup
    settings.backoffBase = backoff.lowerBound
    settings.backoffCap = backoff.upperBound
    return settings
  }

  private func checkRanges() throws(PostgresError) {
    func check<T: Comparable>(_ name: String, _ value: T, _ range: ClosedRange<T>)
      throws(PostgresError)
    {
      guard range.contains(value) else {
        throw PostgresError(.configuration, message: "\(name) is \(value), not within \(range)")
      }
    }
    try check("readConnections", readConnections, 1...64)
    try check("writeConnections", writeConnections, 1...64)
    try check("leaseConnections", leaseConnections, 1...256)
    try check("connectTimeout", connectTimeout, .milliseconds(100)...(.seconds(300)))
    try check("deadline", deadline, .milliseconds(1)...(.seconds(3600)))
    try check("leaseWait", leaseWait, .milliseconds(1)...(.seconds(3600)))
    try check("leaseDeadline", leaseDeadline, .milliseconds(1)...(.seconds(86_400)))
    try check("drainTimeout", drainTimeout, .zero...(.seconds(300)))
    try check("cleanUpTimeout", cleanUpTimeout, .milliseconds(10)...(.seconds(300)))
    try check("maximumWaiting", maximumWaiting, 1...1_000_000)
    try check("maximumGroup", maximumGroup, 1...10_000)
    try check("keepaliveIdle", keepaliveIdle, .seconds(1)...(.seconds(3600)))
    try check("keepaliveInterval", keepaliveInterval, .seconds(1)...(.seconds(3600)))
    try check("keepaliveCount", keepaliveCount, 1...100)
    try check("tcpUserTimeout", tcpUserTimeout, .seconds(1)...(.seconds(3600)))
    try check("the length of applicationName", applicationName.utf8.count, 0...63)
    try check("backoff.lowerBound", backoff.lowerBound, .milliseconds(1)...(.seconds(300)))
    try check("backoff.upperBound", backoff.upperBound, .milliseconds(1)...(.seconds(300)))
  }

  private func parse(_ connectionString: String) throws(PostgresError) -> [String: String] {
    guard let options = PQconninfoParse(connectionString, nil) else {
      // libpq's message quotes the string, which may hold a password.
      throw PostgresError(.configuration, message: "the connection string cannot be parsed")
    }
    return Self.values(options)
  }

  private func parsedDefaults() throws(PostgresError) -> [String: String] {
    guard let options = PQconndefaults() else {
      throw PostgresError(.configuration, message: "libpq has no defaults: out of memory")
    }
    return Self.values(options)
  }

  private static func values(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String]
  {
    defer { PQconninfoFree(options) }
    var values: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val {
        values[String(cString: keyword)] = String(cString: value)
      }
      option += 1
    }
    return values
  }

  /// Pairs the comma-separated lists as libpq does: one port serves all hosts.
  private static func hosts(
    names: String?, addresses: String?, ports: String?
  ) throws(PostgresError) -> [Host] {
    func list(_ text: String?) -> [String] {
      text.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
    }
    let (names, addresses, ports) = (list(names), list(addresses), list(ports))
    let count = max(names.count, addresses.count, 1)
    guard names.isEmpty || addresses.isEmpty || names.count == addresses.count else {
      throw PostgresError(.configuration, message: "host and hostaddr differ in length")
    }
    guard ports.count <= 1 || ports.count == count else {
      throw PostgresError(.configuration, message: "\(ports.count) ports for \(count) hosts")
    }
    return (0..<count).map { index in
      Host(
        name: names.isEmpty ? "" : names[index],
        address: addresses.isEmpty ? "" : addresses[index],
        port: ports.count > 1 ? ports[index] : ports.first ?? "")
    }
  }
}

extension PostgresHealth {
  init(_ engine: Engine) {
    reads = Pool(engine.readCounts)
    writes = Pool(engine.writeCounts)
    leases = Pool(engine.leaseCounts)
    listening = engine.listening
    connects = engine.connects
    losses = engine.losses
    lastConnectError = engine.lastConnectError
  }
}

extension PostgresHealth.Pool {
  init(_ counts: Engine.Counts) {
    size = counts.size
    connected = counts.connected
    waiting = counts.waiting
    inFlight = counts.inFlight
  }
}
