import FoundationEssentials

#if canImport(Musl)
  import Musl
#elseif canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How the process runs. What is in this library for development only asks for it, and refuses
/// ``production``.
public enum OperatingMode: String, Sendable, Hashable, CaseIterable {
  /// On a developer's machine: private certificate authority, tokens from a built-in issuer.
  case development
  /// Everywhere else.
  case production
}

/// Why the development issuer or the development certificates cannot be had.
public struct DevelopmentError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One sentence on what is wrong, with the path where there is one.
  public var description: String

  init(_ description: String) { self.description = description }
}

/// A directory (mode 0700) with keys and certificates for development. Files are replaced as a
/// whole or not at all.
struct DevelopmentDirectory {
  let path: String

  /// The directory at `path`, made if it is missing.
  init(_ path: String, mode: OperatingMode, purpose: String) throws(DevelopmentError) {
    guard mode == .development else {
      throw DevelopmentError("\(purpose) are for development mode only")
    }
    self.path = path
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw DevelopmentError("cannot make the directory \(path): \(error)")
    }
  }

  func path(of name: String) -> String { "\(path)/\(name)" }

  /// Runs `body` while no other process does so for this directory.
  func locked<Value>(
    _ body: () throws(DevelopmentError) -> Value
  ) throws(DevelopmentError) -> Value {
    let lock = open(path(of: ".lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw failure("open", ".lock") }
    defer { close(lock) }
    while flock(lock, LOCK_EX) != 0 {
      guard errno == EINTR else { throw failure("lock", ".lock") }
    }
    return try body()
  }

  /// The text of a file of at most 64 KiB, or nil when there is none.
  /// - Parameter isSecret: refuse a file that others than its owner can open.
  func text(of name: String, isSecret: Bool = false) throws(DevelopmentError) -> String? {
    let file = open(path(of: name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if file < 0, errno == ENOENT { return nil }
    guard file >= 0 else { throw failure("open", name) }
    defer { close(file) }
    var info = stat()
    guard fstat(file, &info) == 0 else { throw failure("examine", name) }
    guard info.st_mode & S_IFMT == S_IFREG, info.st_size <= 65536 else {
      throw DevelopmentError("\(path(of: name)) is not a regular file of at most 64 KiB")
    }
    guard !isSecret || info.st_mode & 0o077 == 0 else {
      throw DevelopmentError("\(path(of: name)) is a key that others can open: chmod 600 it")
    }
    var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
    var count = 0
    while count < bytes.count {
      let got = bytes.withUnsafeMutableBytes {
        read(file, $0.baseAddress! + count, $0.count - count)
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw failure("read", name) }
      guard got > 0 else { break }
      count += got
    }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Puts `text` in the place of a file, with the permissions `mode`.
  func replace(_ name: String, with text: String, mode: mode_t) throws(DevelopmentError) {
    let draft = "\(name).\(getpid()).draft"
    unlink(path(of: draft))
    let file = open(path(of: draft), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard file >= 0 else { throw failure("create", draft) }
    defer {
      close(file)
      unlink(path(of: draft))
    }
    // The process's umask may have taken rights away that readers need.
    guard fchmod(file, mode) == 0 else { throw failure("set the mode of", draft) }
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes {
        write(file, $0.baseAddress! + written, $0.count - written)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("write", draft) }
      written += count
    }
    guard fsync(file) == 0 else { throw failure("flush", draft) }
    guard rename(path(of: draft), path(of: name)) == 0 else { throw failure("replace", name) }
  }

  private func failure(_ verb: String, _ name: String) -> DevelopmentError {
    DevelopmentError("cannot \(verb) \(path(of: name)): \(systemError(errno))")
  }
}
