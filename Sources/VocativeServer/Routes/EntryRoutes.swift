import Hummingbird
import VocativeModel
import VocativeStorage

/// Entries of a thread.
struct EntryRoutes {
  let storage: Storage
  let limits: Limits

  func add(to group: RouterGroup<ServiceContext>) {
    group.put("threads/{threadId}/entries/{entryId}", use: send)
    group.post("threads/{threadId}/entries", use: sendBatch)
    group.patch("threads/{threadId}/entries/{entryId}", use: edit)
    group.delete("threads/{threadId}/entries/{entryId}", use: delete)
    group.get("threads/{threadId}/entries", use: list)
  }

  private func send(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let thread = try context.threadID()
    let id = try context.entryID()
    let body = try await request.json(SendEntry.self, limits)
    try Self.validated { try body.validate(limits) }
    let outcome = try await storage.entries.send([(id, body)], to: thread, from: context.caller)[0]
    switch outcome {
    case .created(let entry):
      return .json(.created) { entry.write(to: &$0, for: context.caller) }
    case .replayed(let entry): return .json { entry.write(to: &$0, for: context.caller) }
    default: throw Self.error(of: [outcome], pointers: [""])
    }
  }

  private func sendBatch(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let thread = try context.threadID()
    let body = try await request.json(SendBatch.self, limits)
    try Self.validated { try body.validate(limits) }
    let outcomes = try await storage.entries.send(
      body.entries.map { ($0.id, $0.entry) }, to: thread, from: context.caller)
    var entries: [EntryRecord] = []
    var created = false
    for outcome in outcomes {
      switch outcome {
      case .created(let entry):
        entries.append(entry)
        created = true
      case .replayed(let entry): entries.append(entry)
      default:
        throw Self.error(of: outcomes, pointers: outcomes.indices.map { "/entries/\($0)" })
      }
    }
    return .json(created ? .created : .ok, reserving: 512 * entries.count) { json in
      json.beginObject()
      json.name("entries")
      json.beginArray()
      for entry in entries { entry.write(to: &json, for: context.caller) }
      json.endArray()
      json.endObject()
    }
  }

  private func edit(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let thread = try context.threadID()
    let id = try context.entryID()
    let body = try await request.json(EditEntry.self, limits)
    try Self.validated { try body.validate(limits) }
    switch try await storage.entries.edit(id, in: thread, by: context.caller, body) {
    case .edited(let entry), .unchanged(let entry):
      return .json { entry.write(to: &$0, for: context.caller) }
    case .absent: throw ServiceError(.noSuchEntry)
    case .forbidden: throw ServiceError(.forbidden("only its sender edits an entry"))
    case .deleted:
      throw ServiceError(
        .conflict("entry-deleted", "The entry is deleted", "a tombstone cannot be edited"))
    case .invalid:
      throw ServiceError(.invalid("/attachments", "must be those of the entry's kind"))
    }
  }

  private func delete(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let thread = try context.threadID()
    let id = try context.entryID()
    switch try await storage.entries.delete(id, in: thread, by: context.caller) {
    case .deleted: return Response(status: .noContent)
    case .absent: throw ServiceError(.noSuchThread)
    case .invisible: throw ServiceError(.noSuchEntry)
    case .forbidden:
      throw ServiceError(
        .forbidden("an entry is deleted by its sender, an owner or an admin"))
    }
  }

  private func list(_ request: Request, _ context: ServiceContext) async throws -> Response {
    let query = try Query(request, allowing: ["before", "after", "limit"])
    let thread = try context.threadID()
    let before = try query.integer("before", in: 0...Int64.max)
    let after = try query.integer("after", in: 0...Int64.max)
    let limit = try query.limit(limits)
    // `after` walks upwards from it; without it the newest are wanted.
    let newestFirst = after == nil
    guard
      let (entries, hasMore) = try await storage.entries.page(
        of: thread, for: context.caller, after: after, before: before, newestFirst: newestFirst,
        limit: limit, bytes: limits.pageBytes)
    else { throw ServiceError(.noSuchThread) }
    let next = hasMore ? (newestFirst ? entries.first : entries.last)?.seq : nil
    return .json(reserving: 512 * entries.count) { json in
      json.beginObject()
      json.name("entries")
      json.beginArray()
      for entry in entries { entry.write(to: &json, for: context.caller) }
      json.endArray()
      if let next {
        json.name("next")
        json.value(next)
      }
      json.endObject()
    }
  }

  private static func validated(_ body: () throws -> Void) throws {
    do { try body() } catch let error as InvalidValue { throw ServiceError(error) }
  }

  /// The answer to sends that were not accepted, with a pointer to each that is at fault.
  private static func error(
    of outcomes: [EntryStore.SendOutcome], pointers: [String]
  ) -> ServiceError {
    var places: [Problem.Place] = []
    var status = 409
    for (outcome, pointer) in zip(outcomes, pointers) {
      switch outcome {
      case .created, .replayed, .refused: continue
      case .absent: return ServiceError(.noSuchThread)
      case .conflict:
        places.append(
          Problem.Place(
            pointer: pointer,
            detail: "the id is taken by an entry of another body or another sender",
            code: "entry-exists"))
      case .badRecipients:
        status = 422
        places.append(
          Problem.Place(
            pointer: pointer,
            detail: "recipients must be participants, and belong to threads of kind mail only",
            code: "bad-recipients"))
      case .badReply:
        status = 422
        places.append(
          Problem.Place(
            pointer: pointer + "/replyTo", detail: "must be an entry of the thread",
            code: "bad-reply"))
      }
    }
    var problem =
      status == 409
      ? Problem.conflict(
        "entry-exists", "The id is taken", "an id belongs to one entry for ever")
      : Problem(
        "invalid-request", status: 422, title: "The request is not valid",
        detail: places.first.map { "\($0.pointer) \($0.detail)" })
    problem.errors = places
    return ServiceError(problem)
  }
}
