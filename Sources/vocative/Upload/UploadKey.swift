import Crypto
import Foundation

/// The key under which the service knows an upload again while it is not over.
///
/// It is random, so that the same lines may be uploaded again later, when others were stored in
/// between, and kept in a file by what is uploaded and where to, so that a run after one that was
/// killed goes on where that ended. Where no file can be kept, such a run begins anew; what is
/// stored already is then found unchanged.
struct UploadKey {
  let string: String
  private let file: URL

  /// - Parameters:
  ///   - digest: of what is uploaded, in hexadecimal.
  ///   - service: where to.
  ///   - directory: where the keys of uploads that are not over are kept.
  init(digest: String, service: String, directory: URL) {
    let hash = SHA256.hash(data: Data("\(service)\n\(digest)".utf8))
    file = directory.appending(path: hash.map { hexadecimal($0) }.joined())
    let fresh = UUID().uuidString.lowercased()
    try? FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    // Of two runs at the same time, the first makes the file, and the other joins its job.
    try? Data(fresh.utf8).write(to: file, options: [.withoutOverwriting])
    let kept = (try? String(contentsOf: file, encoding: .utf8)).flatMap { UUID(uuidString: $0) }
    string = kept?.uuidString.lowercased() ?? fresh
  }

  /// The upload is over; the same lines are a new one from now on.
  func close() { try? FileManager.default.removeItem(at: file) }

  /// `$XDG_STATE_HOME/vocative/uploads` (XDG Base Directory Specification 0.8).
  static func directory(environment: [String: String]) -> URL {
    let state =
      environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil }
      ?? URL.homeDirectory.appending(path: ".local/state")
    return state.appending(path: "vocative/uploads")
  }
}

func hexadecimal(_ byte: UInt8) -> String {
  String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
}
