/// Everything that is wrong with a configuration, so that it can be put right in one go.
struct ConfigurationError: Error, Equatable, CustomStringConvertible {
  /// One thing that is wrong.
  struct Problem: Equatable, CustomStringConvertible {
    /// Where the value came from.
    enum Source: Equatable, CustomStringConvertible {
      case flags
      case environment
      case file(String)
      /// Values that are fine by themselves and do not go together.
      case combination

      var description: String {
        switch self {
        case .flags: "command line"
        case .environment: "environment"
        case .file(let path): path
        case .combination: "configuration"
        }
      }
    }

    let source: Source
    /// The flag, variable or key as it was written.
    let name: String
    /// What is wrong and what is allowed; never the value of a secret.
    let message: String

    var description: String { "\(source): \(name) \(message)" }
  }

  let problems: [Problem]

  /// 64 (`EX_USAGE`) when the command line is at fault, else 78 (`EX_CONFIG`); see sysexits.h.
  var exitCode: Int32 { problems.contains { $0.source == .flags } ? 64 : 78 }

  var description: String { problems.map(\.description).joined(separator: "\n") }
}
