import FoundationEssentials
import Postgres
import PostgresWire
public import VocativeModel

/// What all users of the app share, by locale.
public struct AppVocabularyStore: Sendable {
  let database: any Database

  public init(database: any Database) { self.database = database }

  /// The vocabulary of a locale as it is stored.
  public struct Record: Sendable, Hashable {
    /// A language tag (RFC 5646).
    public var locale: String
    public var revision: Int64
    public var vocabulary: AppVocabulary

    public init(locale: String, revision: Int64, vocabulary: AppVocabulary) {
      self.locale = locale
      self.revision = revision
      self.vocabulary = vocabulary
    }
  }

  public enum PutOutcome: Sendable, Hashable {
    case stored(revision: Int64)
    /// The same was there already; nothing was written.
    case unchanged(revision: Int64)
  }

  /// Replaces what a locale has. The same again writes nothing.
  ///
  /// - Parameter locale: a language tag of 2 to 35 bytes.
  public func put(
    _ vocabulary: AppVocabulary, for locale: String
  ) async throws -> PutOutcome {
    let encoder = JSONEncoder()
    let terms = JSONB(utf8: Array(try encoder.encode(vocabulary.terms)))
    let examples = JSONB(utf8: Array(try encoder.encode(vocabulary.examples)))
    let results = try await database.transaction([
      (Statements.putAppVocabulary, Parameters(locale, terms, examples))
    ])
    let row = results[0][0]
    let revision = try row.decode(Int64.self, at: 0)
    return try row.decode(Bool.self, at: 1)
      ? .stored(revision: revision) : .unchanged(revision: revision)
  }

  /// What all locales have, by ascending tag.
  public func all() async throws -> [Record] {
    try await database.query(Statements.appVocabulary, Parameters()).map { row in
      let decoder = JSONDecoder()
      return Record(
        locale: try row.decode(String.self, at: 0), revision: try row.decode(Int64.self, at: 1),
        vocabulary: AppVocabulary(
          terms: try decoder.decode(
            [AppVocabulary.Term].self, from: Data(try row.decode(JSONB.self, at: 2).utf8)),
          examples: try decoder.decode(
            [AppVocabulary.IntentExamples].self,
            from: Data(try row.decode(JSONB.self, at: 3).utf8))))
    }
  }
}
