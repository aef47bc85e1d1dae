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

  /// The configuration of this process. When there is something wrong with it, says all of it on
  /// standard error and throws the `ExitCode` that the process is to end with.
  func load() throws -> ServiceConfiguration {
    do {
      return try ServiceConfiguration.load(
        arguments: settings, environment: ProcessInfo.processInfo.environment,
        isRoot: geteuid() == 0,
        readFile: { try Data(contentsOf: URL(filePath: $0)) })
    } catch {
      let text = Array("\(error)\nEvery setting is explained by: vocative configuration\n".utf8)
      _ = write(STDERR_FILENO, text, text.count)
      throw ExitCode(error.exitCode)
    }
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
