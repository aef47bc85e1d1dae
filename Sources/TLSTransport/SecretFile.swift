import Glibc

/// Reading and replacing the small files that TLS is configured from.
enum SecretFile {
  /// Larger files than this are no certificates or keys; refused before they fill memory.
  static let maximumSize = 4 << 20

  struct Contents {
    var bytes: [UInt8]
    var mode: mode_t
  }

  static func read(_ path: String) throws(TLSError) -> Contents {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(path, errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw unreadable(path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw TLSError(.unreadableFile, "\(path) is not a regular file")
    }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16384)
    while true {
      let count = chunk.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw unreadable(path, errno) }
      if count == 0 { return Contents(bytes: bytes, mode: status.st_mode) }
      bytes += chunk[..<count]
      guard bytes.count <= maximumSize else {
        throw TLSError(.unreadableFile, "\(path) is larger than \(maximumSize) bytes")
      }
    }
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Replaces a file whole: readers see the old or the new bytes, also after a crash. Mode 0600.
  static func replace(_ path: String, with bytes: UnsafeRawBufferPointer) throws(TLSError) {
    let temporary = path + ".new"
    unlink(temporary)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw unwritable(temporary, errno) }
    var failure: Int32 = 0
    var offset = 0
    while offset < bytes.count && failure == 0 {
      let count = write(descriptor, bytes.baseAddress! + offset, bytes.count - offset)
      if count > 0 { offset += count } else if errno != EINTR { failure = errno }
    }
    if failure == 0 && fsync(descriptor) != 0 { failure = errno }
    close(descriptor)
    if failure == 0 && rename(temporary, path) != 0 { failure = errno }
    guard failure == 0 else {
      unlink(temporary)
      throw unwritable(path, failure)
    }
    syncDirectory(of: path)
  }

  private static func syncDirectory(of path: String) {
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  private static func unreadable(_ path: String, _ number: Int32) -> TLSError {
    TLSError(.unreadableFile, "cannot read \(path): \(String(cString: strerror(number)))")
  }

  private static func unwritable(_ path: String, _ number: Int32) -> TLSError {
    TLSError(.unreadableFile, "cannot write \(path): \(String(cString: strerror(number)))")
  }
}
