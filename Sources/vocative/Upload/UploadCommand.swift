import ArgumentParser
import Foundation
import VocativeModel

/// `vocative upload`: vocabulary from files, through an upload job.
struct UploadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload", abstract: "Uploads vocabulary from files.",
    discussion: """
      Takes JSON Lines ({"userId", "type", "strings"} a line), CSV with a header (userId, type, \
      phrase, identifier, pronunciationHint), vCards and property lists. What is uploaded replaces \
      all strings of each user and type that the files name. A run that was interrupted is \
      continued by the same command.

      Ends with 0 when all is stored, 1 when some lines were not, 64 for a wrong command line, 65 \
      for a wrong file, 66 for a missing one, 75 when the service is not there (try again later), \
      76 when it answers otherwise than expected, 77 when it refuses the token.
      """)

  @Argument(help: "Files to upload.", completion: .file())
  var files: [String]

  @OptionGroup var service: ServiceOptions

  @Option(help: "jsonl, csv, vcard or plist; by default what the files' names say.")
  var format: String?

  @Option(help: "The user whose vocabulary it is, for files that do not say.")
  var user: String?

  @Option(help: "The type, for files that do not say.")
  var type: String?

  @Option(help: "Tries in a row that bring nothing further, before it gives up.")
  var retries = 8

  @Flag(help: "Reads and checks the files, and uploads nothing.")
  var dryRun = false

  func validate() throws {
    if let format, UploadFile.Format(rawValue: format) == nil {
      throw ValidationError("--format takes jsonl, csv, vcard or plist")
    }
    if let user, UserID(user) == nil {
      throw ValidationError("--user takes 1 to 128 bytes without control characters")
    }
    if let type, VocabularyType(rawValue: type) == nil {
      throw ValidationError("--type \(VocabularyType.reason)")
    }
    guard (0...100).contains(retries) else { throw ValidationError("--retries takes 0 to 100") }
  }

  func run() async throws {
    do {
      let lines = try files.flatMap(read)
      let failed = dryRun ? check(lines) : try await upload(lines)
      if failed > 0 { throw ExitCode(1) }
    } catch let failure as UploadFailure {
      StandardError.write("error: \(failure)\n")
      throw ExitCode(failure.code.rawValue)
    }
  }

  /// A line of the job, with the name of its place for messages.
  private struct PlacedLine {
    var bytes: [UInt8]
    var place: String
  }

  private func read(_ path: String) throws -> [PlacedLine] {
    guard
      let format = format.flatMap({ UploadFile.Format(rawValue: $0) })
        ?? UploadFile.Format(path: path)
    else { throw ValidationError("--format is needed for \(path)") }
    guard let data = FileManager.default.contents(atPath: path) else {
      throw UploadFailure(.noInput, "\(path) cannot be read")
    }
    do throws(FileProblem) {
      let defaults = UploadFile.Defaults(
        user: user.flatMap { UserID($0) }, type: type.flatMap { VocabularyType(rawValue: $0) })
      return try UploadFile.lines(of: Array(data), format, defaults).map { line in
        PlacedLine(
          bytes: line.bytes, place: line.fileLine.map { "\(path), line \($0)" } ?? path)
      }
    } catch {
      throw UploadFailure(.badData, "\(path): \(error)")
    }
  }

  /// Checks lines as the service would with its default limits; returns how many it would refuse.
  private func check(_ lines: [PlacedLine]) -> Int {
    var failed = 0
    var strings = 0
    for line in lines {
      do {
        let read = try line.bytes.withUnsafeBufferPointer {
          try VocabularyJobLine(json: $0, Limits())
        }
        strings += read.strings.count
      } catch let invalid as InvalidValue {
        failed += 1
        print("\(line.place): \(invalid.pointer) \(invalid.reason)")
      } catch {
        failed += 1
        print("\(line.place): it is not JSON")
      }
    }
    print(
      "Dry run: \(lines.count - failed) lines with \(strings) strings could be stored, \(failed) "
        + "could not. Nothing was uploaded.")
    return failed
  }

  private func upload(_ lines: [PlacedLine]) async throws -> Int {
    let job = UploadJob(lines: lines.map(\.bytes))
    var bar = ProgressBar(total: lines.count)
    let start = ContinuousClock.now
    let key = UploadKey(
      digest: job.digest, service: service.url,
      directory: UploadKey.directory(environment: ProcessInfo.processInfo.environment))
    let summary: VocabularyJobSummary
    do {
      summary = try await service.connect { connection in
        try await job.run(over: connection, as: key, retries: retries) { result in
          bar.advance(strings: result.count ?? 0)
          guard let problem = result.problem else { return }
          bar.clear()
          let place = lines[Int(result.line) - 1].place
          print("\(place): \(problem.detail ?? problem.title)")
        } waiting: { failure, delay in
          bar.clear()
          StandardError.write(
            "\(failure); trying again in \(Int((delay / .seconds(1)).rounded(.up))) s\n")
        }
      }
    } catch let failure as UploadFailure where !failure.isTemporary {
      key.close()
      throw failure
    }
    key.close()
    bar.clear()
    let seconds = start.duration(to: .now) / .seconds(1)
    print(
      "\(summary.stored) stored, \(summary.unchanged) unchanged, \(summary.failed) failed; "
        + "\(summary.strings) strings in \(String(format: "%.1f", seconds)) s, "
        + "\(Int(Double(summary.strings) / max(seconds, 0.001))) a second")
    return Int(summary.failed)
  }
}
