/// Why a private cluster could not be made, started or stopped.
///
/// A struct with an extensible code, so that new reasons do not break callers.
public struct EmbeddedPostgresError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure; compare with the static members.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String

    /// No usable PostgreSQL server binaries were found.
    public static let binariesMissing = Code(name: "binariesMissing")
    /// Another process holds the directory.
    public static let directoryInUse = Code(name: "directoryInUse")
    /// The directory cannot be made, reached or given to the cluster's user.
    public static let directoryUnusable = Code(name: "directoryUnusable")
    /// `initdb` failed.
    public static let initializationFailed = Code(name: "initializationFailed")
    /// The server ended before it was ready, or was not ready within the deadline.
    public static let startFailed = Code(name: "startFailed")
    /// Processes of the cluster survived every signal within the deadline.
    public static let stopFailed = Code(name: "stopFailed")
    /// An administrative statement or one of its arguments was refused.
    public static let statementFailed = Code(name: "statementFailed")

    public var description: String { name }
  }

  /// The kind of failure.
  public var code: Code
  /// What happened and what to do about it, in one or more sentences for an operator.
  public var message: String

  public var description: String { message }
}
