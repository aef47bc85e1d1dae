import Foundation
import VocativeModel

/// Why a command ends before its work is done; its exit code is one of sysexits.h, which schedulers
/// know.
struct UploadFailure: Error, CustomStringConvertible {
  enum Code: Int32 {
    /// A file's content is wrong.
    case badData = 65
    case noInput = 66
    /// The service or the way to it fails; trying again later may help.
    case temporary = 75
    /// The service does not let this token do it.
    case refused = 77
    /// The service answers what cannot be understood, or has no such call.
    case protocolError = 76
  }

  var code: Code
  var description: String
  /// Whether the same again can help.
  var isTemporary: Bool { code == .temporary }

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// An answer other than a success.
  init(status: UInt, _ body: Data) {
    let problem = try? JSONDecoder().decode(Problem.self, from: body)
    let words = [problem?.title, problem?.detail].compactMap(\.self).joined(separator: ": ")
    let text = "the service answers \(status)\(words.isEmpty ? "" : ", \(words)")"
    switch status {
    case 401, 403: self.init(.refused, text)
    case 408, 429, 500...: self.init(.temporary, text)
    default: self.init(.protocolError, text)
    }
  }
}
