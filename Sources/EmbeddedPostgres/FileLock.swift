import Glibc

/// An advisory lock on a file, held until it is released or the process ends, however it ends.
final class FileLock: Sendable {
  private let descriptor: CInt

  /// Takes the lock without waiting, and notes this process's id in the file for whoever finds it
  /// taken.
  init(path: String) throws {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw EmbeddedPostgresError(
        code: .directoryUnusable,
        message: "Cannot open the lock file \(path): \(String(cString: strerror(errno))).")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      var buffer = [UInt8](repeating: 0, count: 32)
      let count = max(0, read(descriptor, &buffer, buffer.count))
      close(descriptor)
      let digits = String(decoding: buffer[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
      let holder = Int(digits).map { "process \($0)" } ?? "another process"
      throw EmbeddedPostgresError(
        code: .directoryInUse,
        message: """
          The database directory is in use by \(holder) (lock file \(path)). One service uses a \
          directory at a time: stop the other one or choose another directory.
          """)
    }
    let note = Array("\(getpid())\n".utf8)
    _ = ftruncate(descriptor, 0)
    _ = pwrite(descriptor, note, note.count, 0)
    self.descriptor = descriptor
  }

  /// Lets go of the lock. The file stays, so that a lock taken meanwhile is on the same file.
  deinit {
    // Closing alone would leave it held by a child that has been forked and not yet executed.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
