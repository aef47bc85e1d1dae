import Foundation
import Identity
import Testing
import TestSupport

extension ServiceTests {
  /// `vocative upload` and `vocative vocabulary` as an operator and a scheduler use them.
  struct UploadCommandTests {
    private static func file(_ name: String, _ text: String) throws -> String {
      let path = try Scratch.directory() + "/" + name
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(filePath: path))
      return path
    }

    private static func arguments(
      _ service: RunningService, _ user: String, scopes: Set<Scope> = []
    ) async throws -> [String] {
      let token = try Self.file("token", try await service.token(user, scopes: scopes) + "\n")
      return [
        "--url", service.baseURL, "--ca-file", service.caFile, "--token-file", token,
      ]
    }

    @Test func filesAreUploadedShownAndExported() async throws {
      try await Deployment.serving { _, service in
        let crm = try await Self.arguments(service, "crm", scopes: [.vocabularyUpload])
        let csv = try Self.file(
          "names.csv", "userId,type,phrase,identifier\nada,contactName,Mum,m\njon,carName,Herbie,\n"
        )
        let cards = try Self.file(
          "cards.vcf", "BEGIN:VCARD\nVERSION:3.0\nFN:王一然\nUID:w\nEND:VCARD\n")
        let first = try await Binary.run(["upload", csv, cards, "--user", "mei"] + crm)
        #expect(first.status == 0, "\(first.output)")
        #expect(first.output.contains("3 stored, 0 unchanged, 0 failed; 3 strings"))

        let ada = try await Self.arguments(service, "ada")
        let types = try await Binary.run(["vocabulary", "show"] + ada)
        #expect(types.status == 0 && types.output == "contactName\trevision 1\n")
        let shown = try await Binary.run(["vocabulary", "show", "contactName"] + ada)
        #expect(shown.output == "Mum\tm\t\t\n")
        let mei = try await Self.arguments(service, "mei")
        let export = try await Binary.run(["vocabulary", "export", "--user", "mei"] + mei)
        #expect(
          export.output
            == #"{"userId":"mei","type":"contactName","strings":[{"phrase":"王一然","identifier":"w"}]}"#
            + "\n")
        let meant = try await Binary.run(["resolve", "text 王一然", "wang yiran"] + mei)
        #expect(
          meant.output == """
            text 王一然 → success
              1.000  identical   王一然  w

            wang yiran → confirmationRequired
              0.900  sound       王一然  w

            """)
        // What is exported can be uploaded, and is what is there.
        let lines = try Self.file("export.jsonl", export.output)
        let again = try await Binary.run(["upload", lines] + crm)
        #expect(again.status == 0 && again.output.contains("0 stored, 1 unchanged"))
      }
    }

    @Test func exitCodesSayWhatASchedulerNeedsToKnow() async throws {
      try await Deployment.serving { deployment, service in
        let crm = try await Self.arguments(service, "crm", scopes: [.vocabularyUpload])
        let good = #"{"userId":"ada","type":"contactName","strings":["Mum"]}"#
        let mixed = try Self.file("mixed.jsonl", good + "\n\nhush-hush\n")
        let before = try await deployment.dump()
        let dry = try await Binary.run(["upload", mixed, "--dry-run"] + crm)
        #expect(dry.status == 1 && dry.output.contains("mixed.jsonl, line 3: it is not JSON"))
        #expect(try await deployment.dump() == before)
        let some = try await Binary.run(["upload", mixed] + crm)
        #expect(some.status == 1 && some.output.contains("mixed.jsonl, line 3: "))
        #expect(some.output.contains("1 stored, 0 unchanged, 1 failed"))
        #expect(!some.output.contains("hush-hush"))

        // What was stored in between is replaced, though these lines were uploaded before.
        let other = try Self.file("other.jsonl", good.replacing("Mum", with: "Dad") + "\n")
        #expect(try await Binary.run(["upload", other] + crm).output.contains("1 stored"))
        #expect(try await Binary.run(["upload", mixed] + crm).output.contains("1 stored"))

        let card = try Self.file("broken.vcf", "BEGIN:VCARD\nFN:hush-hush\n")
        let broken = try await Binary.run(["upload", card, "--user", "ada"] + crm)
        #expect(broken.status == 65 && !broken.output.contains("hush-hush"))
        #expect(try await Binary.run(["upload", "/nonexistent.csv"] + crm).status == 66)
        #expect(try await Binary.run(["upload", mixed, "--format", "xls"] + crm).status == 64)
        let device = try await Self.arguments(service, "ada")
        let refused = try await Binary.run(["upload", mixed] + device)
        #expect(refused.status == 77 && refused.output.contains("vocabulary.upload"))
        var away = crm
        away[1] = "https://127.0.0.1:1"
        let gone = try await Binary.run(["upload", mixed, "--retries", "1"] + away)
        #expect(gone.status == 75 && gone.output.contains("trying again"))
      }
    }

    @Test func anAppsVocabularyIsImported() async throws {
      try await Deployment.run { deployment in
        let common = ["--mode", "development", "--data-directory", deployment.directory]
        let environment = ["DATABASE_URL": deployment.serviceConninfo]
        let list = try Self.file(
          "AppIntentVocabulary.plist",
          """
          <plist version="1.0"><dict><key>ParameterVocabularies</key><array><dict>
          <key>ParameterNames</key><array><string>INAddTasksIntent.targetTaskList</string></array>
          <key>ParameterVocabulary</key><array><dict>
          <key>VocabularyItemIdentifier</key><string>groceries</string>
          <key>VocabularyItemSynonyms</key><array><dict>
          <key>VocabularyItemPhrase</key><string>store</string>
          <key>VocabularyItemPronunciation</key><string>stor</string>
          </dict></array></dict></array></dict></array></dict></plist>
          """)
        let arguments = ["app-vocabulary", "import", list, "--locale", "en"] + common
        let first = try await Binary.run(arguments, environment: environment)
        #expect(
          first.status == 0 && first.output.contains("en: 1 terms with 1 phrases, revision 1"))
        let again = try await Binary.run(arguments, environment: environment)
        #expect(again.output.contains("en: nothing has changed, revision 1"))
        let shown = try await Binary.run(
          ["app-vocabulary", "list"] + common, environment: environment)
        #expect(shown.output.contains("en, revision 1\n  groceries: store [stor]"))
        let wrong = try Self.file("wrong.plist", "<plist><dict/></plist>")
        let refused = try await Binary.run(
          ["app-vocabulary", "import", wrong, "--locale", "en"] + common,
          environment: environment)
        #expect(refused.status == 65)
      }
    }

    /// The command goes on where it was when the service comes back, and nothing is stored twice.
    @Test(.timeLimit(.minutes(2))) func itOutlivesARestartOfTheService() async throws {
      try await Deployment.run { deployment in
        let port = try freeLoopbackPort()
        var service = try await deployment.start(port: port)
        let crm = try await Self.arguments(service, "crm", scopes: [.vocabularyUpload])
        let text = (0..<4000).map { user in
          let strings = (0..<60).map { "\"name \(user) \($0)\"" }.joined(separator: ",")
          return #"{"userId":"user-\#(user)","type":"contactName","strings":[\#(strings)]}"#
        }.joined(separator: "\n")
        let path = try Self.file("many.jsonl", text)
        async let upload = Binary.run(["upload", path] + crm)
        try await eventually(within: .seconds(30)) {
          let count = try await PSQL.run(
            deployment.conninfo, "SELECT count(*) > 300 FROM vocative.vocabulary_set")
          return count.contains("t")
        }
        try await service.kill()
        service = try await deployment.start(port: port)
        let result = try await upload
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("4000 stored, 0 unchanged, 0 failed; 240000 strings"))
        try await service.stop()
        let sets = try await PSQL.run(
          deployment.conninfo,
          "SELECT count(*), max(revision), sum(count) FROM vocative.vocabulary_set")
        #expect(sets.contains("4000|1|240000"), "\(sets)")
      }
    }
  }
}
