import Foundation

/// Standard error, for what is not a command's result.
enum StandardError {
  static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
