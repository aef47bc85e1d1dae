import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOSSL

#if canImport(Musl)
  import Musl
#elseif canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What tells whether a document has changed since it was read.
enum JWKSValidator: Sendable, Hashable {
  case file(device: UInt64, inode: UInt64, size: Int64, seconds: Int, nanoseconds: Int)
  case http(entityTag: String?, lastModified: String?)
}

/// The answer to reading a location once more.
enum JWKSAnswer: Sendable {
  case unchanged(maxAge: Duration?)
  case document([UInt8], validator: JWKSValidator, maxAge: Duration?)
}

/// Documents larger than this are refused.
let maximumJWKSBytes = 1 << 20

/// Reads the file at `path` unless it still is what `known` describes.
func readJWKS(path: String, known: JWKSValidator?) throws(JWKSError) -> JWKSAnswer {
  // Not blocking: a named pipe without a writer must not hold up the caller for ever.
  let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard descriptor >= 0 else { throw JWKSError("cannot open the file: \(systemError(errno))") }
  defer { close(descriptor) }
  var info = stat()
  guard fstat(descriptor, &info) == 0 else {
    throw JWKSError("cannot examine the file: \(systemError(errno))")
  }
  guard info.st_mode & S_IFMT == S_IFREG else { throw JWKSError("it is not a regular file") }
  let validator = JWKSValidator(info)
  if validator == known { return .unchanged(maxAge: nil) }

  let bytes = [UInt8](unsafeUninitializedCapacity: maximumJWKSBytes + 1) { buffer, count in
    count = 0
    while count < buffer.count {
      let got = read(descriptor, buffer.baseAddress! + count, buffer.count - count)
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { break }
      count += got
    }
  }
  guard bytes.count <= maximumJWKSBytes else { throw JWKSError("the file is larger than 1 MiB") }
  return .document(bytes, validator: validator, maxAge: nil)
}

extension JWKSValidator {
  fileprivate init(_ info: stat) {
    #if canImport(Darwin)
      let time = info.st_mtimespec
    #else
      let time = info.st_mtim
    #endif
    self = .file(
      device: UInt64(truncatingIfNeeded: info.st_dev), inode: UInt64(info.st_ino),
      size: Int64(info.st_size), seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec))
  }
}

/// The C library's words for an `errno`.
func systemError(_ code: Int32) -> String { String(cString: strerror(code)) }

/// Gets `url` unless it still is what `known` describes. Redirects are not followed.
/// - Parameters:
///   - certificateAuthorities: a PEM file of authorities to trust besides those of the system.
///   - timeout: bounds the whole exchange, from name resolution to the last byte.
func fetchJWKS(
  url: String, known: JWKSValidator?, certificateAuthorities: String?, timeout: Duration
) async throws(JWKSError) -> JWKSAnswer {
  var tls = TLSConfiguration.makeClientConfiguration()
  tls.minimumTLSVersion = .tlsv12
  if let certificateAuthorities { tls.additionalTrustRoots = [.file(certificateAuthorities)] }
  let limit = TimeAmount(timeout)
  var configuration = HTTPClient.Configuration(
    tlsConfiguration: tls, redirectConfiguration: .disallow,
    timeout: .init(connect: limit, read: limit))
  configuration.httpVersion = .http1Only
  // Retries are ours, and the first reason is the one to report.
  configuration.connectionPool.retryConnectionEstablishment = false

  let request = request(for: url, unless: known)
  do {
    return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
      // The deadline of a request ends with the head of its response, hence one around both.
      try await withDeadline(timeout) { try await answer(to: request, from: client, limit: limit) }
    }
  } catch let error as JWKSError {
    throw error
  } catch {
    throw JWKSError("the request failed: \(error)")
  }
}

private func request(for url: String, unless known: JWKSValidator?) -> HTTPClientRequest {
  var request = HTTPClientRequest(url: url)
  request.headers.add(name: "Accept", value: "application/jwk-set+json, application/json")
  if case .http(let entityTag, let lastModified) = known {
    if let entityTag { request.headers.add(name: "If-None-Match", value: entityTag) }
    if let lastModified { request.headers.add(name: "If-Modified-Since", value: lastModified) }
  }
  return request
}

private func answer(
  to request: HTTPClientRequest, from client: HTTPClient, limit: TimeAmount
) async throws -> JWKSAnswer {
  let response = try await client.execute(request, timeout: limit)
  let maxAge = maximumAge(response.headers[canonicalForm: "cache-control"].map(String.init))
  switch response.status.code {
  case 304: return .unchanged(maxAge: maxAge)
  case 200: break
  default: throw JWKSError("the server answered with status \(response.status.code)")
  }
  var bytes: [UInt8] = []
  for try await part in response.body {
    bytes.append(contentsOf: part.readableBytesView)
    guard bytes.count <= maximumJWKSBytes else {
      throw JWKSError("the document is larger than 1 MiB")
    }
  }
  let validator = JWKSValidator.http(
    entityTag: response.headers.first(name: "ETag"),
    lastModified: response.headers.first(name: "Last-Modified"))
  return .document(bytes, validator: validator, maxAge: maxAge)
}

/// How long a response may be kept (RFC 9111, section 5.2.2), or nil when it does not say.
func maximumAge(_ directives: [String]) -> Duration? {
  var age: Duration?
  for directive in directives {
    let directive = directive.lowercased()
    if directive == "no-store" || directive == "no-cache" { return .zero }
    if directive.hasPrefix("max-age="), let seconds = UInt32(directive.dropFirst(8)) {
      age = .seconds(Int64(seconds))
    }
  }
  return age
}

private func withDeadline<Value: Sendable>(
  _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await withThrowingTaskGroup(of: Value.self) { group in
    group.addTask(operation: work)
    group.addTask {
      try await Task.sleep(for: limit)
      throw JWKSError("there was no complete answer within \(limit)")
    }
    defer { group.cancelAll() }
    guard let value = try await group.next() else { throw CancellationError() }
    return value
  }
}
