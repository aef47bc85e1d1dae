import ArgumentParser
import Foundation
import VocativeModel

/// `vocative vocabulary`: what the service holds of a user's vocabulary.
struct VocabularyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vocabulary", abstract: "Shows or exports what the token's user has uploaded.",
    subcommands: [Show.self, Export.self])

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows the types with their revisions, or the strings of one type.")

    @Argument(help: "A type; without one all are listed.")
    var type: String?

    @Flag(help: "With the names that the user's own threads give.")
    var derived = false

    @OptionGroup var service: ServiceOptions

    func run() async throws {
      let type = try type.map(VocabularyCommand.parsed)
      try await VocabularyCommand.reporting(service) { connection in
        guard let type else {
          let map = try await connection.get("/v1/vocabulary", as: Revisions.self).vocabulary
          for name in VocabularyType.allCases.map(\.rawValue) {
            if let revision = map[name] { print("\(name)\trevision \(revision)") }
          }
          return
        }
        try await connection.strings(of: type, derived: derived) { string in
          let parts = [string.identifier, string.pronunciationHint, string.source]
          print(([string.phrase] + parts.map { $0 ?? "" }).joined(separator: "\t"))
        }
      }
    }
  }

  struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Writes all types as JSON Lines, as `vocative upload` takes them.")

    @Option(help: "The user whose id the lines get: that of the token.")
    var user: String

    @OptionGroup var service: ServiceOptions

    func run() async throws {
      guard let user = UserID(user) else {
        throw ValidationError("--user takes 1 to 128 bytes without control characters")
      }
      try await VocabularyCommand.reporting(service) { connection in
        let map = try await connection.get("/v1/vocabulary", as: Revisions.self).vocabulary
        for type in VocabularyType.allCases where map[type.rawValue] != nil {
          var strings: [VocabularyString] = []
          try await connection.strings(of: type, derived: false) { string in
            strings.append(
              VocabularyString(
                string.phrase, identifier: string.identifier,
                pronunciationHint: string.pronunciationHint))
          }
          if strings.isEmpty { continue }
          var json = JSONWriter()
          VocabularyJobLine(userId: user, type: type, strings: strings).write(to: &json)
          print(String(decoding: json.utf8, as: UTF8.self))
        }
      }
    }
  }

  fileprivate static func parsed(_ name: String) throws -> VocabularyType {
    guard let type = VocabularyType(rawValue: name) else {
      throw ValidationError("the type \(VocabularyType.reason)")
    }
    return type
  }

  fileprivate static func reporting(
    _ service: ServiceOptions, _ body: (ServiceConnection) async throws -> Void
  ) async throws {
    do {
      try await service.connect(body)
    } catch let failure as UploadFailure {
      StandardError.write("error: \(failure)\n")
      throw ExitCode(failure.code.rawValue)
    }
  }
}

private struct Revisions: Decodable { var vocabulary: [String: Int64] }

private struct Page: Decodable {
  struct Item: Decodable {
    var phrase: String
    var identifier: String?
    var pronunciationHint: String?
    var source: String?
  }
  var strings: [Item]
  var next: String?
}

extension ServiceConnection {
  /// All strings of a type, over as many pages as they take.
  fileprivate func strings(
    of type: VocabularyType, derived: Bool, _ body: (Page.Item) -> Void
  ) async throws {
    var after: String?
    repeat {
      let query = [derived ? "derived=include" : nil, after.map { "after=\($0)" }]
      let text = query.compactMap(\.self).joined(separator: "&")
      let page = try await get(
        "/v1/vocabulary/\(type.rawValue)\(text.isEmpty ? "" : "?" + text)", as: Page.self)
      page.strings.forEach(body)
      after = page.next
    } while after != nil
  }
}
