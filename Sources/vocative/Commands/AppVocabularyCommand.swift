import ArgumentParser
import Foundation
import VocativeModel
import VocativeStorage

/// `vocative app-vocabulary`: what all users of the app share.
struct AppVocabularyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app-vocabulary", abstract: "Imports or lists what all users of the app share.",
    subcommands: [Import.self, List.self])

  struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Replaces a locale's terms by those of an AppIntentVocabulary.plist.",
      discussion: """
        Connects with database.url; without it, starts the private cluster, so that no service may \
        run on it at the same time. A file that cannot be used ends with 65.

        """ + ConfigurationReference.help)

    @Argument(help: "The property list, XML or binary.", completion: .file(extensions: ["plist"]))
    var file: String

    @Option(help: "The locale's language tag (RFC 5646), such as en or zh-Hans.")
    var locale: String

    @OptionGroup var options: ConfigurationOptions

    func validate() throws {
      guard locale.wholeMatch(of: /[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*/) != nil,
        locale.utf8.count <= 35
      else { throw ValidationError("--locale takes a language tag, such as en or zh-Hans") }
    }

    func run() async throws {
      let vocabulary = try read()
      let locale = locale
      try await AppVocabularyCommand.withStore(options) { store in
        switch try await store.put(vocabulary, for: locale) {
        case .stored(let revision):
          let synonyms = vocabulary.terms.reduce(0) { $0 + $1.synonyms.count }
          print(
            "\(locale): \(vocabulary.terms.count) terms with \(synonyms) phrases, "
              + "revision \(revision)")
        case .unchanged(let revision):
          print("\(locale): nothing has changed, revision \(revision)")
        }
      }
    }

    private func read() throws -> AppVocabulary {
      guard let data = FileManager.default.contents(atPath: file) else {
        StandardError.write("error: \(file) cannot be read\n")
        throw ExitCode(UploadFailure.Code.noInput.rawValue)
      }
      do throws(FileProblem) {
        return try AppIntentVocabulary.read(data)
      } catch {
        StandardError.write("error: \(file): \(error)\n")
        throw ExitCode(UploadFailure.Code.badData.rawValue)
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists the terms of all locales.", discussion: ConfigurationReference.help)

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
      try await AppVocabularyCommand.withStore(options) { store in
        for record in try await store.all() {
          print("\(record.locale), revision \(record.revision)")
          for term in record.vocabulary.terms {
            let phrases = term.synonyms.map { synonym in
              synonym.phrase + (synonym.pronunciation.map { " [\($0)]" } ?? "")
            }
            print("  \(term.identifier): \(phrases.joined(separator: ", "))")
          }
        }
      }
    }
  }

  fileprivate static func withStore(
    _ options: ConfigurationOptions,
    _ body: @escaping @Sendable (AppVocabularyStore) async throws -> Void
  ) async throws {
    let composition = try Composition(options)
    let access = try await composition.openDatabase()
    do {
      if let cluster = access.cluster { try await composition.prepare(cluster, access) }
      try await composition.withClient(composition.client(access.service, leases: 1)) { client in
        try await body(AppVocabularyStore(database: client))
      }
    } catch {
      try? await access.cluster?.stop()
      throw error
    }
    try await access.cluster?.stop()
  }
}
