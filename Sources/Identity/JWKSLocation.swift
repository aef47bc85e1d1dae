import FoundationEssentials

/// Where a JWKS is read from.
public enum JWKSLocation: Sendable, Hashable, CustomStringConvertible {
  /// A path in the file system.
  case file(String)
  /// An `https` URL, or an `http` URL of the loopback interface.
  case url(String)

  /// Reads a path, a `file:` URL with an absolute path, or an `https:` URL. Plain `http:` is taken
  /// for the loopback interface only, since whoever can change a key set in flight can be any user.
  public init(_ text: String) throws(JWKSError) {
    guard text.contains("://") else {
      guard !text.isEmpty else { throw JWKSError("the location of the key set is empty") }
      self = .file(text)
      return
    }
    if text.hasPrefix("file:///") {
      self = .file(String(text.dropFirst("file://".count)))
      return
    }
    guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty else {
      throw JWKSError("the location of the key set is neither a path nor a URL")
    }
    guard url.user == nil, url.password == nil else {
      throw JWKSError("the URL of the key set must not contain credentials")
    }
    switch url.scheme?.lowercased() {
    case "https": self = .url(text)
    case "http" where Self.isLoopback(host): self = .url(text)
    case "http": throw JWKSError("the URL of the key set must be https (http on loopback only)")
    default: throw JWKSError("the URL of the key set must be https")
    }
  }

  /// The path or the URL, without its query.
  public var description: String {
    switch self {
    case .file(let path): path
    case .url(let url): String(url.prefix { $0 != "?" && $0 != "#" })
    }
  }

  private static func isLoopback(_ host: String) -> Bool {
    let octets = host.split(separator: ".", omittingEmptySubsequences: false)
    return host == "localhost" || host == "[::1]" || host == "::1"
      || octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
  }
}
