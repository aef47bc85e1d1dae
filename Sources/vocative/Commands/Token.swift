import ArgumentParser
import Identity

/// `vocative token`: a token of the built-in issuer, in development mode.
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Prints a token for a user, in development mode.",
    discussion: ConfigurationReference.help)

  @Option(help: "The user's id: 1 to 128 bytes.")
  var user: String

  @Option(help: "A scope; may be repeated. Without one, the token is that of a user's device.")
  var scope: [String] = []

  @Option(help: "Seconds until it expires, 1 to 31622400.")
  var lifetime = 86_400

  @OptionGroup var options: ConfigurationOptions

  func run() async throws {
    let composition = try Composition(options)
    let issuer = try composition.developmentIssuer()
    print(
      try await issuer.token(
        userID: user, scopes: Set(scope.map(Scope.init(rawValue:))),
        lifetime: .seconds(lifetime)))
  }
}
