import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import TLSTransport
import VocativeServer

/// The same Hummingbird server over our TLS and over NIOSSL, in one run on loopback.
///
/// The clients are processes of their own (wrk for requests, openssl s_time for handshakes), so
/// that this process's CPU time is the server's. Rounds alternate between the two, and the best of
/// each counts: what else the machine does only ever makes a round worse.
struct TLSBenchmark {
  /// - Parameter seconds: Length of a round; there are 4 of each server and load.
  static func run(seconds: Int) async throws {
    guard Command.exists("wrk") else {
      print("tls: wrk is not installed, nothing measured; run: apt-get install wrk")
      return
    }
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("vocative-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    for kind in [KeyKind.ecdsa, .rsa] { try kind.make(in: directory) }

    let ecdsa = try KeyKind.ecdsa.servers(in: directory)
    let rsa = try KeyKind.rsa.servers(in: directory)
    try await ecdsa.whileServing { ports in
      try compare("500 B", ports, mark: 0.95) { try requests($0, "/small", seconds) }
      try compare("64 KiB", ports, mark: 0.75) { try requests($0, "/large", seconds) }
      try compare("ECDSA handshakes", ports, mark: nil) { try handshakes($0, seconds) }
    }
    try await rsa.whileServing { ports in
      try compare("RSA handshakes", ports, mark: nil) { try handshakes($0, seconds) }
    }
  }

  // MARK: Loads

  private struct Measurement {
    var perSecond = 0.0
    var microsecondsOfCPU = Double.infinity

    /// The better value of each column.
    mutating func improve(with other: Measurement) {
      perSecond = max(perSecond, other.perSecond)
      microsecondsOfCPU = min(microsecondsOfCPU, other.microsecondsOfCPU)
    }
  }

  private static func compare(
    _ load: String, _ ports: Ports, mark: Double?, _ measure: (Int) throws -> Measurement
  ) throws {
    var (ours, theirs) = (Measurement(), Measurement())
    for _ in 0..<4 {
      ours.improve(with: try measure(ports.ours))
      theirs.improve(with: try measure(ports.nioSSL))
    }
    let rates = String(
      format: "ours %8.0f/s %6.1f µs CPU   NIOSSL %8.0f/s %6.1f µs CPU",
      ours.perSecond, ours.microsecondsOfCPU, theirs.perSecond, theirs.microsecondsOfCPU)
    let ratio = ours.perSecond / theirs.perSecond
    let verdict = mark.map { ratio >= $0 ? "(mark \($0): met)" : "(mark \($0): MISSED)" } ?? ""
    print(
      "tls \(load): \(rates)   rate \(String(format: "%.2f", ratio)) "
        + "CPU \(String(format: "%.2f", theirs.microsecondsOfCPU / ours.microsecondsOfCPU)) "
        + verdict)
  }

  private static func requests(_ port: Int, _ path: String, _ seconds: Int) throws -> Measurement {
    let before = cpuMicroseconds()
    let output = try Command.run(
      ["wrk", "-t1", "-c16", "-d\(seconds)s", "https://127.0.0.1:\(port)\(path)"])
    let cpu = cpuMicroseconds() - before
    guard let count = output.firstMatch(of: /(\d+) requests in/).flatMap({ Double($0.1) }),
      let rate = output.firstMatch(of: /Requests\/sec: +([\d.]+)/).flatMap({ Double($0.1) }),
      !output.contains("Non-2xx"), !output.contains("Socket errors")
    else { throw BenchmarkFailure(output: output) }
    return Measurement(perSecond: rate, microsecondsOfCPU: cpu / count)
  }

  private static func handshakes(_ port: Int, _ seconds: Int) throws -> Measurement {
    let before = cpuMicroseconds()
    let begin = ContinuousClock.now
    let output = try Command.run(
      ["openssl", "s_time", "-connect", "127.0.0.1:\(port)", "-new", "-time", "\(seconds)"])
    let elapsed = (ContinuousClock.now - begin) / .seconds(1)
    let cpu = cpuMicroseconds() - before
    guard
      let count = output.firstMatch(of: /(\d+) connections in \d+ real/).flatMap({ Double($0.1) }),
      count > 0
    else { throw BenchmarkFailure(output: output) }
    return Measurement(perSecond: count / elapsed, microsecondsOfCPU: cpu / count)
  }

  private static func cpuMicroseconds() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func microseconds(_ time: timeval) -> Double {
      Double(time.tv_sec) * 1e6 + Double(time.tv_usec)
    }
    return microseconds(usage.ru_utime) + microseconds(usage.ru_stime)
  }

  struct BenchmarkFailure: Error {
    /// What the client said.
    var output: String
  }
}

// MARK: Servers

private struct Ports: Sendable {
  var ours: Int
  var nioSSL: Int
}

private struct Servers: Sendable {
  var ours: HTTPServerBuilder
  var nioSSL: HTTPServerBuilder

  /// Runs both servers for as long as `body` runs.
  func whileServing(_ body: @escaping @Sendable (Ports) throws -> Void) async throws {
    var logger = Logger(label: "bench")
    logger.logLevel = .error
    let (ports, started) = AsyncStream<(isOurs: Bool, port: Int)>.makeStream()
    let applications = [(true, ours), (false, nioSSL)].map { isOurs, builder in
      Application(
        router: Self.router(), server: builder,
        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { channel in
          started.yield((isOurs, channel.localAddress?.port ?? 0))
        }, logger: logger)
    }
    try await withThrowingTaskGroup { group in
      let services = ServiceGroup(
        configuration: .init(services: applications.map { .init(service: $0) }, logger: logger))
      group.addTask { try await services.run() }
      var found: [Bool: Int] = [:]
      for await entry in ports {
        found[entry.isOurs] = entry.port
        if found.count == 2 { break }
      }
      let both = Ports(ours: found[true]!, nioSSL: found[false]!)
      // wrk is waited for on a thread of its own.
      let result = try await NIOThreadPool.singleton.runIfActive { Result { try body(both) } }
      await services.triggerGracefulShutdown()
      try await group.waitForAll()
      try result.get()
    }
  }

  private static func router() -> Router<BasicRequestContext> {
    let small = ByteBuffer(repeating: UInt8(ascii: "s"), count: 500)
    let large = ByteBuffer(repeating: UInt8(ascii: "l"), count: 64 << 10)
    let router = Router()
    router.get("small") { _, _ in Response(status: .ok, body: .init(byteBuffer: small)) }
    router.get("large") { _, _ in Response(status: .ok, body: .init(byteBuffer: large)) }
    return router
  }
}

/// HTTP/1.1 over NIOSSL, set up like ours otherwise.
private struct NIOSSLChannel: ServerChildChannel {
  let context: NIOSSLContext
  let base: HTTP1Channel

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
    channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
    }.flatMap { base.setup(channel: channel, logger: logger) }
  }

  func handle(value: HTTP1Channel.Value, logger: Logger) async {
    await base.handle(value: value, logger: logger)
  }
}

// MARK: Certificates

private enum KeyKind: String {
  case ecdsa
  case rsa

  func make(in directory: URL) throws {
    let key = self == .ecdsa ? ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"] : ["rsa:2048"]
    _ = try Command.run(
      ["openssl", "req", "-x509", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
        + ["-keyout", path(directory, "key"), "-out", path(directory, "pem"), "-newkey"] + key)
  }

  func servers(in directory: URL) throws -> Servers {
    let (chain, key) = (path(directory, "pem"), path(directory, "key"))
    var ours = TLSContext.Configuration(
      identities: [.init(certificateChainFile: chain, privateKeyFile: key)])
    ours.applicationProtocols = ["http/1.1"]
    let box = TLSContextBox(try TLSContext(ours))
    var theirs = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMFile(chain).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
    theirs.applicationProtocols = ["http/1.1"]
    let context = try NIOSSLContext(configuration: theirs)
    let limits = TransportLimits()
    return Servers(
      ours: makeServerBuilder(tls: box, limits: limits),
      nioSSL: HTTPServerBuilder { responder in
        EventLoopBoundChannel(
          NIOSSLChannel(
            context: context,
            base: HTTP1Channel(
              responder: responder, configuration: .init(idleTimeout: limits.idleTimeout))))
      })
  }

  private func path(_ directory: URL, _ suffix: String) -> String {
    directory.appendingPathComponent("\(rawValue).\(suffix)").path
  }
}

// MARK: Commands

private enum Command {
  static func exists(_ name: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
  }

  /// - Returns: Standard output and standard error.
  static func run(_ arguments: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text
  }
}
