import Crypto
import Foundation
import Logging
import NIOHTTP1
import ServiceLifecycle
import Synchronization
import Testing

@testable import Identity

@Suite(.timeLimit(.minutes(2))) struct JWKSSourceTests {
  private let first = Provider.Key.es256(.init())
  private let second = Provider.Key.edDSA(.init())
  private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  private func source(
    _ location: String, _ change: (inout JWKSSource.Options) -> Void = { _ in }
  ) throws -> JWKSSource {
    var options = JWKSSource.Options()
    change(&options)
    return JWKSSource(
      try JWKSLocation(location), options: options, logger: logger, now: { Provider.time })
  }

  private func authenticator(_ source: JWKSSource) -> Authenticator {
    Authenticator(
      .init(issuer: Provider.issuer, audiences: ["vocative"]), keys: source,
      now: { Provider.time })
  }

  private func code(_ authenticator: Authenticator, _ token: String) async
    -> AuthenticationFailure.Code?
  {
    do throws(AuthenticationFailure) {
      _ = try await authenticator.authenticate("Bearer \(token)")
      return nil
    } catch {
      return error.code
    }
  }

  /// Waits until `condition` holds, for at most 20 seconds.
  private func eventually(_ condition: () -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while !condition() {
      try #require(ContinuousClock.now < deadline, "it never happened")
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  // MARK: Locations

  @Test func locations() throws {
    #expect(try JWKSLocation("/etc/jwks.json") == .file("/etc/jwks.json"))
    #expect(try JWKSLocation("jwks.json") == .file("jwks.json"))
    #expect(try JWKSLocation("file:///etc/jwks.json") == .file("/etc/jwks.json"))
    for url in [
      "https://id.example/keys?x=1", "HTTPS://id.example/keys", "http://localhost:80/k",
      "http://127.0.0.1/k", "http://[::1]:8080/k", "http://127.9.9.9/k",
    ] {
      #expect(try JWKSLocation(url) == .url(url))
    }
    #expect(try JWKSLocation("https://id.example/k?secret=1").description == "https://id.example/k")
    for bad in [
      "", "http://id.example/k", "http://localhost.evil.example/k",
      "http://127.0.0.1.evil.example/",
      "ftp://id.example/k", "https://", "https:///k", "https://u:p@id.example/k", "file://host/k",
      "http://127.0.0.1@evil.example/", "http://127.0.0/k",
    ] {
      #expect(throws: JWKSError.self, "\(bad)") { try JWKSLocation(bad) }
    }
  }

  @Test func cacheControl() {
    #expect(maximumAge([]) == nil)
    #expect(maximumAge(["public", "max-age=90"]) == .seconds(90))
    #expect(maximumAge(["Max-Age=90", "no-cache"]) == .zero)
    #expect(maximumAge(["max-age=-1"]) == nil)
    #expect(maximumAge(["max-age=99999999999999999999"]) == nil)
  }

  // MARK: Files

  @Test func withoutKeysTheServiceIsToBlame() async throws {
    let directory = try TemporaryDirectory()
    let source = try source(directory.file("jwks.json"))
    let token = try Provider.token(first)
    #expect(await code(authenticator(source), token) == .keysUnavailable)
    await #expect(throws: JWKSError.self) { try await source.refresh() }
    #expect(!source.status.isReady)
    #expect(source.status.lastError?.description.contains("No such file") == true)
    #expect(AuthenticationFailure(.keysUnavailable, "").httpStatus == 503)
    #expect(AuthenticationFailure(.keysUnavailable, "").wwwAuthenticate == nil)
  }

  @Test func aFileIsReadAgainWhenItChanges() async throws {
    let directory = try TemporaryDirectory()
    try directory.write(Provider.jwks([first.jwk(["kid": "1"])]), to: "jwks.json")
    let source = try source(directory.file("jwks.json")) { $0.fileInterval = .milliseconds(10) }
    let authenticator = authenticator(source)
    let service = Task { try await source.run() }
    defer { service.cancel() }
    try await eventually { source.status.isReady }
    let (old, new) = try (
      Provider.token(first, header: ["kid": "1"]), Provider.token(second, header: ["kid": "2"])
    )
    #expect(await code(authenticator, old) == nil)
    let generation = source.loaded?.generation

    // A damaged file changes nothing but the status.
    try directory.write(Data("{".utf8), to: "jwks.json")
    try await eventually { source.status.lastError != nil }
    #expect(await code(authenticator, old) == nil)
    // The same keys in another order of bytes are not a new set.
    try directory.write(
      Provider.jwks([first.jwk(["kid": "1", "x-note": "hello"])]), to: "jwks.json")
    try await eventually { source.status.lastError == nil }
    #expect(source.loaded?.generation == generation)

    try directory.write(Provider.jwks([second.jwk(["kid": "2"])]), to: "jwks.json")
    try await eventually { source.loaded?.generation != generation }
    #expect(await code(authenticator, new) == nil)
    #expect(await code(authenticator, old) == .unknownKey)

    try FileManager.default.removeItem(atPath: directory.file("jwks.json"))
    try await eventually { source.status.lastError != nil }
    #expect(await code(authenticator, new) == nil)
    #expect(source.status.isReady)
  }

  @Test func anUnknownKidIsLookedForAtOnce() async throws {
    let directory = try TemporaryDirectory()
    try directory.write(Provider.jwks([first.jwk(["kid": "1"])]), to: "jwks.json")
    let source = try source(directory.file("jwks.json")) { $0.unknownKeyFileSpacing = .zero }
    let authenticator = authenticator(source)
    try await source.refresh()
    try directory.write(
      Provider.jwks([first.jwk(["kid": "1"]), second.jwk(["kid": "2"])]), to: "jwks.json")
    #expect(await code(authenticator, try Provider.token(second, header: ["kid": "2"])) == nil)
  }

  @Test func badFilesAreRefused() async throws {
    let directory = try TemporaryDirectory()
    try directory.write(Data(count: maximumJWKSBytes + 1), to: "large")
    #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
    for (name, reason) in [
      ("large", "larger than 1 MiB"), ("pipe", "not a regular file"), (".", "not a regular file"),
      ("/dev/zero", "not a regular file"),
    ] {
      let path = name.hasPrefix("/") ? name : directory.file(name)
      let error = await #expect(throws: JWKSError.self) { try await self.source(path).refresh() }
      #expect(error?.description.contains(reason) == true)
    }
  }

  // MARK: URLs

  /// What the server publishes; it counts as changed when the tag changes.
  private final class Published: Sendable {
    private let content: Mutex<(tag: String, body: Data)>
    init(_ tag: String, _ keys: [[String: Any]]) { content = Mutex((tag, Provider.jwks(keys))) }
    func set(_ tag: String, _ keys: [[String: Any]]) {
      let body = Provider.jwks(keys)
      content.withLock { $0 = (tag, body) }
    }
    @Sendable func answer(_ head: HTTPRequestHead) -> TestServer.Answer {
      let (tag, body) = content.withLock { $0 }
      let headers: HTTPHeaders = ["ETag": "\"\(tag)\"", "Cache-Control": "public, max-age=600"]
      if head.headers.first(name: "If-None-Match") == "\"\(tag)\"" {
        return .init(status: .notModified, headers: headers)
      }
      return .init(headers: headers, body: Array(body))
    }
  }

  @Test func keysRotateOverHTTPS() async throws {
    let directory = try TemporaryDirectory()
    let certificates = try DevelopmentCertificates(
      directory: directory.path, mode: .development, now: .now)
    let published = Published("1", [first.jwk(["kid": "1"])])
    let server = try await TestServer(
      tls: (certificates.serverChainPath, certificates.serverKeyPath), respond: published.answer)
    let source = try source(server.url) {
      $0.certificateAuthorities = certificates.authorityPath
      $0.unknownKeySpacing = .zero
    }
    let authenticator = authenticator(source)
    try await source.refresh()
    try await source.refresh()
    #expect(server.requests.map { $0.first(name: "If-None-Match") } == [nil, "\"1\""])
    #expect(source.loaded?.generation == 1)
    let (old, new) = try (
      Provider.token(first, header: ["kid": "1"]), Provider.token(second, header: ["kid": "2"])
    )
    #expect(await code(authenticator, old) == nil)
    #expect(await code(authenticator, new) == .unknownKey)

    published.set("2", [second.jwk(["kid": "2"])])
    #expect(await code(authenticator, new) == nil)
    #expect(await code(authenticator, old) == .unknownKey)

    // A provider that is gone does not log out its users.
    try await server.stop()
    await #expect(throws: JWKSError.self) { try await source.refresh() }
    #expect(await code(authenticator, new) == nil)
    #expect(source.status.lastError != nil && source.status.isReady)

    // Nor is a server trusted whose authority is not.
    let again = try await TestServer(
      tls: (certificates.serverChainPath, certificates.serverKeyPath), respond: published.answer)
    let stranger = try self.source(again.url)
    await #expect(throws: JWKSError.self) { try await stranger.refresh() }
    #expect(again.requests.isEmpty)
    try await again.stop()
  }

  @Test func forgedKidsDoNotHammerTheProvider() async throws {
    let published = Published("1", [first.jwk(["kid": "1"])])
    let server = try await TestServer(respond: published.answer)
    let source = try source(server.url) { $0.unknownKeySpacing = .seconds(3600) }
    let authenticator = authenticator(source)
    try await source.refresh()
    await withTaskGroup { group in
      for number in 0..<50 {
        group.addTask {
          let token = try? Provider.token(second, header: ["kid": "forged-\(number)"])
          #expect(await code(authenticator, token ?? "") == .unknownKey)
        }
      }
    }
    #expect(server.requests.count == 1)
    try await server.stop()
  }

  @Test func oneRefreshServesAllThatWait() async throws {
    let published = Published("1", [first.jwk(["kid": "1"])])
    let server = try await TestServer { head in
      // Long enough for all tasks to arrive while the first request is under way.
      Thread.sleep(forTimeInterval: 0.2)
      return published.answer(head)
    }
    let source = try source(server.url)
    try await withThrowingTaskGroup { group in
      for _ in 0..<20 { group.addTask { try await source.refresh() } }
      try await group.waitForAll()
    }
    #expect(server.requests.count == 1)
    try await server.stop()
  }

  @Test func badAnswersAreRefused() async throws {
    let answers: [(String, TestServer.Answer?)] = [
      ("status 500", .init(status: .internalServerError)),
      ("status 302", .init(status: .found, headers: ["Location": "http://127.0.0.1:1/"])),
      ("status 401", .init(status: .unauthorized)), ("not a JSON Web Key Set", .init()),
      ("larger than 1 MiB", .init(body: Array(repeating: 0x20, count: maximumJWKSBytes + 1))),
      ("no complete answer", nil), ("no complete answer", .init(body: [0x7B], stalls: true)),
    ]
    for (reason, answer) in answers {
      let server = try await TestServer { _ in answer }
      let source = try source(server.url) { $0.timeout = .milliseconds(700) }
      let began = ContinuousClock.now
      let error = await #expect(throws: JWKSError.self) { try await source.refresh() }
      #expect(
        error?.description.contains(reason) == true
          || reason == "no complete answer" && error?.description.contains("failed") == true,
        "\(error?.description ?? "")")
      #expect(ContinuousClock.now - began < .seconds(10))
      try await server.stop()
    }
  }

  @Test func aHangingProviderDoesNotHoldUpTheShutdown() async throws {
    let server = try await TestServer { _ in nil }
    let source = try source(server.url) { $0.timeout = .seconds(60) }
    let group = ServiceGroup(
      configuration: .init(services: [.init(service: source)], logger: logger))
    let running = Task { try await group.run() }
    try await eventually { !server.requests.isEmpty }
    let began = ContinuousClock.now
    await group.triggerGracefulShutdown()
    try await running.value
    #expect(ContinuousClock.now - began < .seconds(20))
    try await server.stop()
  }

  @Test func runEndsWithAGracefulShutdown() async throws {
    let directory = try TemporaryDirectory()
    try directory.write(Provider.jwks([first.jwk()]), to: "jwks.json")
    let source = try source(directory.file("jwks.json"))
    let group = ServiceGroup(
      configuration: .init(services: [.init(service: source)], logger: logger))
    let running = Task { try await group.run() }
    try await eventually { source.status.isReady }
    await group.triggerGracefulShutdown()
    try await running.value
  }
}
