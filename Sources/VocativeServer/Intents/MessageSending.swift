import Crypto
import FoundationEssentials
import VocativeModel
import VocativeStorage

/// Confirms messages and sends them into the one right conversation, once.
struct MessageSending: Sendable {
  let storage: Storage
  let policy: IntentPolicy
  let tokenKey: SymmetricKey
  let now: @Sendable () -> Date

  /// SiriKit's answers to `confirm` (`INSendMessageIntentResponseCode`).
  enum Readiness: Sendable {
    case ready(Confirmation, isNew: Bool)
    /// The installation sends nothing from locked devices.
    case requiresUnlocking
    /// The conversation is none that the caller is in.
    case unreachable
  }

  func confirm(_ request: ConfirmMessage, by caller: UserID) async throws -> Readiness {
    if request.isDeviceLocked, policy.restrictsWhileLocked { return .requiresUnlocking }
    let (thread, isNew): (ThreadID, Bool)
    switch request.intent.recipients {
    case .conversation(let id):
      guard try await !storage.threads.conversations(of: caller, among: [id]).isEmpty else {
        return .unreachable
      }
      (thread, isNew) = (id, false)
    case .people(let people):
      (thread, isNew) = try await conversation(of: caller, with: people)
    }
    let end = now().timeIntervalSince1970 + Double(policy.confirmationSeconds)
    return .ready(
      Confirmation(
        request.intent, to: thread, as: EntryID(UUID()),
        until: Instant(milliseconds: Int64(end * 1000))),
      isNew: isNew)
  }

  /// The conversation of exactly these people, or the id under which it will be made.
  private func conversation(
    of caller: UserID, with people: Set<UserID>
  ) async throws -> (ThreadID, isNew: Bool) {
    let others = people.subtracting([caller])
    if let thread = try await storage.threads.conversation(of: caller, with: others) {
      return (thread, false)
    }
    let ids = ConversationID.candidates(for: others.union([caller]), key: tokenKey)
    let taken = try await storage.threads.taken(ids)
    // Others came into all of them, or left: none can be foretold.
    return (ids.first { !taken.contains($0) } ?? ThreadID(UUID()), true)
  }

  enum Outcome: Sendable {
    case sent(EntryRecord)
    /// The same confirmation had sent it before.
    case repeated(EntryRecord)
  }

  /// Sends what was confirmed.
  ///
  /// - Throws: `ServiceError` for a confirmation that does not hold; `PostgresError`.
  func handle(_ request: HandleMessage, by caller: UserID) async throws -> Outcome {
    guard let confirmation = Confirmation(request.confirmation, for: caller, key: tokenKey) else {
      throw ServiceError(.badConfirmation)
    }
    guard confirmation.binds(request.intent) else { throw ServiceError(.confirmationMismatch) }
    let isLate = confirmation.expiresAt.milliseconds <= Int64(now().timeIntervalSince1970 * 1000)
    if !isLate, try await prepare(confirmation.thread, for: request.intent.recipients, caller) {
      let entry = SendEntry(text: request.intent.content)
      let outcomes = try await storage.entries.send(
        [(confirmation.entry, entry)], to: confirmation.thread, from: caller)
      switch outcomes[0] {
      case .created(let entry): return .sent(entry)
      case .replayed(let entry): return .repeated(entry)
      case .absent, .conflict, .badRecipients, .badReply, .refused: break
      }
    }
    // What no longer can be sent may have been, when the answer was lost.
    if let entry = try await storage.entries.sent(
      confirmation.entry, to: confirmation.thread, by: caller)
    {
      return .repeated(entry)
    }
    throw ServiceError(isLate ? .confirmationExpired : .recipientsChanged)
  }

  /// Makes the conversation where it is not there yet; false where those who would read the message
  /// are not those who were confirmed.
  private func prepare(
    _ thread: ThreadID, for recipients: MessageRecipients, _ caller: UserID
  ) async throws -> Bool {
    guard case .people(let people) = recipients else { return true }
    let all = people.union([caller])
    if let record = try await storage.threads.thread(thread, for: caller) {
      return Set(record.participants.map(\.userID)) == all
    }
    // The same request whoever of them makes it, so that the second finds what the first made.
    let request = CreateThread(
      kind: .message, participants: all.sorted().map { CreateThread.Draft(userId: $0) })
    switch try await storage.threads.create(thread, by: caller, request) {
    case .created: return true
    case .replayed(let record): return Set(record.participants.map(\.userID)) == all
    case .conflict, .absent: return false
    }
  }
}

extension Problem {
  static let badConfirmation = Problem(
    "bad-confirmation", status: 400, title: "The confirmation is not one of this user's",
    detail: "confirmations are handed out by confirm and must be given back unchanged")
  static let confirmationMismatch = conflict(
    "confirmation-mismatch", "Another message was confirmed",
    "recipients and content must be those that were confirmed; confirm these anew")
  static let confirmationExpired = Problem(
    "confirmation-expired", status: 410, title: "The confirmation is no longer valid",
    detail: "nothing was sent; confirm anew")
  static let recipientsChanged = conflict(
    "recipients-changed", "The conversation is no longer of those who were confirmed",
    "nothing was sent; confirm anew")
}
