extension ConfigurationKey {
  /// Every setting, in the order of the reference.
  static let all: [ConfigurationKey] = [
    mode, dataDirectory,
    databaseURL, databaseReadConnections, databaseWriteConnections, databaseLeaseConnections,
    databaseStatementDeadline,
    listenHost, listenPort, listenPlaintext, adminHost, adminPort,
    tlsCertificate, tlsKey, tlsSecondCertificate, tlsSecondKey, tlsTicketKeys, tlsClientAuthority,
    identityJWKS, identityJWKSRefresh, identityIssuer, identityAudience,
    limitsTextBytes, limitsBodyBytes, limitsBodySeconds, limitsPageBytes, limitsIndexBytes,
    limitsParticipants,
    limitsBatchEntries, limitsPageDefault,
    limitsPageMaximum, limitsLongPoll, limitsStreamsPerUser,
    limitsVocabularyStrings, limitsVocabularyStringBytes, limitsVocabularyBytes,
    eventsHeartbeat, eventsPoll, intentsAdaptations, intentsRestrictWhileLocked,
    intentsConfirmation, shutdownDeadline, logLevel, logFormat,
  ]

  // MARK: Process

  static let mode = ConfigurationKey(
    name: "mode", kind: .choice(["development", "production"]),
    defaultValue: .string("production"),
    help: """
      Development makes its own certificate authority, certificate and token issuer. Production \
      refuses to start without yours.
      """)
  static let dataDirectory = ConfigurationKey(
    name: "data.directory", kind: .path,
    absence: "`.vocative`, or `/var/lib/vocative` when started by root",
    help: "Where the embedded database and the development certificates are kept.")
  static let shutdownDeadline = ConfigurationKey(
    name: "shutdown.deadlineSeconds", kind: .integer(1...300), unit: "seconds",
    defaultValue: .int(10),
    help: "How long open requests may take to finish after SIGTERM or SIGINT.")
  static let logLevel = ConfigurationKey(
    name: "log.level",
    kind: .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
    defaultValue: .string("info"), help: "The least severe messages that are logged.")
  static let logFormat = ConfigurationKey(
    name: "log.format", kind: .choice(["text", "json"]), defaultValue: .string("text"),
    help: "Lines for people, or one JSON object a line for machines.")

  // MARK: Database

  static let databaseURL = ConfigurationKey(
    name: "database.url", kind: .databaseURL,
    absence: "a private cluster in the data directory", isSecret: true,
    commonVariable: "DATABASE_URL",
    help: "The PostgreSQL database, version 15 or later. Several hosts are tried in turn.")
  static let databaseReadConnections = ConfigurationKey(
    name: "database.readConnections", kind: .integer(1...64), unit: "connections",
    defaultValue: .int(2), help: "Connections that all reads share.")
  static let databaseWriteConnections = ConfigurationKey(
    name: "database.writeConnections", kind: .integer(1...64), unit: "connections",
    defaultValue: .int(2), help: "Connections that all grouped writes share.")
  static let databaseLeaseConnections = ConfigurationKey(
    name: "database.leaseConnections", kind: .integer(1...256), unit: "connections",
    defaultValue: .int(8), help: "Connections for work that needs one to itself.")
  static let databaseStatementDeadline = ConfigurationKey(
    name: "database.statementDeadlineSeconds", kind: .integer(1...600), unit: "seconds",
    defaultValue: .int(10), help: "How long a statement may take before it is cancelled.")

  // MARK: Network

  static let listenHost = ConfigurationKey(
    name: "listen.host", kind: .host, defaultValue: .string("127.0.0.1"),
    help: "The address to serve on; `0.0.0.0` or `::` for every interface.")
  static let listenPort = ConfigurationKey(
    name: "listen.port", kind: .integer(0...65_535), defaultValue: .int(8443),
    help: "The port to serve on; 0 for any free one.")
  static let listenPlaintext = ConfigurationKey(
    name: "listen.plaintext", kind: .boolean, defaultValue: .bool(false),
    help: "Serves HTTP without TLS. Only on a loopback address, as behind a proxy on the same host."
  )
  static let adminHost = ConfigurationKey(
    name: "admin.host", kind: .host, defaultValue: .string("127.0.0.1"),
    help: "The address for metrics and health, served without TLS or authentication.")
  static let adminPort = ConfigurationKey(
    name: "admin.port", kind: .integer(0...65_535), defaultValue: .int(9090),
    help: "The port for metrics and health; 0 for any free one.")

  // MARK: TLS

  static let tlsCertificate = ConfigurationKey(
    name: "tls.certificate", kind: .path, absence: "development makes one",
    help: "PEM file with the certificate and its intermediates. Read again when it changes.")
  static let tlsKey = ConfigurationKey(
    name: "tls.key", kind: .path, absence: "development makes one",
    help: "PEM file with the certificate's private key.")
  static let tlsSecondCertificate = ConfigurationKey(
    name: "tls.secondCertificate", kind: .path, absence: "none",
    help: "A certificate with a key of another type, such as RSA beside ECDSA.")
  static let tlsSecondKey = ConfigurationKey(
    name: "tls.secondKey", kind: .path, absence: "none",
    help: "The second certificate's private key.")
  static let tlsTicketKeys = ConfigurationKey(
    name: "tls.ticketKeys", kind: .path, absence: "keys of this process, which no replica shares",
    help: "File with the session ticket keys that all replicas share. Read again when it changes.")
  static let tlsClientAuthority = ConfigurationKey(
    name: "tls.clientAuthority", kind: .path, absence: "client certificates are not asked for",
    help: "PEM file with the authorities whose client certificates are accepted.")

  // MARK: Identity

  static let identityJWKS = ConfigurationKey(
    name: "identity.jwks", kind: .pathOrURL, absence: "development uses its own issuer",
    help: "The identity provider's JSON Web Key Set.")
  static let identityJWKSRefresh = ConfigurationKey(
    name: "identity.jwksRefreshSeconds", kind: .integer(10...86_400), unit: "seconds",
    defaultValue: .int(300), help: "How often the key set is read again.")
  static let identityIssuer = ConfigurationKey(
    name: "identity.issuer", kind: .text, absence: "development uses its own issuer",
    help: "The `iss` that tokens must have.")
  static let identityAudience = ConfigurationKey(
    name: "identity.audience", kind: .text, absence: "development uses its own issuer",
    help: "The `aud` that tokens must have.")

  // MARK: Limits

  static let limitsTextBytes = ConfigurationKey(
    name: "limits.textBytes", kind: .integer(1...1_048_576), unit: "bytes",
    defaultValue: .int(65_536), help: "The longest text of an entry, in UTF-8.")
  static let limitsBodyBytes = ConfigurationKey(
    name: "limits.bodyBytes", kind: .integer(1024...67_108_864), unit: "bytes",
    defaultValue: .int(1_048_576), help: "The largest request body, upload jobs excepted.")
  static let limitsBodySeconds = ConfigurationKey(
    name: "limits.bodySeconds", kind: .integer(1...600), unit: "seconds",
    defaultValue: .int(60), help: "How long a request's body may take to arrive.")
  static let limitsPageBytes = ConfigurationKey(
    name: "limits.pageBytes", kind: .integer(65_536...67_108_864), unit: "bytes",
    defaultValue: .int(4_194_304),
    help: "Where a page ends before it has as many items as were asked for.")
  static let limitsIndexBytes = ConfigurationKey(
    name: "limits.indexBytes", kind: .integer(1_048_576...68_719_476_736), unit: "bytes",
    defaultValue: .int(268_435_456),
    help: "Memory for the indexes of users' vocabularies; the least recently used go.")
  static let limitsParticipants = ConfigurationKey(
    name: "limits.participants", kind: .integer(2...100_000), unit: "participants",
    defaultValue: .int(1000), help: "The most participants of a thread.")
  static let limitsBatchEntries = ConfigurationKey(
    name: "limits.batchEntries", kind: .integer(1...1000), unit: "entries",
    defaultValue: .int(100), help: "The most entries in one batch of sends.")
  static let limitsPageDefault = ConfigurationKey(
    name: "limits.pageDefault", kind: .integer(1...1000), unit: "items",
    defaultValue: .int(50), help: "The length of a page when a request names none.")
  static let limitsPageMaximum = ConfigurationKey(
    name: "limits.pageMaximum", kind: .integer(1...1000), unit: "items",
    defaultValue: .int(200), help: "The longest page that a request may ask for.")
  static let limitsLongPoll = ConfigurationKey(
    name: "limits.longPollSeconds", kind: .integer(1...120), unit: "seconds",
    defaultValue: .int(30), help: "The longest that a request for changes may wait.")
  static let limitsStreamsPerUser = ConfigurationKey(
    name: "limits.streamsPerUser", kind: .integer(1...1000), unit: "streams",
    defaultValue: .int(16), help: "The most event streams that a user may have open at a replica.")

  static let limitsVocabularyStrings = ConfigurationKey(
    name: "limits.vocabularyStrings", kind: .integer(1...100_000), unit: "strings",
    defaultValue: .int(20_000), help: "The most strings of one type of a user's vocabulary.")
  static let limitsVocabularyStringBytes = ConfigurationKey(
    name: "limits.vocabularyStringBytes", kind: .integer(1...8192), unit: "bytes",
    defaultValue: .int(1024), help: "The longest part of a vocabulary string, in UTF-8.")
  static let limitsVocabularyBytes = ConfigurationKey(
    name: "limits.vocabularyBytes", kind: .integer(1024...67_108_864), unit: "bytes",
    defaultValue: .int(8_388_608),
    help: "The largest body, or line of an upload job, that holds the strings of one type.")

  // MARK: Events

  static let eventsHeartbeat = ConfigurationKey(
    name: "events.heartbeatSeconds", kind: .integer(1...60), unit: "seconds",
    defaultValue: .int(15), help: "How often a quiet event stream sends a comment line.")
  static let eventsPoll = ConfigurationKey(
    name: "events.pollSeconds", kind: .integer(1...60), unit: "seconds", defaultValue: .int(5),
    help: "How late an event may be at most when its wake-up was lost.")
}
