import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore
import NameMatching
import VocativeModel

/// `vocative resolve`: whom a phrase means, and why.
struct ResolveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve", abstract: "Shows whom or what phrases mean, with scores and reasons.",
    discussion: """
      Asks the service for the token's user. With --strings it needs no service: it reads a file \
      with a name a line, the most important first.

        vocative resolve --strings names.txt "text 王一然"
      """)

  @Argument(help: "Phrases as they were spoken or typed.")
  var phrases: [String]

  @Option(help: "The type of vocabulary.")
  var type = VocabularyType.contactName.rawValue

  @Option(help: "Candidates of each phrase, 1 to 20.")
  var limit = Resolver.shown

  @Option(help: "File with a string a line, in place of the service.")
  var strings: String?

  @OptionGroup var service: ServiceOptions

  func validate() throws {
    guard !phrases.isEmpty else { throw ValidationError("name a phrase") }
    guard VocabularyType(rawValue: type) != nil else {
      throw ValidationError("the type \(VocabularyType.reason)")
    }
    guard (1...20).contains(limit) else { throw ValidationError("--limit takes 1 to 20") }
  }

  func run() async throws {
    let results = if let strings { try local(strings) } else { try await remote() }
    print(results.map(ResolutionTable.text).joined(separator: "\n\n"))
  }

  private func local(_ path: String) throws -> [ResolutionTable.Result] {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw ValidationError("the file \(path) cannot be read")
    }
    let index = NameIndex(text.split(separator: "\n").map { NameEntry(String($0)) })
    let resolver = Resolver(index)
    let allowsAll = VocabularyType(rawValue: type)?.allowsAll ?? false
    func result(_ phrase: String, _ resolution: Resolution) -> ResolutionTable.Result {
      ResolutionTable.Result(
        phrase: phrase, outcome: resolution.outcome.rawValue,
        candidates: resolution.candidates.map {
          ResolutionTable.Candidate(
            phrase: index.phrase(at: $0.position), score: $0.score, reason: $0.reason.rawValue)
        }, parts: resolution.parts.map { result($0.phrase, $0.resolution) })
    }
    return phrases.map { result($0, resolver.resolve($0, limit: limit, allowsAll: allowsAll)) }
  }

  private func remote() async throws -> [ResolutionTable.Result] {
    struct Body: Encodable {
      var type: String
      var phrases: [String]
      var limit: Int
      var explain = true
    }
    struct Answer: Decodable { var results: [ResolutionTable.Result] }
    do {
      return try await service.connect { connection in
        var request = connection.request("POST", "/v1/resolve")
        request.headers.add(name: "Content-Type", value: "application/json")
        let body = Body(type: type, phrases: phrases, limit: limit)
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body)))
        let response = try await connection.http.execute(request, timeout: .seconds(60))
        let data = Data(try await response.body.collect(upTo: 1 << 24).readableBytesView)
        guard response.status == .ok else {
          throw UploadFailure(status: response.status.code, data)
        }
        return try JSONDecoder().decode(Answer.self, from: data).results
      }
    } catch let failure as UploadFailure {
      StandardError.write("error: \(failure)\n")
      throw ExitCode(failure.code.rawValue)
    }
  }
}

/// Results as text, in columns that line up in a terminal.
enum ResolutionTable {
  struct Candidate: Decodable {
    var phrase: String
    var identifier: String?
    var score: Double
    var reason: String?
    var source: String?
  }
  struct Result: Decodable {
    var phrase: String
    var outcome: String
    var candidates: [Candidate]
    var parts: [Result]?
  }

  static func text(of result: Result) -> String {
    text(of: result, indent: "")
  }

  private static func text(of result: Result, indent: String) -> String {
    var lines = ["\(indent)\(result.phrase) → \(result.outcome)"]
    if let parts = result.parts, !parts.isEmpty {
      return (lines + parts.map { text(of: $0, indent: indent + "  ") }).joined(separator: "\n")
    }
    let width = result.candidates.map { columns($0.phrase) }.max() ?? 0
    for candidate in result.candidates {
      let score = String(format: "%.3f", candidate.score)
      let reason = (candidate.reason ?? "").padding(toLength: 12, withPad: " ", startingAt: 0)
      let gap = String(repeating: " ", count: width - columns(candidate.phrase))
      let rest = [candidate.identifier, candidate.source.map { "(\($0))" }].compactMap(\.self)
      let line =
        "\(indent)  \(score)  \(reason)\(candidate.phrase)\(gap)  "
        + rest.joined(separator: " ")
      lines.append(String(line.reversed().drop { $0 == " " }.reversed()))
    }
    return lines.joined(separator: "\n")
  }

  /// Columns that a text takes: two for wide characters (UAX #11), none for marks.
  private static func columns(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { sum, scalar in
      switch scalar.value {
      case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
        return sum + 2
      default:
        let category = scalar.properties.generalCategory
        let isMark =
          category == .nonspacingMark || category == .enclosingMark || category == .format
        return sum + (isMark ? 0 : 1)
      }
    }
  }
}
