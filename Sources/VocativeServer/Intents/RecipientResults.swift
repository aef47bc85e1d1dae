import NameMatching
import VocativeModel
import VocativeStorage

/// Whom a resolved string stands for.
struct Recipient: Sendable {
  /// How to reach them.
  enum Handle: Sendable, Hashable {
    case user(UserID)
    case conversation(ThreadID)
    /// The string came without an identifier.
    case missing
    /// The identifier is no user's, nor of a conversation that the caller is in.
    case invalid

    var isUsable: Bool { self != .missing && self != .invalid }
  }

  var handle: Handle
  var match: NameMatch
}

/// One recipient that was asked for, resolved: SiriKit's outcome, over those who can be reached.
struct RecipientResult: Sendable {
  /// SiriKit's reasons for what is unsupported, in the words of an intent.
  struct Reasons: Sendable {
    var noMatch: String
    var noHandle: String
    var badHandle: String

    /// `INSendMessageRecipientUnsupportedReason`
    static let message = Reasons(
      noMatch: "noAccount", noHandle: "noValidHandle", badHandle: "requestedHandleInvalid")
    /// `INStartCallContactUnsupportedReason`
    static let call = Reasons(
      noMatch: "noContactFound", noHandle: "invalidHandle", badHandle: "invalidHandle")
  }

  var phrase: String
  var outcome: ResolutionOutcome
  var candidates: [Recipient] = []
  var reason: String?

  /// The outcome for one phrase: those without a handle are no choice.
  init(
    _ phrase: String, _ resolution: Resolution, reasons: Reasons,
    handle: (NameMatch) -> Recipient.Handle
  ) {
    self.phrase = phrase
    outcome = resolution.outcome
    let found = resolution.candidates.map { Recipient(handle: handle($0), match: $0) }
    let reachable = found.filter(\.handle.isUsable)
    switch resolution.outcome {
    case .unsupported: reason = reasons.noMatch
    case .needsValue, .notRequired: break
    case .success, .confirmationRequired:
      if found[0].handle.isUsable {
        candidates = reachable
      } else {
        outcome = .unsupported
        reason = found[0].handle == .missing ? reasons.noHandle : reasons.badHandle
      }
    case .disambiguation:
      candidates = reachable
      // Who is left after others fell away was not quite named.
      if reachable.count == 1 { outcome = .confirmationRequired }
      if reachable.isEmpty {
        outcome = .unsupported
        reason = reasons.noHandle
      }
    }
  }

  /// Nobody was named.
  private init() {
    phrase = ""
    outcome = .needsValue
  }

  /// A result for each recipient that is named; a phrase may name several.
  static func results(
    _ phrases: [String], _ resolved: PhraseResolution.Resolved, reasons: Reasons,
    conversations: Set<ThreadID>
  ) -> [RecipientResult] {
    let indexed = resolved.indexed
    func handle(_ match: NameMatch) -> Recipient.Handle {
      guard let identifier = indexed.resolver.index.identifier(at: match.position) else {
        return .missing
      }
      if let thread = ThreadID(identifier), conversations.contains(thread) {
        return .conversation(thread)
      }
      // A group is a conversation; what is none, or one that the caller has left, is no person.
      guard indexed.type(at: match.position) == 0, let user = UserID(identifier) else {
        return .invalid
      }
      return .user(user)
    }
    var results: [RecipientResult] = []
    for (phrase, resolution) in zip(phrases, resolved.resolutions) {
      let parts = resolution.parts.isEmpty ? [(phrase, resolution)] : resolution.parts
      for (phrase, resolution) in parts {
        results.append(
          RecipientResult(phrase, resolution, reasons: reasons, handle: handle))
      }
    }
    return results.isEmpty ? [RecipientResult()] : results
  }

  /// The threads that candidates may stand for.
  static func threads(in resolved: PhraseResolution.Resolved) -> [ThreadID] {
    let index = resolved.indexed.resolver.index
    var threads: Set<ThreadID> = []
    for resolution in resolved.resolutions {
      for part in [resolution] + resolution.parts.map(\.resolution) {
        threads.formUnion(
          part.candidates.compactMap { index.identifier(at: $0.position).flatMap { ThreadID($0) } })
      }
    }
    return Array(threads)
  }
}

extension RecipientResult {
  func write(to json: inout JSONWriter, _ index: NameIndex, explains: Bool) {
    json.beginObject()
    json.name("phrase")
    json.value(phrase)
    json.name("outcome")
    json.value(outcome.rawValue)
    if let value = candidates.first, outcome == .success || outcome == .confirmationRequired {
      json.name("value")
      value.write(to: &json, index, explains: explains)
    }
    json.name("candidates")
    json.beginArray()
    for candidate in candidates { candidate.write(to: &json, index, explains: explains) }
    json.endArray()
    if let reason {
      json.name("reason")
      json.value(reason)
    }
    json.endObject()
  }
}

extension Recipient {
  func write(to json: inout JSONWriter, _ index: NameIndex, explains: Bool) {
    json.beginObject()
    switch handle {
    case .user(let user):
      json.name("userId")
      json.value(user.string)
    case .conversation(let thread):
      json.name("threadId")
      json.value(thread.uuid)
    case .missing, .invalid: break
    }
    match.writeMembers(to: &json, index, explains: explains)
    json.endObject()
  }
}
