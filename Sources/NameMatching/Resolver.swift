/// SiriKit's outcomes for a parameter (`INIntentResolutionResult`).
public enum ResolutionOutcome: String, Sendable {
  case success, confirmationRequired, disambiguation, needsValue, unsupported, notRequired
}

/// What a phrase resolved to.
public struct Resolution: Sendable {
  public var outcome: ResolutionOutcome
  /// Best first; with success and confirmation the first is the value.
  public var candidates: [NameMatch]

  public init(_ outcome: ResolutionOutcome, _ candidates: [NameMatch] = []) {
    self.outcome = outcome
    self.candidates = candidates
  }
}

/// Turns matches into outcomes.
public struct Resolver: Sendable {
  /// Below it nobody is offered.
  static let threshold = 0.62
  /// Rivals that are at most so far behind the best are as good.
  static let margin = 0.025

  public let index: NameIndex

  public init(_ index: NameIndex) { self.index = index }

  /// Resolves a phrase that was spoken or typed.
  ///
  /// - Parameter limit: candidates, at most.
  public func resolve(_ phrase: String, limit: Int = 5) -> Resolution {
    let plain = index.matches(phrase)
    // What is called so itself is meant, whatever else it may say: "Tell Williams".
    if let best = plain.first, best.reason.isIdentity { return outcome(plain, limit) }
    if Folding.fold(phrase).isEmpty, !hasSymbols(phrase) { return Resolution(.needsValue) }
    var best = plain
    var isCarrierAlone = false
    for name in names(in: phrase) {
      if Folding.fold(name).isEmpty {
        isCarrierAlone = true
        continue
      }
      let matches = index.matches(name)
      if let match = matches.first, match.score > (best.first?.score ?? 0) { best = matches }
    }
    if isCarrierAlone { return Resolution(.needsValue) }
    if best.first.map({ $0.score < Self.threshold }) ?? true {
      for name in Phrases.names(in: phrase, Phrases.titles) where !Folding.fold(name).isEmpty {
        let matches = index.matches(name)
        if let match = matches.first, match.score * 0.95 > (best.first?.score ?? 0) {
          best = matches.map {
            NameMatch(position: $0.position, score: min($0.score * 0.95, 0.9), reason: .partial)
          }
        }
      }
    }
    return outcome(best, limit)
  }

  /// Names within carriers, and carriers within carriers.
  private func names(in phrase: String) -> [String] {
    var names = Phrases.names(in: phrase)
    for name in names { names += Phrases.names(in: name) }
    return names
  }

  private func hasSymbols(_ phrase: String) -> Bool {
    phrase.unicodeScalars.contains { scalar in
      scalar.value > 0x7F && !scalar.properties.isWhitespace
        && scalar.properties.generalCategory != .otherPunctuation
    }
  }

  private func outcome(_ matches: [NameMatch], _ limit: Int) -> Resolution {
    guard let best = matches.first, best.score >= Self.threshold else {
      return Resolution(.unsupported)
    }
    let margin = best.reason.isIdentity ? 0 : Self.margin
    let rivals = matches.prefix { $0.score >= best.score - margin }
    if rivals.count > 1 {
      return Resolution(
        .disambiguation, Array(rivals.sorted { $0.position < $1.position }.prefix(limit)))
    }
    return Resolution(
      best.reason.isIdentity ? .success : .confirmationRequired, Array(matches.prefix(limit)))
  }
}
