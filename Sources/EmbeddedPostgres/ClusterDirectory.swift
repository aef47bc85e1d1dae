import FoundationEssentials
import Glibc

/// The places inside the directory that a cluster owns, and their permissions.
///
///     DIRECTORY/lock       held by the service that uses the cluster
///     DIRECTORY/cluster    PostgreSQL's data directory; made under another name and renamed
///     DIRECTORY/socket     the unix socket, where its path is short enough
struct ClusterDirectory: Sendable {
  /// The length that a socket's path must stay below: `sun_path` holds 108 bytes with its NUL
  /// (unix(7)), and PostgreSQL refuses longer ones.
  static let longestSocketPath = 107

  /// Absolute, symbolic links resolved.
  let path: String
  let socketDirectory: String
  /// The account that owns everything inside; nil for the current one.
  let owner: SystemUser?

  var lockFile: String { "\(path)/lock" }
  var cluster: String { "\(path)/cluster" }
  var unfinishedCluster: String { "\(path)/cluster.unfinished" }
  var statusFile: String { "\(cluster)/postmaster.pid" }

  /// Makes the directory when it is missing, private to `owner`, and finds a place for the socket.
  init(path: String, owner: SystemUser?, port: Int) throws {
    try Self.checkIsOurs(path)
    try Self.makePrivate(path, owner: owner)
    guard let resolved = realpath(path, nil) else {
      throw Self.unusable(path, "cannot be resolved: \(String(cString: strerror(errno)))")
    }
    defer { free(resolved) }
    self.path = String(cString: resolved)
    self.owner = owner
    try Self.checkReachable(self.path, by: owner)
    self.socketDirectory = Self.socketDirectory(
      for: self.path, userID: owner?.userID ?? geteuid(), port: port)
    try Self.makePrivate(socketDirectory, owner: owner)
  }

  /// `path/socket`; or, when a socket's path there would be too long, a directory in /tmp whose
  /// name follows from the path and the user.
  static func socketDirectory(for path: String, userID: uid_t, port: Int) -> String {
    let preferred = "\(path)/socket"
    if "\(preferred)/.s.PGSQL.\(port)".utf8.count <= longestSocketPath { return preferred }
    // FNV-1a, 64 bits: only has to tell directories apart; ownership is checked, not guessed.
    let hash = path.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    return "/tmp/vocative-\(userID)-\(String(hash, radix: 36))"
  }

  /// The major version that made a cluster; nil when there is none yet.
  static func clusterVersion(of cluster: String) throws -> Int? {
    guard FileManager.default.fileExists(atPath: cluster) else { return nil }
    guard
      let data = FileManager.default.contents(atPath: "\(cluster)/PG_VERSION"),
      let version = Int(String(decoding: data, as: UTF8.self).prefix { $0.isNumber })
    else {
      throw unusable(cluster, "exists but is no PostgreSQL cluster (no PG_VERSION)")
    }
    return version
  }

  /// Renames the finished cluster into place, so that it exists whole or not at all.
  func commitUnfinishedCluster() throws {
    guard rename(unfinishedCluster, cluster) == 0 else {
      throw Self.unusable(cluster, "cannot be made: \(String(cString: strerror(errno)))")
    }
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// Removes what an interrupted `initdb` left.
  func removeUnfinishedCluster() throws {
    guard FileManager.default.fileExists(atPath: unfinishedCluster) else { return }
    try FileManager.default.removeItem(atPath: unfinishedCluster)
  }

  /// Removes the socket and lock files of a server that is known to be gone.
  ///
  /// PostgreSQL would do so itself, unless another process has got the dead server's id since;
  /// then it would refuse to start.
  func removeStaleLockFiles() {
    unlink(statusFile)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: socketDirectory)) ?? []
    for name in names where name.hasPrefix(".s.PGSQL.") { unlink("\(socketDirectory)/\(name)") }
  }

  /// Lets every local role in through the socket, which only its directory's owner and root can
  /// reach, and through the loopback port when there is one.
  func writeAccessRules(loopback: Bool) throws {
    var rules = "local all all trust\n"
    if loopback { rules += "host all all 127.0.0.1/32 trust\n" }
    let file = "\(cluster)/pg_hba.conf"
    do {
      try Data(rules.utf8).write(to: URL(filePath: file), options: .atomic)
    } catch {
      throw Self.unusable(file, "cannot be written: \(error)")
    }
    if let owner { _ = chown(file, owner.userID, owner.groupID) }
    _ = chmod(file, 0o600)
  }

  /// Refuses a directory that holds something else: it would be closed to its users.
  private static func checkIsOurs(_ path: String) throws {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    guard names.isEmpty || names.contains("lock") else {
      throw unusable(path, "is not empty and no database directory; choose a new or empty one")
    }
  }

  /// Makes a directory of mode 0700 that belongs to `owner`, or checks that it is one.
  private static func makePrivate(_ path: String, owner: SystemUser?) throws {
    let userID = owner?.userID ?? geteuid()
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: nil)
    } catch {
      throw unusable(path, "cannot be made: \(error)")
    }
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      throw unusable(path, "cannot be opened: \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var attributes = stat()
    guard fstat(descriptor, &attributes) == 0 else {
      throw unusable(path, "cannot be examined: \(String(cString: strerror(errno)))")
    }
    if let owner, attributes.st_uid == geteuid() {
      guard fchown(descriptor, owner.userID, owner.groupID) == 0 else {
        throw unusable(
          path, "cannot be given to \(owner.name): \(String(cString: strerror(errno)))")
      }
      attributes.st_uid = owner.userID
    }
    guard attributes.st_uid == userID else {
      throw unusable(
        path, "belongs to user id \(attributes.st_uid), and the cluster runs as \(userID)")
    }
    guard attributes.st_mode & 0o777 != 0o700 else { return }
    guard fchmod(descriptor, 0o700) == 0 else {
      throw unusable(path, "cannot be made private: \(String(cString: strerror(errno)))")
    }
  }

  /// Root can enter every directory, the cluster's user cannot: says which one stops it.
  private static func checkReachable(_ path: String, by owner: SystemUser?) throws {
    guard let owner else { return }
    var parent = ""
    for component in path.split(separator: "/") {
      parent += "/\(component)"
      var attributes = stat()
      guard stat(parent, &attributes) == 0, owner.canTraverse(attributes) else {
        throw unusable(
          path,
          """
          cannot be reached by the user \(owner.name), because \(parent) is closed to it. Choose \
          a data directory elsewhere, such as /var/lib/vocative, or start the service as an \
          ordinary user
          """)
      }
    }
  }

  private static func unusable(_ path: String, _ reason: String) -> EmbeddedPostgresError {
    EmbeddedPostgresError(code: .directoryUnusable, message: "\(path) \(reason).")
  }
}
