import FoundationEssentials
import Postgres
public import PostgresWire
public import VocativeModel

/// A string of a user's vocabulary, and where it comes from.
public struct VocabularyStringRecord: Sendable, Hashable {
  public enum Source: String, Sendable, Hashable {
    /// Uploaded by the user's app, or by a job.
    case uploaded
    /// The name of a participant of one of the user's threads; the identifier is their user id.
    case participant
    /// The subject of one of the user's conversations; the identifier is the thread's id.
    case thread
  }

  public var string: VocabularyString
  public var source: Source

  public init(_ string: VocabularyString, source: Source) {
    self.string = string
    self.source = source
  }
}

extension VocabularyStore {
  /// The revisions of all types that a user ever had.
  public struct Revisions: Sendable, Hashable {
    /// The head of the user's feed: it moves with every change of vocabulary, threads and names.
    public var head: Int64
    public var byType: [VocabularyType: Int64]
  }

  /// The revisions of a user's types as a JSON object, by type. Costs one row.
  public func revisionsJSON(of user: UserID) async throws(PostgresError) -> [UInt8] {
    let rows = try await database.query(Statements.feedHead, Parameters(user.string))
    return try rows[0].decode(JSONB?.self, at: 2)?.utf8 ?? Array("{}".utf8)
  }

  /// The revisions of a user's types, and the head of their feed. Costs one row.
  public func revisions(of user: UserID) async throws(PostgresError) -> Revisions {
    let rows = try await database.query(Statements.feedHead, Parameters(user.string))
    var byType: [VocabularyType: Int64] = [:]
    if let json = try rows[0].decode(JSONB?.self, at: 2) {
      let names: [String: Int64]
      do {
        names = try JSONDecoder().decode([String: Int64].self, from: Data(json.utf8))
      } catch {
        throw PostgresError(.decoding, message: "feed.vocabulary must map types to revisions")
      }
      for (name, revision) in names {
        if let type = VocabularyType(rawValue: name) { byType[type] = revision }
      }
    }
    return Revisions(head: try rows[0].decode(Int64.self, at: 1), byType: byType)
  }

  /// Where a user's vocabulary of a type is.
  public struct Head: Sendable, Hashable {
    /// The head of the user's feed: it moves with every change of vocabulary, threads and names.
    public var feed: Int64
    /// 0 where there never was any.
    public var revision: Int64
  }

  /// The revision of a user's type, and the head of their feed. Costs one row.
  public func head(
    of user: UserID, _ type: VocabularyType
  ) async throws(PostgresError) -> Head {
    let rows = try await database.query(
      Statements.vocabularyHead, Parameters(user.string, type.rawValue))
    guard rows.count == 1 else { return Head(feed: 0, revision: 0) }
    return Head(
      feed: try rows[0].decode(Int64.self, at: 0), revision: try rows[0].decode(Int64.self, at: 1))
  }

  /// What names are in a user's threads: a fingerprint of those of each thread that took a place in
  /// their feed behind `place`; nil where they have left it.
  ///
  /// Costs a row a thread that moved, and the names of those threads alone.
  ///
  /// - Parameter place: -1 for all threads.
  public func names(
    of user: UserID, since place: Int64
  ) async throws(PostgresError) -> [ThreadID: Int64?] {
    let rows = try await database.query(
      Statements.vocabularyMoved, Parameters(user.string, place))
    var names: [ThreadID: Int64?] = [:]
    for row in rows {
      let thread = ThreadID(try row.decode(UUID.self, at: 0))
      names[thread] = .some(try row.decode(Int64?.self, at: 1))
    }
    return names
  }

  /// A page of what was uploaded of a type.
  public struct Page: Sendable {
    public var state: VocabularyState
    /// Nil where there never was any.
    public var updatedAt: Instant?
    public var strings: [VocabularyString]
    /// The position behind the page; nil at the end.
    public var next: Int?
  }

  /// A page of the strings of a type, in order, from one snapshot.
  ///
  /// - Parameters:
  ///   - position: of the first string.
  ///   - bytes: the page ends with the string that reaches them.
  public func page(
    of user: UserID, _ type: VocabularyType, from position: Int = 0, limit: Int = .max,
    bytes: Int = .max
  ) async throws(PostgresError) -> Page {
    let rows = try await database.query(
      Statements.vocabularyPage,
      Parameters(user.string, type.rawValue, position, limit, bytes))
    var page = Page(state: VocabularyState(revision: 0, count: 0), strings: [])
    page.strings.reserveCapacity(rows.count)
    for row in rows {
      if page.updatedAt == nil {
        page.state.revision = try row.decode(Int64.self, at: 0)
        page.state.count = Int(try row.decode(Int32.self, at: 1))
        page.updatedAt = Instant(try row.decode(Timestamp.self, at: 2))
      }
      if row.isNull(3) { continue }
      page.strings.append(
        VocabularyString(
          try row.decode(String.self, at: 4), identifier: try row.decode(String?.self, at: 5),
          pronunciationHint: try row.decode(String?.self, at: 6)))
    }
    let end = position + page.strings.count
    // A page without strings is behind the end.
    if !page.strings.isEmpty, end < page.state.count { page.next = end }
    return page
  }

  /// All that resolves a type for a user: for building an index.
  public struct Snapshot: Sendable {
    /// Of what was uploaded.
    public var revision: Int64
    /// The head of the user's feed before the strings were read: they are at least as new.
    public var head: Int64
    /// What was uploaded, in order, and below it what the user's threads give.
    public var strings: [VocabularyStringRecord]
    /// Whether the user's threads give no more than that.
    public var isWhole: Bool
  }

  /// All strings of a type, with what the user's own threads give to it.
  public func strings(
    of user: UserID, _ type: VocabularyType
  ) async throws(PostgresError) -> Snapshot {
    let rows = try await database.query(Statements.feedHead, Parameters(user.string))
    let head = try rows[0].decode(Int64.self, at: 1)
    let page = try await page(of: user, type)
    let derived = try await derived(of: user, type)
    var seen = Set(page.strings.map { Named($0) })
    var strings = page.strings.map { VocabularyStringRecord($0, source: .uploaded) }
    strings += derived.strings.filter { seen.insert(Named($0.string)).inserted }
    return Snapshot(
      revision: page.state.revision, head: head, strings: strings,
      isWhole: derived.rows < Self.derivedLimit)
  }

  /// The strings that a user's threads give, at most so many, latest activity first.
  static let derivedLimit = 5000

  /// What the user's threads give to a type: names of participants to `contactName`, subjects of
  /// conversations to `contactGroupName`, nothing to others.
  ///
  /// - Returns: the strings, and the number of rows that gave them.
  private func derived(
    of user: UserID, _ type: VocabularyType
  ) async throws(PostgresError) -> (strings: [VocabularyStringRecord], rows: Int) {
    var found: [VocabularyStringRecord] = []
    switch type {
    case .contactName:
      let rows = try await database.query(
        Statements.vocabularyParticipants, Parameters(user.string, Self.derivedLimit))
      for row in rows {
        let identifier = try row.decode(String.self, at: 0)
        let name = try row.decode(JSONB.self, at: 1)
        // What was stored was checked when it came.
        guard let name = try? JSONDecoder().decode(PersonName.self, from: Data(name.utf8)) else {
          throw PostgresError(.decoding, message: "participant.name must be a name")
        }
        for phrase in name.phrases {
          found.append(
            VocabularyStringRecord(
              VocabularyString(phrase, identifier: identifier), source: .participant))
        }
      }
      return (found, rows.count)
    case .contactGroupName:
      let rows = try await database.query(
        Statements.vocabularySubjects, Parameters(user.string, Self.derivedLimit))
      for row in rows {
        let thread = ThreadID(try row.decode(UUID.self, at: 0))
        let subject = try row.decode(String.self, at: 1)
        if subject.isEmpty { continue }
        found.append(
          VocabularyStringRecord(
            VocabularyString(subject, identifier: thread.description), source: .thread))
      }
      return (found, rows.count)
    default: return ([], 0)
    }
  }

  private struct Named: Hashable {
    var phrase: String
    var identifier: String?

    init(_ string: VocabularyString) {
      phrase = string.phrase
      identifier = string.identifier
    }
  }
}
