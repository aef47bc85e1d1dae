import Crypto
import FoundationEssentials
import Postgres
public import PostgresWire
public import VocativeModel

/// Vocabulary: what users call people, groups and things.
public struct VocabularyStore: Sendable {
  let database: any Database
  let wakeUps: WakeUps

  /// What must be so for a change to be made (RFC 9110, section 13.1).
  public enum Precondition: Sendable, Hashable {
    case none
    /// The revision is this one; 0 where there never was any.
    case revision(Int64)
    /// There are no strings yet.
    case absent

    var expected: Int64? {
      switch self {
      case .none: nil
      case .revision(let revision): revision
      case .absent: -1
      }
    }
  }

  public enum PutOutcome: Sendable, Hashable {
    case stored(VocabularyState)
    /// The same strings were there already; nothing was written.
    case unchanged(VocabularyState)
    /// The precondition does not hold; the state that is there.
    case refused(VocabularyState)
  }

  /// Replaces all strings of a type, in one transaction and one round trip.
  ///
  /// - Parameter strings: without duplicates, within the limits.
  public func put(
    _ strings: [VocabularyString], as type: VocabularyType, of user: UserID,
    if precondition: Precondition = .none
  ) async throws(PostgresError) -> PutOutcome {
    let item = Item(user: user, type: type, strings: strings)
    return try await change(
      [item], if: precondition,
      filling: (
        Statements.fillVocabulary,
        Parameters(
          user.string, type.rawValue, strings.map(\.phrase), strings.map(\.identifier),
          strings.map(\.pronunciationHint))
      ))[0]
  }

  /// Removes the strings of a type; its revisions go on.
  public func delete(
    _ type: VocabularyType, of user: UserID, if precondition: Precondition = .none
  ) async throws(PostgresError) -> PutOutcome {
    try await change([Item(user: user, type: type, strings: [])], if: precondition)[0]
  }

  /// Removes the strings of all types.
  public func deleteAll(of user: UserID) async throws(PostgresError) {
    _ = try await change(
      VocabularyType.allCases.map { Item(user: user, type: $0, strings: []) }, if: .none)
  }

  // MARK: Steps

  /// New contents of a type, as `vocabulary_put` takes them.
  struct Item: Sendable {
    var user: UserID
    var type: VocabularyType
    var count: Int32
    var hash: [UInt8]

    init(user: UserID, type: VocabularyType, strings: [VocabularyString]) {
      self.user = user
      self.type = type
      count = Int32(strings.count)
      hash = VocabularyHash.of(strings)
    }
  }

  /// The steps that judge and make changes, up to where the strings are to be put in.
  static func steps(
    _ items: [Item], if precondition: Precondition
  ) -> [(Statement, Parameters)] {
    let users = items.map(\.user.string)
    let types = items.map(\.type.rawValue)
    return [
      (Statements.ensureFeeds, Parameters(users)),
      (Statements.lockFeeds, Parameters(users)),
      (
        Statements.putVocabulary,
        Parameters(
          users, types, items.map(\.hash), items.map(\.count),
          items.map { _ in precondition.expected })
      ),
      (Statements.clearVocabulary, Parameters(users, types)),
    ]
  }

  /// The outcomes, and the heads of the feeds that moved.
  static func outcomes(
    _ rows: Rows, _ items: [Item]
  ) throws(PostgresError) -> ([PutOutcome], [FeedHead]) {
    var outcomes: [PutOutcome] = []
    var heads: [FeedHead] = []
    for (row, item) in zip(rows, items) {
      let state = VocabularyState(
        revision: try row.decode(Int64.self, at: 1), count: Int(try row.decode(Int32.self, at: 2)))
      switch try row.decode(String.self, at: 0) {
      case "stored": outcomes.append(.stored(state))
      case "unchanged": outcomes.append(.unchanged(state))
      default: outcomes.append(.refused(state))
      }
      if let seq = try row.decode(Int64?.self, at: 3) {
        heads.append(FeedHead(user: item.user, seq: seq))
      }
    }
    return (outcomes, heads)
  }

  private func change(
    _ items: [Item], if precondition: Precondition, filling: (Statement, Parameters)? = nil
  ) async throws(PostgresError) -> [PutOutcome] {
    var steps = Self.steps(items, if: precondition)
    if let filling { steps.append(filling) }
    let results = try await database.transaction(steps)
    let (outcomes, heads) = try Self.outcomes(results[2], items)
    wakeUps.moved(heads)
    return outcomes
  }
}

/// What "the same strings" is judged by.
enum VocabularyHash {
  /// The first 16 bytes of the SHA-256 of all parts, each behind its length.
  static func of(_ strings: [VocabularyString]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(strings.reduce(0) { $0 + $1.phrase.utf8.count + 32 })
    for string in strings {
      append(string.phrase, to: &bytes)
      append(string.identifier, to: &bytes)
      append(string.pronunciationHint, to: &bytes)
    }
    return Array(SHA256.hash(data: bytes).prefix(16))
  }

  /// No part is empty, so that a length of 0 says that there is none.
  private static func append(_ part: String?, to bytes: inout [UInt8]) {
    let count = UInt32(part?.utf8.count ?? 0)
    withUnsafeBytes(of: count.littleEndian) { bytes.append(contentsOf: $0) }
    if let part { bytes.append(contentsOf: part.utf8) }
  }
}
