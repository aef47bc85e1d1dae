import FoundationEssentials
import Glibc

/// What the doctor reads of the machine; the checks themselves do no I/O.
enum HostFacts {
  struct File: Equatable {
    var permissions: UInt32
    var byteCount: Int
    var isDirectory: Bool
    var isReadable: Bool
  }

  /// Nil when there is nothing at `path`.
  static func file(_ path: String) -> File? {
    var attributes = stat()
    guard stat(path, &attributes) == 0 else { return nil }
    return File(
      permissions: attributes.st_mode & 0o7777, byteCount: Int(attributes.st_size),
      isDirectory: attributes.st_mode & S_IFMT == S_IFDIR, isReadable: access(path, R_OK) == 0)
  }

  /// The nearest directory on the way to `path` that exists, and whether it can be written.
  static func nearestDirectory(to path: String) -> (path: String, isWritable: Bool) {
    var nearest = path
    while access(nearest, F_OK) != 0 {
      guard let slash = nearest.lastIndex(of: "/") else {
        nearest = "."
        break
      }
      nearest = slash == nearest.startIndex ? "/" : String(nearest[..<slash])
    }
    return (nearest, access(nearest, W_OK) == 0)
  }

  /// The bytes that an unprivileged process can still write to the file system of `path`.
  static func freeBytes(at path: String) -> Int? {
    var attributes = statvfs()
    guard statvfs(path, &attributes) == 0 else { return nil }
    return Int(attributes.f_bavail) * Int(attributes.f_frsize)
  }

  /// How many files and sockets this process may have open.
  static func openFileLimit() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    return limit.rlim_cur > UInt(Int.max) ? Int.max : Int(limit.rlim_cur)
  }

  /// Tries to listen where the service would: nil when it can, else why not.
  static func portProblem(host: String, port: Int) -> String? {
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &found)
    guard status == 0, let first = found else { return String(cString: gai_strerror(status)) }
    defer { freeaddrinfo(found) }
    let descriptor = socket(first.pointee.ai_family, first.pointee.ai_socktype, 0)
    guard descriptor >= 0 else { return String(cString: strerror(errno)) }
    defer { close(descriptor) }
    var on: Int32 = 1
    setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    guard bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0,
      listen(descriptor, 1) == 0
    else { return String(cString: strerror(errno)) }
    return nil
  }
}
