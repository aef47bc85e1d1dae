import Subprocess

/// A PostgreSQL program with the account, environment and session that it runs in.
struct ServerCommand {
  /// Signals that the kernel sends to the program when the service ends without stopping it.
  enum OrphanSignal: String {
    /// The postmaster's fast shutdown.
    case interrupt = "INT"
    /// `initdb` removes what it has begun.
    case terminate = "TERM"
  }

  let program: String
  let arguments: [String]
  let user: SystemUser?
  let orphanSignal: OrphanSignal

  /// Runs through `setpriv` (util-linux, essential on Debian), which becomes the program itself:
  /// same process id. A session of its own keeps a terminal's Ctrl-C away from it, so that the
  /// service can drain before it stops its database.
  var configuration: Subprocess.Configuration {
    var words = ["--pdeathsig", orphanSignal.rawValue]
    if let user {
      words += ["--reuid", String(user.userID), "--regid", String(user.groupID), "--clear-groups"]
    }
    words += ["--", program]
    var options = PlatformOptions()
    options.createSession = true
    return Subprocess.Configuration(
      executable: .path("/usr/bin/setpriv"),
      arguments: Arguments(words + arguments),
      // Nothing inherited: PGDATA, PGOPTIONS and the like would change what the programs do.
      environment: .custom(["PATH": "/usr/bin:/bin", "LC_ALL": "C"]),
      workingDirectory: "/",
      platformOptions: options)
  }
}
