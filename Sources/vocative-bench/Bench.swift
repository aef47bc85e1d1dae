import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle

/// `vocative-bench`: each benchmark runs its peer in the same run, so that a ratio carries over to
/// another machine and day. `docs/benchmarks.md` says what each number means.
@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vocative-bench",
    abstract: "Measures the service against its peers, side by side.",
    subcommands: [
      All.self, Driver.self, Sends.self, Changes.self, Vocabulary.self, Resolve.self, TLS.self,
    ],
    defaultSubcommand: All.self)
}

struct BenchOptions: ParsableArguments {
  @Option(help: "Seconds of each measurement, in rounds that alternate with the peer's.")
  var seconds = 5

  @Flag(help: "Writes the results as JSON to standard output, and all else to standard error.")
  var json = false

  func validate() throws {
    guard (1...600).contains(seconds) else {
      throw ValidationError("--seconds takes 1 to 600")
    }
  }

  /// Runs benchmarks until they end or the process is told to, and prints what they found.
  ///
  /// Either way the processes and directories that they made are gone afterwards.
  func report(
    _ benchmarks: @escaping @Sendable (_ seconds: Int, inout Report) async throws -> Void
  ) async throws {
    let output = json ? dup(STDOUT_FILENO) : STDOUT_FILENO
    if json { dup2(STDERR_FILENO, STDOUT_FILENO) }
    let seconds = seconds
    let json = json
    let task = InterruptibleTask {
      var report = Report(seconds: seconds)
      try await benchmarks(seconds, &report)
      let text = json ? try report.json() : report.text()
      FileHandle(fileDescriptor: output).write(Data((text + "\n").utf8))
    }
    try await task.run()
  }
}

/// Runs a task that SIGINT and SIGTERM cancel.
private struct InterruptibleTask: Service {
  let body: @Sendable () async throws -> Void

  init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

  func run() async throws {
    let once = Once(body: body)
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(
            service: once, successTerminationBehavior: .gracefullyShutdownGroup,
            failureTerminationBehavior: .cancelGroup)
        ],
        cancellationSignals: [.sigint, .sigterm], logger: .bench))
    try await group.run()
  }

  private struct Once: Service {
    let body: @Sendable () async throws -> Void
    func run() async throws { try await body() }
  }
}

extension Logger {
  /// Warnings and errors of what the benchmarks run, on standard error.
  static let bench: Logger = {
    var logger = Logger(label: "bench") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .warning
    return logger
  }()
}

struct All: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Runs all benchmarks.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await options.report { seconds, report in
      try await Stage.run { stage in
        try await stage.measureDriver(seconds, &report)
        try await stage.measureSends(seconds, &report)
        try await stage.measureChanges(seconds, &report)
        try await stage.measureVocabulary(seconds, &report)
        try await stage.measureResolution(seconds, hostileSeed: 1, &report)
      }
      // Two servers in this process; the rounds are four times as many.
      try await TLSBenchmark.run(seconds: max(1, seconds / 3))
    }
  }
}

struct Driver: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Statements through the PostgreSQL client, against pgbench.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await options.report { seconds, report in
      try await Stage.run { try await $0.measureDriver(seconds, &report) }
    }
  }
}

struct Sends: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Sends over TLS, against pgbench with the same SQL.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await options.report { seconds, report in
      try await Stage.run { try await $0.measureSends(seconds, &report) }
    }
  }
}

struct Changes: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Changes over TLS, against pgbench reading the same rows.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await options.report { seconds, report in
      try await Stage.run { try await $0.measureChanges(seconds, &report) }
    }
  }
}

struct Vocabulary: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "An upload job over TLS, against psql's \\copy of the same rows.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await options.report { seconds, report in
      try await Stage.run { try await $0.measureVocabulary(seconds, &report) }
    }
  }
}

struct Resolve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Resolution in the process and over TLS, against rapidfuzz and pg_trgm.")
  @OptionGroup var options: BenchOptions
  @Option(help: "The seed of the first hostile phrase; each further one has the next.")
  var hostileSeed: UInt64 = 1

  func run() async throws {
    let seed = hostileSeed
    try await options.report { seconds, report in
      try await Stage.run {
        try await $0.measureResolution(seconds, hostileSeed: seed, &report)
      }
    }
  }
}

struct TLS: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tls", abstract: "The same server over our TLS and over NIOSSL.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await options.report { seconds, _ in
      try await TLSBenchmark.run(seconds: max(1, seconds / 3))
    }
  }
}
