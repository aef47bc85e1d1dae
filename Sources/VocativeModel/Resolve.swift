/// The body of `POST /v1/resolve`: phrases to be resolved against the caller's vocabulary.
public struct ResolveRequest: Hashable, Sendable, Decodable {
  public var type: VocabularyType
  /// What was spoken or typed.
  public var phrases: [String]
  /// BCP 47. Not used yet: all languages are tried.
  public var locale: String?
  /// Candidates of each phrase, at most.
  public var limit: Int?
  /// The caller knows that this revision of the type is stored, and wants no older answer.
  public var atLeast: AtLeast?
  /// Whether each candidate says why it matched.
  public var explain: Bool?

  public struct AtLeast: Hashable, Sendable, Decodable {
    public var vocabularyRevision: Int64

    enum CodingKeys: String, CodingKey, CaseIterable { case vocabularyRevision }

    public init(from decoder: any Decoder) throws {
      let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
      vocabularyRevision = try container.decode(Int64.self, forKey: .vocabularyRevision)
    }
  }

  enum CodingKeys: String, CodingKey, CaseIterable {
    case type, phrases, locale, limit, atLeast, explain
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
    let name = try container.decode(String.self, forKey: .type)
    guard let type = VocabularyType(rawValue: name) else {
      throw InvalidValue("/type", VocabularyType.reason)
    }
    self.type = type
    phrases = try container.decode([String].self, forKey: .phrases)
    locale = try container.decodeIfPresent(String.self, forKey: .locale)
    limit = try container.decodeIfPresent(Int.self, forKey: .limit)
    atLeast = try container.decodeIfPresent(AtLeast.self, forKey: .atLeast)
    explain = try container.decodeIfPresent(Bool.self, forKey: .explain)
  }

  /// Throws `InvalidValue` for what is outside of the limits.
  public func validate(_ limits: Limits) throws {
    try Self.validate(phrases: phrases, from: 1, limits)
    try Self.validate(limit: limit, locale: locale)
    if let atLeast, atLeast.vocabularyRevision < 0 {
      throw InvalidValue("/atLeast/vocabularyRevision", "must not be negative")
    }
  }

  static func validate(phrases: [String], from least: Int, _ limits: Limits) throws {
    guard (least...limits.resolvePhrases).contains(phrases.count) else {
      throw InvalidValue("/phrases", "must be \(least) to \(limits.resolvePhrases)")
    }
    for (index, phrase) in phrases.enumerated()
    where phrase.utf8.count > limits.vocabularyStringBytes {
      throw InvalidValue(
        "/phrases/\(index)", "must have at most \(limits.vocabularyStringBytes) bytes")
    }
  }

  static func validate(limit: Int?, locale: String?) throws {
    if let limit, !(1...20).contains(limit) { throw InvalidValue("/limit", "must be 1 to 20") }
    if let locale, !(1...35).contains(locale.utf8.count) {
      throw InvalidValue("/locale", "must be a language tag (BCP 47)")
    }
  }
}
