import FoundationEssentials
import Hummingbird
import VocativeModel
import VocativeStorage

/// Threads, who is in them, and what of them is read.
struct ThreadRoutes {
  let storage: Storage
  let limits: Limits

  func add(to group: RouterGroup<ServiceContext>) {
    group.put("threads/{threadId}", use: create)
    group.get("threads/{threadId}", use: get)
    group.get("threads", use: list)
    group.put("threads/{threadId}/participants/{userId}", use: putParticipant)
    group.delete("threads/{threadId}/participants/{userId}", use: removeParticipant)
    group.put("threads/{threadId}/read", use: markRead)
  }

  private func create(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let id = try context.threadID()
    let body = try await request.json(CreateThread.self, limits)
    do throws(InvalidValue) { try body.validate(limits) } catch { throw ServiceError(error) }
    guard
      body.participants.count < limits.participants
        || body.participants.contains(where: { $0.userId == context.caller })
    else {
      throw ServiceError(
        .invalid("/participants", "must with the creator be at most \(limits.participants)"))
    }
    switch try await storage.threads.create(id, by: context.caller, body) {
    case .created(let thread): return .json(.created) { thread.write(to: &$0) }
    case .replayed(let thread): return .json { thread.write(to: &$0) }
    case .conflict:
      throw ServiceError(
        .conflict(
          "thread-exists", "The thread exists already",
          "another request has made the thread of this id; use a new id for a new thread"))
    case .absent: throw ServiceError(.noSuchThread)
    }
  }

  private func get(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    guard
      let thread = try await storage.threads.thread(try context.threadID(), for: context.caller)
    else { throw ServiceError(.noSuchThread) }
    return .json { thread.write(to: &$0) }
  }

  private func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
    let query = try Query(request, allowing: ["after", "limit"])
    let limit = try query.limit(limits)
    let cursor = try query["after"].map(ThreadCursor.read)
    let threads = try await storage.threads.threads(
      of: context.caller, after: cursor, limit: limit + 1)
    let page = threads.prefix(limit)
    return .json(reserving: 1024 * page.count) { json in
      json.beginObject()
      json.name("threads")
      json.beginArray()
      for thread in page { thread.write(to: &json) }
      json.endArray()
      if threads.count > limit, let last = page.last {
        json.name("next")
        json.value(ThreadCursor.write(last))
      }
      json.endObject()
    }
  }

  private func putParticipant(
    _ request: Request, _ context: ServiceContext
  ) async throws -> Response {
    _ = try Query(request, allowing: [])
    let thread = try context.threadID()
    let user = try context.userID()
    let body = try await request.json(PutParticipant.self, limits)
    let outcome = try await storage.threads.put(
      user, into: thread, by: context.caller, body, limit: limits.participants)
    switch outcome {
    case .joined(let participant): return .json(.created) { participant.write(to: &$0) }
    case .changed(let participant), .unchanged(let participant):
      return .json { participant.write(to: &$0) }
    default: throw Self.error(of: outcome, limits)
    }
  }

  private func removeParticipant(
    _ request: Request, _ context: ServiceContext
  ) async throws -> Response {
    _ = try Query(request, allowing: [])
    let thread = try context.threadID()
    let user = try context.userID()
    let outcome = try await storage.threads.remove(user, from: thread, by: context.caller)
    guard case .removed = outcome else { throw Self.error(of: outcome, limits) }
    return Response(status: .noContent)
  }

  private static func error(
    of outcome: ThreadStore.ParticipantOutcome, _ limits: Limits
  ) -> ServiceError {
    switch outcome {
    case .absent: ServiceError(.noSuchParticipant)
    case .forbidden:
      ServiceError(
        .forbidden(
          "owners and admins change participants, only owners change owners, and anyone may leave "
            + "and change their own name"))
    case .full:
      ServiceError(
        .conflict(
          "thread-full", "The thread is full",
          "a thread may have \(limits.participants) participants"))
    case .lastOwner:
      ServiceError(
        .conflict(
          "last-owner", "The thread would be left without an owner", "make another owner first"))
    case .joined, .changed, .unchanged, .removed: ServiceError(.internalError)
    }
  }

  private func markRead(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let thread = try context.threadID()
    let body = try await request.json(MarkRead.self, limits)
    guard let state = try await storage.feeds.mark(body, in: thread, by: context.caller) else {
      throw ServiceError(.noSuchThread)
    }
    return .json { json in
      json.beginObject()
      json.name("readUpTo")
      json.value(state.readUpTo)
      json.name("unreadCount")
      json.value(state.unreadCount)
      json.endObject()
    }
  }
}

/// Where a page of threads begins, as text: it names nothing that its reader has not seen.
private enum ThreadCursor {
  static func write(_ thread: ThreadRecord) -> String {
    "\(thread.lastActivityAt.milliseconds).\(thread.id)"
  }

  static func read(_ text: Substring) throws -> ThreadStore.Cursor {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let milliseconds = Int64(parts[0]), let thread = ThreadID(parts[1])
    else { throw ServiceError(.badQuery("after must be the next of a page of threads")) }
    return ThreadStore.Cursor(
      activityAt: Instant(milliseconds: milliseconds), thread: thread)
  }
}
