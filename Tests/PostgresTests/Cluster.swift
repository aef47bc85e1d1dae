import Glibc
import NIOConcurrencyHelpers
import Postgres

/// A private PostgreSQL cluster in a directory of its own, on a unix socket and a port of 127.0.0.1.
final class Cluster: Sendable {
  let directory: String
  let port: UInt16
  private let postmaster = NIOLockedValueBox<pid_t?>(nil)
  private let settings: [String]

  private static let binaries = "/usr/lib/postgresql/15/bin"
  private static let all = NIOLockedValueBox<[Cluster]>([])

  /// One that all tests share that leave it as it is. Removed when the process ends.
  static let shared = try! Cluster()

  init(settings: [String] = []) throws {
    var template = Array("/tmp/vocative-pg-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure("mkdtemp: errno \(errno)") }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    port = try freePort()
    self.settings = settings
    if getuid() == 0 { try Self.run(["chown", "postgres", directory]) }
    try Self.run(
      Self.unprivileged + [
        "\(Self.binaries)/initdb", "-D", "\(directory)/data", "-U", "postgres", "--auth=trust",
        "--encoding=UTF8", "--locale=C", "--no-sync",
      ])
    Self.all.withLockedValue { clusters in
      if clusters.isEmpty { atexit { Cluster.removeAll() } }
      clusters.append(self)
    }
    try start()
  }

  var socketURI: String { "host=\(directory) port=\(port) user=postgres dbname=postgres" }
  var tcpURI: String { "host=127.0.0.1 port=\(port) user=postgres dbname=postgres" }

  /// Returns once it accepts connections.
  func start() throws {
    var options = [
      "listen_addresses=127.0.0.1", "unix_socket_directories=\(directory)", "port=\(port)",
      "fsync=off", "max_connections=100", "log_destination=stderr", "deadlock_timeout=200ms",
    ]
    options += settings
    let arguments =
      Self.unprivileged + ["\(Self.binaries)/postgres", "-D", "\(directory)/data"]
      + options.flatMap { ["-c", $0] }
    let pid = try Self.spawn(arguments, log: "\(directory)/log")
    postmaster.withLockedValue { $0 = pid }
    let deadline = monotonic() + 30
    while true {
      let ready = try? Self.run([
        "\(Self.binaries)/pg_isready", "-q", "-h", directory, "-p", "\(port)", "-t", "1",
      ])
      if ready != nil { return }
      // After a kill the old server processes may hold its shared memory for a moment.
      if let old = postmaster.withLockedValue({ $0 }), waitpid(old, nil, WNOHANG) == old {
        let pid = try Self.spawn(arguments, log: "\(directory)/log")
        postmaster.withLockedValue { $0 = pid }
      }
      guard monotonic() < deadline else { throw Failure("the cluster does not start") }
      usleep(20_000)
    }
  }

  /// Ends it as a crash does.
  func kill9() {
    if let pid = postmaster.withLockedValue({ $0 }) { kill(pid, SIGKILL) }
    reap()
  }

  /// Ends it and removes its directory.
  func remove() {
    kill9()
    _ = try? Self.run(["rm", "-rf", directory])
  }

  /// A number from the shared cluster, past any client under test.
  static func count(_ sql: String) async throws -> Int {
    try await withClient { client in
      try await client.withConnection { connection in
        try await connection.query(statement(sql))[0].decode(Int.self, at: 0)
      }
    }
  }

  func stop() {
    if let pid = postmaster.withLockedValue({ $0 }) { kill(pid, SIGINT) }
    reap()
  }

  private func reap() {
    guard
      let pid = postmaster.withLockedValue({ pid in
        defer { pid = nil }
        return pid
      })
    else { return }
    var status: Int32 = 0
    waitpid(pid, &status, 0)
  }

  private static func removeAll() {
    for cluster in all.withLockedValue({ $0 }) {
      cluster.kill9()
      _ = try? run(["rm", "-rf", cluster.directory])
    }
  }

  private static var unprivileged: [String] {
    getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
  }

  private static func spawn(_ arguments: [String], log: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var pid = pid_t()
    let words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    let status = posix_spawnp(&pid, arguments[0], &actions, nil, words, environ)
    guard status == 0 else { throw Failure("\(arguments[0]) cannot be run: errno \(status)") }
    return pid
  }

  @discardableResult
  static func run(_ arguments: [String]) throws -> Int32 {
    let pid = try spawn(arguments, log: "/dev/null")
    var status: Int32 = 0
    waitpid(pid, &status, 0)
    guard status == 0 else { throw Failure("\(arguments[0]) failed with status \(status)") }
    return status
  }
}

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

func monotonic() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// A TCP port of 127.0.0.1 that is free at the moment.
func freePort() throws -> UInt16 {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var address = loopback(port: 0)
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let status = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
      bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
    }
  }
  guard status else { throw Failure("no free port: errno \(errno)") }
  return UInt16(bigEndian: address.sin_port)
}

func loopback(port: UInt16) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return address
}
