import ArgumentParser
import FoundationEssentials
import Glibc

/// The settings on a subcommand's command line: `@OptionGroup var configuration: …`.
///
/// They are captured as they stand, beside the options that the subcommand declares itself, so
/// that ArgumentParser's defaults never override another source. A subcommand lists them with
/// `CommandConfiguration(…, discussion: ConfigurationReference.help)`.
struct ConfigurationOptions: ParsableArguments {
  @Argument(
    parsing: .allUnrecognized,
    help: ArgumentHelp("Settings, as listed above.", valueName: "--key value"))
  var settings: [String] = []

  /// The configuration of this process.
  ///
  /// - Throws: ``ConfigurationError``; its `exitCode` is the process's.
  func load() throws -> ServiceConfiguration {
    try ServiceConfiguration.load(
      arguments: settings, environment: ProcessInfo.processInfo.environment,
      isRoot: geteuid() == 0,
      readFile: { try Data(contentsOf: URL(filePath: $0)) })
  }
}

/// `vocative configuration`: prints the reference.
struct ConfigurationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "configuration", abstract: "Prints every setting with its values and default.")

  @Flag(help: "Prints Markdown, as in docs/configuration.md.")
  var markdown = false

  func run() {
    // The reference ends with the line break that `print` adds.
    print(
      markdown ? ConfigurationReference.markdown : ConfigurationReference.help + "\n",
      terminator: "")
  }
}
