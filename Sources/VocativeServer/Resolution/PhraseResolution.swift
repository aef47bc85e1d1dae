import NameMatching
import VocativeModel
import VocativeStorage

/// Resolves phrases against what a user calls people and things.
struct PhraseResolution: Sendable {
  let indexes: VocabularyIndexes
  let vocabulary: VocabularyStore

  /// Phrases, and what each resolved to.
  struct Resolved: Sendable {
    var indexed: VocabularyIndexes.Indexed
    var resolutions: [Resolution]
  }

  /// Candidates among which what happened lately decides the order.
  private static let mostRivals = 20

  /// - Parameters:
  ///   - limit: candidates of each phrase, at most.
  ///   - revision: what the revision of the scope's first type is at least.
  /// - Throws: 409 `revision-not-reached`; `PostgresError`.
  func resolve(
    _ phrases: [String], of caller: UserID, in scope: VocabularyScope, limit: Int,
    atLeast revision: Int64 = 0
  ) async throws -> Resolved {
    let indexed = try await indexes.index(for: caller, scope, atLeast: revision)
    let resolver = indexed.resolver
    let allowsAll = scope.allowsAll
    var resolutions: [Resolution] = []
    var rivals: Set<String> = []
    for phrase in phrases {
      let resolution = resolver.resolve(
        phrase, limit: max(limit, Self.mostRivals), allowsAll: allowsAll)
      rivals.formUnion(Self.rivals(of: resolution, resolver.index))
      resolutions.append(resolution)
      // Other connections of this event loop come in between.
      await Task.yield()
    }
    if scope.isFedByThreads, rivals.count > 1 {
      let recency = try await vocabulary.recency(of: rivals, for: caller)
      for (number, phrase) in phrases.enumerated()
      where Self.rivals(of: resolutions[number], resolver.index).count > 1 {
        resolutions[number] = resolver.resolve(phrase, limit: limit, allowsAll: allowsAll) {
          guard let identifier = resolver.index.identifier(at: $0) else { return 0 }
          return recency[identifier].map { Double($0.milliseconds) } ?? 0
        }
      }
    }
    return Resolved(
      indexed: indexed, resolutions: resolutions.map { $0.limited(to: limit) })
  }

  /// Those among whom a choice is left.
  private static func rivals(of resolution: Resolution, _ index: NameIndex) -> Set<String> {
    var identifiers: Set<String> = []
    for part in [resolution] + resolution.parts.map(\.resolution)
    where part.outcome == .disambiguation {
      identifiers.formUnion(part.candidates.compactMap { index.identifier(at: $0.position) })
    }
    return identifiers
  }
}

extension Resolution {
  fileprivate func limited(to limit: Int) -> Resolution {
    var limited = self
    limited.candidates = Array(candidates.prefix(limit))
    limited.parts = parts.map { ($0.phrase, $0.resolution.limited(to: limit)) }
    return limited
  }
}
