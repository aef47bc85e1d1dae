import Foundation
import NameMatching

/// `vocative-quality VOCABULARY QUERIES`: answers each query of a set of cases as the service would,
/// a line of JSON a query on standard output, for `scripts/quality` to judge.
@main
struct Quality {
  struct Phrase: Decodable {
    var id: String
    var type: String
    var text: String
    var pronunciationHint: String?
  }
  struct User: Decodable {
    var user: String
    var strings: [Phrase]
  }
  struct Query: Decodable {
    var user: String
    var type: String
    var query: String
  }
  struct Answer: Encodable {
    var outcome: String
    var ids: [String]
    var ranked: [String]
  }

  static func main() throws {
    guard CommandLine.arguments.count == 3 else {
      FileHandle.standardError.write(Data("usage: vocative-quality VOCABULARY QUERIES\n".utf8))
      exit(64)
    }
    var resolvers: [String: (resolver: Resolver, phrases: [Phrase])] = [:]
    for user in try read(CommandLine.arguments[1], as: User.self) {
      for (type, phrases) in Dictionary(grouping: user.strings, by: \.type) {
        let entries = phrases.map { NameEntry($0.text, hint: $0.pronunciationHint) }
        resolvers["\(user.user) \(type)"] = (Resolver(NameIndex(entries)), phrases)
      }
    }
    let encoder = JSONEncoder()
    for query in try read(CommandLine.arguments[2], as: Query.self) {
      var answer = Answer(outcome: "unsupported", ids: [], ranked: [])
      if let (resolver, phrases) = resolvers["\(query.user) \(query.type)"] {
        let resolution = resolver.resolve(query.query)
        answer.outcome = resolution.outcome.rawValue
        answer.ranked = resolution.candidates.map { phrases[$0.position].id }
        answer.ids =
          resolution.outcome == .disambiguation ? answer.ranked : Array(answer.ranked.prefix(1))
      }
      print(String(decoding: try encoder.encode(answer), as: UTF8.self))
    }
  }

  private static func read<Line: Decodable>(_ path: String, as type: Line.Type) throws -> [Line] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
      try JSONDecoder().decode(type, from: Data($0.utf8))
    }
  }
}
