import Glibc

/// The account that a cluster's processes run as.
struct SystemUser: Equatable {
  let name: String
  let userID: uid_t
  let groupID: gid_t

  /// `user` when this process runs as root, since PostgreSQL refuses to; else nil, for oneself.
  static func toRunAs(_ user: String) throws -> SystemUser? {
    guard geteuid() == 0 else { return nil }
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 * 1024)
    let status = getpwnam_r(user, &entry, &buffer, buffer.count, &found)
    guard status == 0, found != nil else {
      throw EmbeddedPostgresError(
        code: .directoryUnusable,
        message: """
          PostgreSQL does not run as root, and there is no system user "\(user)" to run it as. \
          Run: apt-get install postgresql; or start the service as an ordinary user.
          """)
    }
    guard entry.pw_uid != 0 else {
      throw EmbeddedPostgresError(
        code: .directoryUnusable, message: "The system user \"\(user)\" is root itself.")
    }
    return SystemUser(name: user, userID: entry.pw_uid, groupID: entry.pw_gid)
  }

  /// Whether this user may pass through the directory with these attributes.
  func canTraverse(_ attributes: stat) -> Bool {
    if attributes.st_uid == userID { return attributes.st_mode & S_IXUSR != 0 }
    if attributes.st_gid == groupID { return attributes.st_mode & S_IXGRP != 0 }
    return attributes.st_mode & S_IXOTH != 0
  }
}
