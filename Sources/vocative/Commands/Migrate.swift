import ArgumentParser
import Postgres
import VocativeStorage

/// `vocative migrate`: brings the database to the schema that this build needs.
struct Migrate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Applies the migrations that the database lacks.",
    discussion: """
      Connects with database.url, as a role that may make roles and schemas; without it, starts the \
      private cluster. Several at the same time do no harm.

      """ + ConfigurationReference.help)

  @Flag(help: "Only tells what would be applied.")
  var dryRun = false

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let composition = try Composition(options)
    let access = try await composition.openDatabase()
    let dryRun = dryRun
    do {
      try await composition.withClient(
        composition.client(access.administration, leases: 1, onConnect: [:])
      ) { client in
        let migrator = Migrator(client: client, logger: composition.logger)
        let names = dryRun ? try await migrator.status().pending : try await migrator.migrate()
        if names.isEmpty { print("nothing to apply: the schema is up to date") }
        for name in names { print(dryRun ? "would apply \(name)" : "applied \(name)") }
      }
    } catch {
      try? await access.cluster?.stop()
      throw error
    }
    try await access.cluster?.stop()
  }
}
