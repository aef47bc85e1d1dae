/// SiriKit's outcomes for a parameter (`INIntentResolutionResult`).
public enum ResolutionOutcome: String, Sendable {
  case success, confirmationRequired, disambiguation, needsValue, unsupported, notRequired
}

/// What a phrase resolved to.
public struct Resolution: Sendable {
  public var outcome: ResolutionOutcome
  /// Best first; with success and confirmation the first is the value.
  public var candidates: [NameMatch]
  /// Where the phrase names several: each of them, in order. The outcome is then that of the part
  /// that is least clear, and the candidates are those of the first part.
  public var parts: [(phrase: String, resolution: Resolution)] = []

  public init(_ outcome: ResolutionOutcome, _ candidates: [NameMatch] = []) {
    self.outcome = outcome
    self.candidates = candidates
  }
}

/// Turns phrases into outcomes.
public struct Resolver: Sendable {
  /// Below it nobody is offered.
  static let threshold = 0.62
  /// Rivals that are at most so far behind the best are as good.
  static let margin = 0.025
  /// What is cut out of a phrase has to be this good: there is a name in almost every sentence.
  static let certain = 0.78
  /// Bytes of a phrase in which names are looked for, and names that are tried.
  private static let longestSentence = 400
  private static let mostNames = 24
  /// Strings that are equally good and are looked at, the most important ones.
  private static let mostRivals = 500
  /// Candidates that Siri shows (`INIntentResolutionResult`): as few as possible, at most five.
  public static let shown = 5

  public let index: NameIndex

  public init(_ index: NameIndex) { self.index = index }

  /// Resolves a phrase that was spoken or typed, with bounded work (`Work`) for any phrase and any
  /// vocabulary.
  ///
  /// - Parameters:
  ///   - limit: candidates, at most; at least 1.
  ///   - allowsAll: whether "all" and "everyone" mean all strings, as with lists, but not people.
  ///   - preference: sorts candidates that are equally good, the highest first; then the order of
  ///     the vocabulary counts. It never makes a success.
  public func resolve(
    _ phrase: String, limit: Int = shown, allowsAll: Bool = false,
    preference: (Int) -> Double = { _ in 0 }
  ) -> Resolution {
    var work = Work()
    let limit = max(1, limit)
    let plain = index.matches(phrase, &work)
    // What is called so itself is meant, whatever else it may say: "Tell Williams".
    if plain.first?.reason.isIdentity == true { return outcome(plain, limit, preference) }
    if allowsAll, let all = everyone(phrase, limit, preference) { return all }
    if phrase.utf8.count <= Self.longestSentence, Phrases.mayNameSeveral(phrase),
      let several = several(phrase, limit, preference, &work)
    {
      return several
    }
    guard let matches = best(for: phrase, plain, &work) else { return Resolution(.needsValue) }
    return outcome(matches, limit, preference)
  }

  // MARK: Phrases

  /// What fits a phrase best, whatever stands around the name; nil where there is no name.
  private func best(
    for phrase: String, _ plain: [NameMatch], _ work: inout Work
  ) -> [NameMatch]? {
    if Folding.fold(phrase).isEmpty, !hasSymbols(phrase) { return nil }
    var best = plain
    var isCarrierAlone = false
    let names = names(in: phrase, &work)
    for name in names {
      guard work.take(50 + name.utf8.count) else { break }
      if Folding.fold(name).isEmpty {
        isCarrierAlone = true
        continue
      }
      let matches = index.matches(name, &work)
      if let match = matches.first, match.score > (best.first?.score ?? 0) { best = matches }
    }
    if isCarrierAlone { return nil }
    if (best.first?.score ?? 0) < Self.threshold { best = inside(phrase, names, best, &work) }
    return best
  }

  /// Names with a title, and names before what is to be said: "tell Jon I'm late".
  private func inside(
    _ phrase: String, _ names: [String], _ known: [NameMatch], _ work: inout Work
  ) -> [NameMatch] {
    var best = known
    guard work.take(3 * phrase.utf8.count) else { return best }
    for name in Phrases.names(in: phrase, Phrases.titles) where !Folding.fold(name).isEmpty {
      let matches = index.matches(name, &work).map {
        NameMatch(position: $0.position, score: min($0.score, 0.9) * 0.95, reason: .partial)
      }
      if let match = matches.first, match.score > (best.first?.score ?? 0) { best = matches }
    }
    if (best.first?.score ?? 0) >= Self.threshold { return best }
    for name in names {
      guard work.take(2 * name.utf8.count) else { break }
      for lead in Phrases.leads(of: name) {
        // A full name of somebody else begins with a first name, too.
        let matches = index.matches(lead.name, &work)
        guard let match = matches.first, match.score >= Self.certain else { continue }
        if match.reason.isIdentity || lead.isSentence { return matches }
      }
    }
    return best
  }

  /// Names within carriers, and carriers within carriers, with and without what is to be said.
  private func names(in phrase: String, _ work: inout Work) -> [String] {
    var names: [String] = []
    guard phrase.utf8.count <= Self.longestSentence, work.take(2 * phrase.utf8.count) else {
      return names
    }
    for clause in Phrases.clauses(of: phrase) {
      if clause != phrase { names.append(clause) }
      guard work.take(3 * clause.utf8.count) else { break }
      let carried = Phrases.names(in: clause)
      names += carried
      for name in carried where work.take(3 * name.utf8.count) {
        names += Phrases.names(in: name)
      }
    }
    if names.count > Self.mostNames { names.removeLast(names.count - Self.mostNames) }
    return names
  }

  private func hasSymbols(_ phrase: String) -> Bool {
    phrase.unicodeScalars.contains { scalar in
      scalar.value > 0x7F && !scalar.properties.isWhitespace
        && scalar.properties.generalCategory != .otherPunctuation
    }
  }

  // MARK: All and several

  private func everyone(
    _ phrase: String, _ limit: Int, _ preference: (Int) -> Double
  ) -> Resolution? {
    let said = ([phrase] + Phrases.names(in: phrase)).map { Folding.fold($0).joined }
    guard said.contains(where: Phrases.everyone.contains) else { return nil }
    let all = (0..<min(index.count, Self.mostRivals)).map {
      NameMatch(position: $0, score: 0.7, reason: .partial)
    }
    return outcome(all, limit, preference)
  }

  private func several(
    _ phrase: String, _ limit: Int, _ preference: (Int) -> Double, _ work: inout Work
  ) -> Resolution? {
    for name in [phrase] + names(in: phrase, &work) {
      guard work.take(5 * name.utf8.count) else { return nil }
      for parts in Phrases.several(in: name) {
        var resolutions: [(phrase: String, resolution: Resolution)] = []
        for part in parts {
          // Each part has to be somebody, or the conjunction is part of a name.
          guard let resolution = self.part(part, limit, preference, &work) else { break }
          resolutions.append((part, resolution))
        }
        guard resolutions.count == parts.count else { continue }
        let found = Set(resolutions.map { $0.resolution.candidates[0].position })
        guard found.count == parts.count else { continue }
        var whole = Resolution(.success, resolutions[0].resolution.candidates)
        for outcome in [ResolutionOutcome.disambiguation, .confirmationRequired]
        where resolutions.contains(where: { $0.resolution.outcome == outcome }) {
          whole.outcome = outcome
          break
        }
        whole.parts = resolutions
        return whole
      }
    }
    return nil
  }

  private func part(
    _ part: String, _ limit: Int, _ preference: (Int) -> Double, _ work: inout Work
  ) -> Resolution? {
    let plain = index.matches(part, &work)
    let isNamed = plain.first?.reason.isIdentity == true
    guard let matches = isNamed ? plain : best(for: part, plain, &work) else { return nil }
    let resolution = outcome(matches, limit, preference)
    return (resolution.candidates.first?.score ?? 0) >= Self.certain ? resolution : nil
  }

  // MARK: Outcomes

  private func outcome(
    _ matches: [NameMatch], _ limit: Int, _ preference: (Int) -> Double
  ) -> Resolution {
    guard let best = matches.first, best.score >= Self.threshold else {
      return Resolution(.unsupported)
    }
    let margin = best.reason.isIdentity ? 0 : Self.margin
    let rivals = distinct(
      matches.prefix(Self.mostRivals).prefix { $0.score >= best.score - margin })
    if rivals.count > 1 {
      let sorted = rivals.map { (preference($0.position), $0) }
        .sorted { ($1.0, $0.1.position) < ($0.0, $1.1.position) }.map(\.1)
      return Resolution(.disambiguation, Array(sorted.prefix(limit)))
    }
    let identifier = index.identifier(at: rivals[0].position)
    let others = matches.lazy.filter { match in
      match.position != rivals[0].position
        && (identifier == nil || identifier != index.identifier(at: match.position))
    }
    return Resolution(
      best.reason.isIdentity ? .success : .confirmationRequired,
      [rivals[0]] + others.prefix(limit - 1))
  }

  /// Each person and thing once; what came in by itself only where nothing was uploaded.
  private func distinct(_ rivals: some Collection<NameMatch>) -> [NameMatch] {
    var distinct: [NameMatch] = []
    var identifiers: Set<String> = []
    let hasUploaded = rivals.contains { !index.isDerived(at: $0.position) }
    for rival in rivals where !(hasUploaded && index.isDerived(at: rival.position)) {
      let identifier = index.identifier(at: rival.position)
      if identifier.map({ identifiers.insert($0).inserted }) ?? true { distinct.append(rival) }
    }
    return distinct
  }
}
