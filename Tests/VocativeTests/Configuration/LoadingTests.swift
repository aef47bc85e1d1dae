import FoundationEssentials
import Testing

@testable import vocative

/// Loads with nothing but what is given; development, so that nothing is required.
private func load(
  _ arguments: [String] = ["--mode", "development"], environment: [String: String] = [:],
  file: String? = nil, isRoot: Bool = false
) throws(ConfigurationError) -> ServiceConfiguration {
  try ServiceConfiguration.load(
    arguments: arguments, environment: environment, isRoot: isRoot,
    readFile: { path in
      guard let file else { throw CocoaError(.fileReadNoSuchFile) }
      #expect(path == "v.json")
      return Data(file.utf8)
    })
}

private func problem(
  _ arguments: [String] = ["--mode", "development"], environment: [String: String] = [:],
  file: String? = nil
) throws -> ConfigurationError {
  try #require(throws: ConfigurationError.self) {
    try load(arguments, environment: environment, file: file)
  }
}

@Suite struct PrecedenceTests {
  @Test func defaultsHoldWhereNothingIsGiven() throws {
    let configuration = try load()
    #expect(configuration.database.url == nil)
    #expect(configuration.dataDirectory == ".vocative")
    #expect(configuration.listen == .init(host: "127.0.0.1", port: 8443))
    #expect(configuration.admin == .init(host: "127.0.0.1", port: 9090))
    #expect(configuration.limits.textBytes == 65_536)
    #expect(configuration.events.heartbeat == .seconds(15))
    #expect(configuration.shutdownDeadline == .seconds(10))
    #expect(configuration.tls.identities.isEmpty)
    #expect(try load(isRoot: true).dataDirectory == "/var/lib/vocative")
  }

  @Test func flagsGoBeforeVariablesBeforeTheFileBeforeDefaults() throws {
    let file =
      #"{"mode": "development", "listen": {"port": 1}, "admin": {"port": 1}, "limits": {"streamsPerUser": 1}}"#
    let configuration = try load(
      ["--config", "v.json", "--listen-port=3"],
      environment: ["VOCATIVE_LISTEN_PORT": "2", "VOCATIVE_ADMIN_PORT": "2"], file: file)
    #expect(configuration.listen.port == 3)
    #expect(configuration.admin.port == 2)
    #expect(configuration.limits.streamsPerUser == 1)
    #expect(configuration.limits.batchEntries == 100)
  }

  @Test func theFileIsNamedByFlagOrVariable() throws {
    let file = #"{"mode": "development", "listen": {"plaintext": true}}"#
    #expect(try load([], environment: ["VOCATIVE_CONFIG": "v.json"], file: file).plaintext)
    #expect(try load(["--config=v.json"], file: file).plaintext)
  }

  @Test func theCommonDatabaseVariableGivesWayToOurs() throws {
    var environment = ["DATABASE_URL": "postgres://a,b/x"]
    #expect(try load(environment: environment).database.url == Secret("postgres://a,b/x"))
    environment["VOCATIVE_DATABASE_URL"] = "host=/run dbname=y"
    #expect(try load(environment: environment).database.url == Secret("host=/run dbname=y"))
  }

  @Test(arguments: [
    (["--listen-plaintext"], true), (["--listen-plaintext", "true"], true),
    (["--listen-plaintext=false"], false), (["--listen-plaintext", "false"], false),
    (["--listen-plaintext", "--listen-port", "1"], true),
  ]) func booleansNeedNoValue(arguments: [String], expected: Bool) throws {
    #expect(try load(["--mode", "development"] + arguments).plaintext == expected)
  }

  @Test func keySetsAreFilesOrURLs() throws {
    func keySet(_ text: String) throws -> ServiceConfiguration.TokenVerification.KeySet? {
      try load(["--mode=development", "--identity-jwks", text]).identity.keySet
    }
    #expect(try keySet("https://id.example/keys") == .url("https://id.example/keys"))
    #expect(try keySet("/etc/keys.json") == .file("/etc/keys.json"))
  }

  @Test func variablesOfOthersAndOfTestsAreLeftAlone() throws {
    _ = try load(environment: ["PATH": "/bin", "VOCATIVE_TEST_SEED": "1", "vocative": "x"])
  }
}

@Suite struct RefusalTests {
  @Test(arguments: [
    (["--listen-port", "x"], "--listen-port is \"x\" and must be an integer from 0 to 65535"),
    (["--listen-port", "65536"], "must be an integer from 0 to 65535"),
    (["--listen-port"], "--listen-port needs a value: an integer from 0 to 65535"),
    (["--listen-port", "--admin-port=1"], "--listen-port needs a value"),
    (["--listen-port=1", "--listen-port=2"], "--listen-port is given more than once"),
    (["--listen-prot", "1"], "--listen-prot is not a setting; did you mean --listen-port?"),
    (["--utterly-else"], "--utterly-else is not a setting"),
    (["8443"], "8443 is not expected"),
    (["--listen-plaintext=yes"], "must be true or false"),
    (["--listen-host="], "must be a host name or an IP address"),
    (["--mode=staging"], "must be development or production"),
    (["--identity-jwks=http://id.example"], "must be a path or an https:// URL"),
    (["--config"], "--config needs a value"),
  ]) func flags(arguments: [String], message: String) throws {
    let mode = arguments == ["--mode=staging"] ? [] : ["--mode=development"]
    let error = try problem(mode + arguments)
    #expect(error.problems.count == 1)
    #expect(error.description.contains(message), "\(error)")
    #expect(error.exitCode == 64)
  }

  @Test(arguments: [
    ("VOCATIVE_LISTEN_PORT", "", "VOCATIVE_LISTEN_PORT is \"\" and must be an integer"),
    ("VOCATIVE_LIMITS_PAGE_MAXIMUM", "0", "must be an integer from 1 to 1000"),
    ("VOCATIVE_LISTENPORT", "1", "is not a setting; did you mean VOCATIVE_LISTEN_PORT?"),
    ("VOCATIVE_LOG_LEVEL", "loud", "must be trace or debug or"),
  ]) func variables(name: String, value: String, message: String) throws {
    let error = try problem(environment: [name: value])
    #expect(error.problems.count == 1)
    #expect(error.description.contains(message), "\(error)")
    #expect(error.exitCode == 78)
  }

  @Test(arguments: [
    (#"{"listen": {"port": "8443"}}"#, "listen.port is \"8443\" and must be an integer"),
    (#"{"listen": {"port": true}}"#, "listen.port is \"true\" and must be an integer"),
    (#"{"listen": {"plaintext": 1}}"#, "listen.plaintext is \"1\" and must be true or false"),
    (#"{"listen": {"port": 1.5}}"#, "listen.port is"),
    (#"{"listen": {"port": null}}"#, "listen.port is \"null\""),
    (#"{"listen": {"host": ["a"]}}"#, "listen.host is \"a list"),
    (#"{"listen": 8443}"#, "listen is not a setting"),
    (#"{"listen": {"prot": 1}}"#, "listen.prot is not a setting; did you mean listen.port?"),
    (#"[]"#, "must hold one JSON object"),
    (#"{"listen": "#, "is not JSON"),
  ]) func file(contents: String, message: String) throws {
    let error = try problem(["--mode=development", "--config=v.json"], file: contents)
    #expect(error.problems.count == 1)
    #expect(error.description.contains(message), "\(error)")
    #expect(error.description.hasPrefix("v.json: "))
    #expect(error.exitCode == 78)
  }

  @Test func aMissingFileIsAnError() throws {
    #expect(try problem(["--config=v.json"]).description.contains("cannot be read"))
  }

  @Test func everythingThatIsWrongIsSaidAtOnce() throws {
    let error = try problem(
      ["--mode=development", "--listen-port=x", "--config=v.json"],
      environment: ["VOCATIVE_NOPE": "1"], file: #"{"log": {"format": "xml"}}"#)
    #expect(error.problems.map(\.source) == [.flags, .environment, .file("v.json")])
    #expect(error.exitCode == 64)
  }

  @Test func aSecretIsNeverShown() throws {
    let secret = "mysql://user:hunter2@db/x"
    let errors = [
      try problem(["--database-url", secret]), try problem(environment: ["DATABASE_URL": secret]),
      try problem(["--config=v.json"], file: #"{"database": {"url": "\#(secret)"}}"#),
    ]
    for error in errors {
      #expect(error.description.contains("must be") || error.description.contains("is not"))
      #expect(!error.description.contains("hunter2"))
    }
    let configuration = try load(environment: ["DATABASE_URL": "postgres://u:hunter2@h/d"])
    var dumped = "\(configuration) \(String(reflecting: configuration))"
    dump(configuration, to: &dumped)
    #expect(!dumped.contains("hunter2"))
  }
}

@Suite struct CombinationTests {
  private static let identity = [
    "--identity-jwks=/k", "--identity-issuer=i", "--identity-audience=a",
  ]

  @Test func productionNeedsACertificateAndAnIdentityProvider() throws {
    let error = try problem([])
    #expect(
      error.problems.map(\.name) == [
        "tls.certificate", "identity.jwks", "identity.issuer", "identity.audience",
      ])
    #expect(error.exitCode == 78)
    let configuration = try load(Self.identity + ["--tls-certificate=/c", "--tls-key=/k"])
    #expect(configuration.tls.identities == [.init(certificate: "/c", key: "/k")])
    #expect(try load(Self.identity + ["--listen-plaintext"]).plaintext)
  }

  @Test(arguments: ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
  func plaintextIsAllowedOnLoopback(host: String) throws {
    #expect(
      try load(["--mode=development", "--listen-plaintext", "--listen-host", host]).plaintext)
  }

  @Test(arguments: ["0.0.0.0", "::", "10.0.0.1", "127.evil.example", "localhost.example", "::2"])
  func plaintextIsRefusedElsewhere(host: String) throws {
    let error = try problem(["--mode=development", "--listen-plaintext", "--listen-host", host])
    #expect(error.problems.map(\.name) == ["listen.plaintext"])
  }

  @Test(arguments: [
    (["--tls-certificate=/c"], "tls.key"), (["--tls-key=/k"], "tls.certificate"),
    (["--tls-second-certificate=/c", "--tls-second-key=/k"], "tls.certificate"),
    (["--limits-page-default=300"], "limits.pageDefault"),
    (["--limits-body-bytes=2048"], "limits.textBytes"),
  ]) func valuesMustGoTogether(arguments: [String], name: String) throws {
    #expect(try problem(["--mode=development"] + arguments).problems.map(\.name) == [name])
  }
}
