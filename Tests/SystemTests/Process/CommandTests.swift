import Foundation
import Identity
import TestSupport
import Testing

extension ProcessTests {
  /// The command as an administrator uses it: its words and its exit statuses.
  struct CommandTests {
    /// The files that production needs, of a private authority and a provider of one's own.
    private struct Production {
      let directory: String
      let settings: [String]
      let caFile: String
      let issuer: DevelopmentIssuer

      init() throws {
        directory = try Scratch.directory()
        let certificates = try DevelopmentCertificates(
          directory: directory + "/tls", mode: .development, now: Date())
        issuer = try DevelopmentIssuer(
          directory: directory + "/provider", mode: .development, issuer: "https://id.example.org",
          audience: "chat", now: { Date() })
        caFile = certificates.authorityPath
        settings = [
          "--tls-certificate", certificates.serverChainPath, "--tls-key",
          certificates.serverKeyPath,
          "--identity-jwks", issuer.jwksPath, "--identity-issuer", issuer.issuer,
          "--identity-audience", issuer.audience,
        ]
      }

      /// With these settings left out.
      func settings(without flags: String...) -> [String] {
        stride(from: 0, to: settings.count, by: 2).filter { !flags.contains(settings[$0]) }
          .flatMap { settings[$0...($0 + 1)] }
      }
    }

    @Test(.timeLimit(.minutes(1)))
    func productionServesWithWhatItIsGiven() async throws {
      try await Deployment.run { deployment in
        let production = try Production()
        let service = try await RunningService.start(
          database: deployment.serviceConninfo, dataDirectory: production.directory + "/data",
          mode: "production", production.settings)
        let token = try await production.issuer.token(userID: "ada")
        try await APIClient.run(
          service.baseURL, caFile: production.caFile, token: token
        ) { ada in
          #expect(try await ada.call(.GET, "/v1/changes").status == 200)
          #expect(try await ada.call(.GET, "/").status == 404)
          #expect(try await ada.call(.GET, "/demo/session.json").status == 404)
          let own = try DevelopmentIssuer(
            directory: production.directory + "/other", mode: .development, now: { Date() })
          let forged = ada.speaking(try await own.token(userID: "ada"))
          #expect(try await forged.call(.GET, "/v1/changes").status == 401)
        }
        #expect(try await service.stop() == 0)
        // It made nothing of its own.
        let made = try? FileManager.default.contentsOfDirectory(
          atPath: production.directory + "/data")
        #expect(made ?? [] == [])
      }
    }

    @Test(.timeLimit(.minutes(1)))
    func productionRefusesWhatIsForDevelopment() async throws {
      let production = try Production()
      let data = ["--data-directory", production.directory + "/data"]
      let demo = try await Binary.run(["serve", "--demo"] + data + production.settings)
      #expect(demo.status == 64 && demo.output.contains("--demo"), "\(demo)")
      let token = try await Binary.run(["token", "--user", "ada"] + data + production.settings)
      #expect(token.status != 0 && token.output.contains("development"), "\(token)")
      #expect(!token.output.contains("eyJ"))
      for flag in [
        "--tls-certificate", "--tls-key", "--identity-jwks", "--identity-issuer",
        "--identity-audience",
      ] {
        let key = flag.dropFirst(2).replacingOccurrences(of: "-", with: ".")
        let result = try await Binary.run(["serve"] + data + production.settings(without: flag))
        #expect(result.status == 78 && result.output.contains("\(key) is "), "\(result)")
      }
      let missing = try await Binary.run(
        ["serve", "--listen-port", "0", "--admin-port", "0", "--tls-certificate", "/nowhere.pem"]
          + data + production.settings(without: "--tls-certificate"),
        environment: ["DATABASE_URL": "host=/nowhere"])
      #expect(missing.status != 0 && missing.output.contains("/nowhere.pem"), "\(missing)")
      #expect(!FileManager.default.fileExists(atPath: production.directory + "/data/identity"))
    }

    @Test(.timeLimit(.minutes(1)))
    func wrongSettingsAreNamed() async throws {
      let directory = try Scratch.directory()
      func file(_ text: String) throws -> String {
        let path = "\(directory)/\(UUID()).json"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
      }
      let cases: [(arguments: [String], environment: [String: String], Int32, [String])] = [
        (["--listen-prot", "1"], [:], 64, ["--listen-prot", "did you mean --listen-port?"]),
        (["--listen-port", "http"], [:], 64, ["--listen-port", "from 0 to 65535"]),
        (["--listen-port", "65536"], [:], 64, ["--listen-port", "from 0 to 65535"]),
        (["--mode", "test"], [:], 64, ["--mode", "development or production"]),
        (["--listen-port", "1", "--listen-port", "2"], [:], 64, ["more than once"]),
        (["stray"], [:], 64, ["stray"]),
        ([], ["VOCATIVE_LISTEN_PROT": "1"], 78, ["VOCATIVE_LISTEN_PROT", "VOCATIVE_LISTEN_PORT"]),
        ([], ["VOCATIVE_LOG_LEVEL": "loud"], 78, ["VOCATIVE_LOG_LEVEL"]),
        ([], ["DATABASE_URL": "mysql://user:pa55word@host"], 78, ["DATABASE_URL", "postgres://"]),
        (
          ["--config", try file(#"{"listen":{"prot":1}}"#)], [:], 78,
          ["listen.prot", "listen.port"]
        ),
        (["--config", try file(#"{"listen":{"port":"8443"}}"#)], [:], 78, ["listen.port"]),
        (["--config", try file("port = 1")], [:], 78, ["is not JSON"]),
        (["--config", directory + "/none.json"], [:], 78, ["none.json", "cannot be read"]),
        (
          ["--limits-text-bytes", "1048576", "--limits-body-bytes", "1024"], [:], 78,
          ["limits.textBytes"]
        ),
      ]
      for (arguments, environment, status, words) in cases {
        let mode = arguments.contains("--mode") ? [] : ["--mode", "development"]
        let result = try await Binary.run(
          ["serve", "--data-directory", directory] + mode + arguments, environment: environment)
        #expect(result.status == status, "\(arguments): \(result)")
        for word in words { #expect(result.output.contains(word), "\(arguments): \(result)") }
        #expect(!result.output.contains("pa55word"))
      }
      for command in [["migrate"], ["doctor"], ["token", "--user", "ada"]] {
        let result = try await Binary.run(command + ["--listen-prot", "1"])
        #expect(result.status == 64 && result.output.contains("--listen-prot"), "\(result)")
      }
    }

    @Test(.timeLimit(.minutes(1)))
    func migrationsAreAppliedOnceAndServeAsksForThem() async throws {
      try await TestCluster.shared.withDatabase { conninfo in
        let directory = try Scratch.directory()
        let common = ["--mode", "development", "--data-directory", directory]
        func run(_ arguments: String...) async throws -> Command.Result {
          let ports = arguments[0] == "serve" ? ["--listen-port", "0", "--admin-port", "0"] : []
          return try await Binary.run(
            arguments + common + ports, environment: ["DATABASE_URL": conninfo])
        }
        let early = try await run("serve")
        Self.expectOneLine(early, saying: "run `vocative migrate`")
        let dry = try await run("migrate", "--dry-run")
        #expect(dry.status == 0 && dry.output.contains("would apply 0001_core"), "\(dry)")
        let tables = "SELECT count(*) FROM pg_namespace WHERE nspname = 'vocative'"
        #expect(try await PSQL.run(conninfo, tables) == "0\n")
        let first = try await run("migrate")
        #expect(first.status == 0 && first.output.contains("applied 0001_core"), "\(first)")
        let second = try await run("migrate")
        #expect(second.status == 0 && second.output.contains("nothing to apply"), "\(second)")
        #expect(try await run("migrate", "--dry-run").output.contains("nothing to apply"))

        try await PSQL.run(conninfo, "CREATE ROLE outsider LOGIN")
        let refused = try await Binary.run(
          ["serve"] + common, environment: ["DATABASE_URL": conninfo + " user='outsider'"])
        Self.expectOneLine(refused, saying: "vocative_service")
        try await PSQL.run(conninfo, "DROP ROLE outsider")
        try await PSQL.run(
          conninfo, "INSERT INTO vocative.migration (version, name) VALUES (999, '0999_later')")
        Self.expectOneLine(try await run("serve"), saying: "run a newer build")
        let newer = try await run("migrate")
        #expect(newer.status != 0 && newer.output.contains("0999_later"), "\(newer)")
      }
    }

    /// Besides the log, one line says why the process ended.
    private static func expectOneLine(
      _ result: Command.Result, saying text: String,
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(result.status != 0, sourceLocation: sourceLocation)
      let lines = result.output.split(separator: "\n").filter { !$0.hasPrefix("20") }
      #expect(lines.count == 1, "\(result.output)", sourceLocation: sourceLocation)
      #expect(
        lines.last?.contains(text) == true, "\(result.output)", sourceLocation: sourceLocation)
    }

    @Test(.timeLimit(.minutes(1)))
    func doctorTellsWhatIsWrong() async throws {
      let directory = try Scratch.directory()
      func doctor(_ more: String..., database: String? = nil) async throws -> Command.Result {
        try await Binary.run(
          [
            "doctor", "--mode", "development", "--data-directory", directory, "--listen-port", "0",
            "--admin-port", "0",
          ] + more, environment: database.map { ["DATABASE_URL": $0] } ?? [:])
      }
      let early = try await doctor()
      #expect(early.status == 0 && early.output.contains("embedded, not running now"), "\(early)")
      let service = try await RunningService.start(dataDirectory: directory)
      let good = try await doctor()
      #expect(good.status == 0 && good.output.contains(" 0 failure"), "\(good.output)")
      #expect(good.output.contains("up to date"))
      let report = try await doctor("--json")
      let document = try #require(
        try JSONSerialization.jsonObject(with: Data(report.output.utf8)) as? [String: Any])
      #expect(document["outcome"] as? String != "failure")
      #expect((document["findings"] as? [Any])?.isEmpty == false)
      let busy = try await Binary.run([
        "doctor", "--mode", "development", "--data-directory", directory, "--listen-port",
        "\(service.port)", "--admin-port", "0",
      ])
      #expect(busy.output.contains("Service port") && busy.output.contains("in use"), "\(busy)")
      #expect(try await service.stop() == 0)
      let bad = try await doctor(database: "host=/nowhere dbname=x password=pa55word")
      #expect(bad.status == 1 && bad.output.contains("cannot be reached"), "\(bad.output)")
      #expect(bad.output.contains("Check database.url") && !bad.output.contains("pa55word"))
      try await TestCluster.shared.withDatabase { conninfo in
        let empty = try await Binary.run(
          ["doctor", "--mode", "development", "--data-directory", try Scratch.directory()],
          environment: ["DATABASE_URL": conninfo])
        #expect(empty.status == 1 && empty.output.contains("vocative migrate"), "\(empty.output)")
      }
    }

    @Test(.timeLimit(.minutes(1)))
    func tokensOfTheCommandAreAccepted() async throws {
      try await Deployment.serving { _, service in
        let common = ["token", "--mode", "development", "--data-directory", service.dataDirectory]
        let result = try await Binary.run(common + ["--user", "ada", "--lifetime", "60"])
        #expect(result.status == 0)
        let token = result.output.trimmingCharacters(in: .newlines)
        #expect(token.split(separator: ".").count == 3)
        try await APIClient.run(service.baseURL, caFile: service.caFile, token: token) { ada in
          let answer = try await ada.call(.GET, "/v1/threads")
          #expect(answer.status == 200)
        }
        let job = try await Binary.run(common + ["--user", "job", "--scope", "vocabulary.upload"])
        let jobToken = job.output.trimmingCharacters(in: .newlines)
        try await APIClient.run(service.baseURL, caFile: service.caFile, token: jobToken) {
          client in
          let answer = try await client.call(.GET, "/v1/threads")
          #expect(answer.status == 403)
        }
        for bad in [
          ["--user", ""], ["--user", "ada", "--lifetime", "0"],
          ["--user", String(repeating: "u", count: 129)],
          ["--user", "ada", "--scope", "two words"],
          [],
        ] {
          let result = try await Binary.run(common + bad)
          #expect(result.status != 0 && !result.output.contains("eyJ"), "\(bad): \(result)")
        }
      }
    }
  }
}
