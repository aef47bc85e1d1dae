import Foundation
import Subprocess

/// The release binary, serving TLS on a port of its own with the settings that users get.
struct ServiceProcess: Sendable {
  let processID: Int32
  let port: Int
  /// The development authority that signed its certificate.
  let caFile: String

  var baseURL: String { "https://127.0.0.1:\(port)" }

  /// Runs it for as long as `body` takes, or until the task is cancelled.
  static func run<Result: Sendable>(
    dataDirectory: String, database: String,
    _ body: (ServiceProcess) async throws -> Result
  ) async throws -> Result {
    let binary = try binary()
    var options = PlatformOptions()
    let teardown = [TeardownStep.gracefulShutDown(allowedDurationToNextStep: .seconds(15))]
    options.teardownSequence = teardown
    let result = try await Subprocess.run(
      // The kernel ends the service where this process is killed.
      .path("/usr/bin/setpriv"),
      arguments: [
        "--pdeathsig", "TERM", "--", binary, "serve", "--mode", "development",
        "--data-directory", dataDirectory, "--listen-port", "0", "--admin-port", "0",
      ],
      environment: .inherit.updating(["DATABASE_URL": database]), platformOptions: options,
      input: .none, output: .discarded,
      error: .sequence
    ) { execution in
      let (ports, found) = AsyncStream<Int>.makeStream()
      return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          defer { found.finish() }
          for try await line in execution.standardError.strings() {
            if let match = line.firstMatch(of: /https:\/\/127\.0\.0\.1:(\d+)/),
              let port = Int(match.1)
            {
              found.yield(port)
            } else if line.contains(/warning|error|critical/.ignoresCase()) {
              FileHandle.standardError.write(Data(("service: " + line + "\n").utf8))
            }
          }
        }
        let result: Swift.Result<Result, any Error>
        do {
          guard let port = await ports.first(where: { _ in true }) else {
            throw BenchmarkError("the service did not start")
          }
          result = .success(
            try await body(
              ServiceProcess(
                processID: execution.processIdentifier.value, port: port,
                caFile: dataDirectory + "/tls/ca.pem")))
        } catch {
          result = .failure(error)
        }
        // Its end closes its standard error, which ends the reader.
        await execution.teardown(using: teardown)
        return try result.get()
      }
    }
    return result.closureResult
  }

  /// `vocative` beside this program.
  private static func binary() throws -> String {
    let path = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: "vocative").path
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw BenchmarkError(
        "\(path) is not there: swift build --configuration release --product vocative")
    }
    return path
  }
}
