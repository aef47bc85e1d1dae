import ArgumentParser
import Glibc

/// `vocative`: the service and the tools around it.
@main
struct Vocative: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vocative",
    abstract: "Conversation sync, vocabulary, recipient resolution and suggestions.",
    version: "0.1.0",
    subcommands: [
      Serve.self, Migrate.self, DoctorCommand.self, TokenCommand.self, ConfigurationCommand.self,
      UploadCommand.self, VocabularyCommand.self, AppVocabularyCommand.self, ResolveCommand.self,
    ])

  static func main() async {
    // A reader of the log that goes away must not end the service.
    signal(SIGPIPE, SIG_IGN)
    await main(nil)
  }
}
