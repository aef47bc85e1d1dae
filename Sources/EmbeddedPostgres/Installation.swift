import FoundationEssentials

/// The PostgreSQL server binaries of one major version.
struct Installation: Equatable {
  /// The oldest major version that the service's SQL runs on.
  static let oldestMajorVersion = 15

  let majorVersion: Int
  let binaries: String

  func path(_ name: String) -> String { "\(binaries)/\(name)" }

  /// The installation to run a cluster with: the one of the cluster's own major version, since a
  /// server opens no other, or the newest for a cluster that is still to be made.
  ///
  /// - Parameters:
  ///   - root: Holds one `VERSION/bin` per installed major version.
  ///   - clusterVersion: The content of an existing cluster's `PG_VERSION`.
  static func find(in root: String, clusterVersion: Int?) throws -> Installation {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    let installed = entries.compactMap(Int.init).sorted().map {
      Installation(majorVersion: $0, binaries: "\(root)/\($0)/bin")
    }.filter { installation in
      ["postgres", "initdb", "psql"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: installation.path($0))
      }
    }
    if let clusterVersion {
      guard let match = installed.first(where: { $0.majorVersion == clusterVersion }) else {
        throw EmbeddedPostgresError(
          code: .binariesMissing,
          message: """
            The cluster was made by PostgreSQL \(clusterVersion), and \(root) has no binaries of \
            that version. Run: apt-get install postgresql-\(clusterVersion)
            """)
      }
      return match
    }
    guard let newest = installed.last, newest.majorVersion >= oldestMajorVersion else {
      throw EmbeddedPostgresError(
        code: .binariesMissing,
        message: """
          No PostgreSQL server of version \(oldestMajorVersion) or later in \(root). \
          Run: apt-get install postgresql; or give a database URL.
          """)
    }
    return newest
  }
}
