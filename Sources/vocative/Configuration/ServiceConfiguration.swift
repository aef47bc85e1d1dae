/// The whole configuration of a service, checked and typed.
struct ServiceConfiguration: Sendable, Equatable {
  enum Mode: String, Sendable { case development, production }

  struct Database: Sendable, Equatable {
    /// Nil for the embedded cluster.
    var url: Secret<String>?
    var readConnections: Int
    var writeConnections: Int
    var leaseConnections: Int
    var statementDeadline: Duration
  }

  struct Endpoint: Sendable, Equatable {
    var host: String
    /// 0 for any free port.
    var port: Int
  }

  struct TLS: Sendable, Equatable {
    /// PEM files of a certificate chain and its private key.
    struct Identity: Sendable, Equatable {
      var certificate: String
      var key: String
    }

    /// One, or two of different key types; empty in development without a certificate of yours.
    var identities: [Identity]
    var ticketKeys: String?
    var clientAuthority: String?
  }

  struct TokenVerification: Sendable, Equatable {
    /// Where a JSON Web Key Set is.
    enum KeySet: Sendable, Equatable {
      case file(String)
      case url(String)
    }

    /// Nil in development without an identity provider of yours.
    var keySet: KeySet?
    var refresh: Duration
    var issuer: String?
    var audience: String?
  }

  struct Limits: Sendable, Equatable {
    var textBytes: Int
    var bodyBytes: Int
    var body: Duration
    var pageBytes: Int
    var indexBytes: Int
    var participants: Int
    var batchEntries: Int
    var pageDefault: Int
    var pageMaximum: Int
    var longPoll: Duration
    var streamsPerUser: Int
    var vocabularyStrings: Int
    var vocabularyStringBytes: Int
    var vocabularyBytes: Int
  }

  struct Events: Sendable, Equatable {
    var heartbeat: Duration
    var poll: Duration
  }

  struct Intents: Sendable, Equatable {
    /// The file with the words that are adapted; nil for those that are built in.
    var adaptations: String?
    var restrictsWhileLocked: Bool
    var confirmation: Duration
  }

  struct Log: Sendable, Equatable {
    enum Format: String, Sendable { case text, json }

    /// A level of swift-log, by name.
    var level: String
    var format: Format
  }

  var mode: Mode
  var dataDirectory: String
  var database: Database
  var listen: Endpoint
  /// Whether to serve without TLS; ``listen`` is a loopback address then.
  var plaintext: Bool
  var admin: Endpoint
  var tls: TLS
  var identity: TokenVerification
  var limits: Limits
  var events: Events
  var intents: Intents
  var shutdownDeadline: Duration
  var log: Log
}
