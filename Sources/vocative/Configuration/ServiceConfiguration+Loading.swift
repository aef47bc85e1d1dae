import Configuration
import FoundationEssentials
import Glibc

extension ServiceConfiguration {
  /// The configuration from flags, then environment variables, then the file that `--config` or
  /// `VOCATIVE_CONFIG` names, then the defaults.
  ///
  /// - Parameters:
  ///   - arguments: The settings on the command line, without program and subcommand.
  ///   - isRoot: Whether the process runs as root, which decides the default data directory.
  ///   - readFile: Reads the configuration file; called at most once.
  /// - Throws: ``ConfigurationError`` with everything that is wrong.
  static func load(
    arguments: [String], environment: [String: String], isRoot: Bool,
    readFile: (_ path: String) throws -> Data
  ) throws(ConfigurationError) -> ServiceConfiguration {
    let flags = ConfigurationSource(arguments: arguments)
    let variables = ConfigurationSource(environment: environment)
    var sources = [flags, variables]
    var problems = flags.problems + variables.problems
    if let path = flags.file ?? variables.file {
      do {
        let file = ConfigurationSource(file: path, contents: try readFile(path))
        sources.append(file)
        problems += file.problems
      } catch {
        problems.append(
          .init(source: .file(path), name: "the file", message: "cannot be read: \(error)"))
      }
    }
    guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
    let reader = ConfigReader(providers: sources.map { InMemoryProvider(values: $0.values) })
    let configuration = ServiceConfiguration(reader, isRoot: isRoot)
    problems = configuration.contradictions(settings: Settings(reader: reader))
    guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
    return configuration
  }

  private init(_ reader: ConfigReader, isRoot: Bool) {
    let settings = Settings(reader: reader)
    mode = settings.choice(.mode)
    dataDirectory =
      settings.optionalText(.dataDirectory) ?? (isRoot ? "/var/lib/vocative" : ".vocative")
    database = Database(
      url: settings.optionalText(.databaseURL).map { Secret($0) },
      readConnections: settings.integer(.databaseReadConnections),
      writeConnections: settings.integer(.databaseWriteConnections),
      leaseConnections: settings.integer(.databaseLeaseConnections),
      statementDeadline: settings.seconds(.databaseStatementDeadline))
    listen = Endpoint(
      host: settings.text(.listenHost), port: settings.integer(.listenPort))
    plaintext = settings.boolean(.listenPlaintext)
    admin = Endpoint(host: settings.text(.adminHost), port: settings.integer(.adminPort))
    let pairs: [(ConfigurationKey, ConfigurationKey)] = [
      (.tlsCertificate, .tlsKey), (.tlsSecondCertificate, .tlsSecondKey),
    ]
    tls = TLS(
      identities: pairs.compactMap { certificate, key in
        guard let certificate = settings.optionalText(certificate),
          let key = settings.optionalText(key)
        else { return nil }
        return TLS.Identity(certificate: certificate, key: key)
      },
      ticketKeys: settings.optionalText(.tlsTicketKeys),
      clientAuthority: settings.optionalText(.tlsClientAuthority))
    identity = TokenVerification(
      keySet: settings.optionalText(.identityJWKS).map {
        $0.hasPrefix("https://") ? .url($0) : .file($0)
      },
      refresh: settings.seconds(.identityJWKSRefresh),
      issuer: settings.optionalText(.identityIssuer),
      audience: settings.optionalText(.identityAudience))
    limits = Limits(
      textBytes: settings.integer(.limitsTextBytes), bodyBytes: settings.integer(.limitsBodyBytes),
      body: settings.seconds(.limitsBodySeconds), pageBytes: settings.integer(.limitsPageBytes),
      indexBytes: settings.integer(.limitsIndexBytes),
      participants: settings.integer(.limitsParticipants),
      batchEntries: settings.integer(.limitsBatchEntries),
      pageDefault: settings.integer(.limitsPageDefault),
      pageMaximum: settings.integer(.limitsPageMaximum),
      longPoll: settings.seconds(.limitsLongPoll),
      streamsPerUser: settings.integer(.limitsStreamsPerUser),
      vocabularyStrings: settings.integer(.limitsVocabularyStrings),
      vocabularyStringBytes: settings.integer(.limitsVocabularyStringBytes),
      vocabularyBytes: settings.integer(.limitsVocabularyBytes))
    events = Events(
      heartbeat: settings.seconds(.eventsHeartbeat), poll: settings.seconds(.eventsPoll))
    intents = Intents(
      adaptations: settings.optionalText(.intentsAdaptations),
      restrictsWhileLocked: settings.boolean(.intentsRestrictWhileLocked),
      confirmation: settings.seconds(.intentsConfirmation))
    shutdownDeadline = settings.seconds(.shutdownDeadline)
    log = Log(level: settings.text(.logLevel), format: settings.choice(.logFormat))
  }

  /// What does not go together, though each value is fine by itself.
  private func contradictions(settings: Settings) -> [ConfigurationError.Problem] {
    var problems: [ConfigurationError.Problem] = []
    func report(_ key: ConfigurationKey, _ message: String) {
      problems.append(.init(source: .combination, name: key.name, message: message))
    }
    let pairs: [(ConfigurationKey, ConfigurationKey)] = [
      (.tlsCertificate, .tlsKey), (.tlsSecondCertificate, .tlsSecondKey),
    ]
    for (certificate, key) in pairs {
      switch (settings.optionalText(certificate), settings.optionalText(key)) {
      case (.some, nil): report(key, "is missing: \(certificate.name) needs it")
      case (nil, .some): report(certificate, "is missing: \(key.name) needs it")
      default: break
      }
    }
    if settings.optionalText(.tlsSecondCertificate) != nil,
      settings.optionalText(.tlsCertificate) == nil
    {
      report(.tlsCertificate, "is missing: \(ConfigurationKey.tlsSecondCertificate.name) needs it")
    }
    if plaintext, !Self.isLoopback(listen.host) {
      report(
        .listenPlaintext,
        "is only allowed on a loopback address, and listen.host is \"\(listen.host)\"")
    }
    if limits.pageDefault > limits.pageMaximum {
      report(.limitsPageDefault, "is larger than limits.pageMaximum")
    }
    if limits.textBytes > limits.bodyBytes {
      report(.limitsTextBytes, "is larger than limits.bodyBytes, so that no such text can arrive")
    }
    guard mode == .production else { return problems }
    if !plaintext, settings.optionalText(.tlsCertificate) == nil {
      report(
        .tlsCertificate,
        "is required in production (or listen.plaintext on a loopback address, behind a proxy)")
    }
    for key in [ConfigurationKey.identityJWKS, .identityIssuer, .identityAudience]
    where settings.optionalText(key) == nil {
      report(key, "is required in production")
    }
    return problems
  }

  /// Whether the host is this machine only: `localhost`, 127.0.0.0/8 or ::1.
  static func isLoopback(_ host: String) -> Bool {
    if host == "localhost" { return true }
    var four = in_addr()
    if inet_pton(AF_INET, host, &four) == 1 {
      return UInt32(bigEndian: four.s_addr) >> 24 == 127
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, host, &six) == 1 else { return false }
    return withUnsafeBytes(of: &six) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
  }
}

/// Typed look-ups of values that have been checked against their keys already.
private struct Settings {
  let reader: ConfigReader

  func optionalText(_ key: ConfigurationKey) -> String? {
    reader.string(forKey: key.configKey, isSecret: key.isSecret)
  }

  func text(_ key: ConfigurationKey) -> String {
    guard case .string(let value) = key.defaultValue else { preconditionFailure(key.name) }
    return reader.string(forKey: key.configKey, isSecret: key.isSecret, default: value)
  }

  func integer(_ key: ConfigurationKey) -> Int {
    guard case .int(let value) = key.defaultValue else { preconditionFailure(key.name) }
    return reader.int(forKey: key.configKey, default: value)
  }

  func boolean(_ key: ConfigurationKey) -> Bool {
    guard case .bool(let value) = key.defaultValue else { preconditionFailure(key.name) }
    return reader.bool(forKey: key.configKey, default: value)
  }

  func seconds(_ key: ConfigurationKey) -> Duration { .seconds(integer(key)) }

  func choice<Choice: RawRepresentable<String>>(_ key: ConfigurationKey) -> Choice {
    guard let choice = Choice(rawValue: text(key)) else { preconditionFailure(key.name) }
    return choice
  }
}
