import HTTPTypes
import Hummingbird
import NIOCore
import VocativeModel
import VocativeStorage

/// The caller's vocabulary.
struct VocabularyRoutes {
  let storage: Storage
  let limits: Limits

  func add(to group: RouterGroup<ServiceContext>) {
    group.get("vocabulary", use: revisions)
    group.delete("vocabulary", use: removeAll)
    group.put("vocabulary/{type}", use: put)
    group.get("vocabulary/{type}", use: get)
    group.delete("vocabulary/{type}", use: remove)
  }

  private func revisions(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let revisions = try await storage.vocabulary.revisionsJSON(of: context.caller)
    return .json { json in
      json.beginObject()
      json.name("vocabulary")
      json.value(json: revisions)
      json.endObject()
    }
  }

  private func put(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let type = try context.vocabularyType()
    let precondition = try request.vocabularyPrecondition()
    let body = try await request.vocabulary(limits)
    let outcome = try await storage.vocabulary.put(
      body.strings, as: type, of: context.caller, if: precondition)
    let state = try Self.state(of: outcome)
    var response = Response.json { json in
      json.beginObject()
      json.name("revision")
      json.value(state.revision)
      json.name("count")
      json.value(state.count)
      json.endObject()
    }
    response.headers[.eTag] = Self.tag(state.revision)
    return response
  }

  private func remove(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let outcome = try await storage.vocabulary.delete(
      try context.vocabularyType(), of: context.caller, if: try request.vocabularyPrecondition())
    _ = try Self.state(of: outcome)
    return Response(status: .noContent)
  }

  private func removeAll(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    try await storage.vocabulary.deleteAll(of: context.caller)
    return Response(status: .noContent)
  }

  private func get(_ request: Request, _ context: ServiceContext) async throws -> Response {
    let query = try Query(request, allowing: ["after", "limit", "derived"])
    let type = try context.vocabularyType()
    let includesDerived = try query.has("derived", only: "include")
    let limit = try query.integer("limit", in: 1...Int64(limits.vocabularyStrings))
    let cursor = try query["after"].map(VocabularyCursor.init(_:))
    let page = try await storage.vocabulary.page(
      of: context.caller, type, from: cursor?.position ?? 0,
      limit: limit.map(Int.init) ?? limits.vocabularyStrings, bytes: limits.pageBytes)
    if let cursor, cursor.revision != page.state.revision {
      throw ServiceError(
        .conflict(
          "vocabulary-changed", "The vocabulary has changed between two pages",
          "read it anew, without after"))
    }
    let tag = Self.tag(page.state.revision)
    if !includesDerived, cursor == nil, request.headers[.ifNoneMatch] == tag {
      return Response(status: .notModified, headers: [.eTag: tag])
    }
    var derived: [VocabularyStringRecord] = []
    if includesDerived, page.next == nil {
      derived = try await storage.vocabulary.strings(of: context.caller, type).strings
        .filter { $0.source != .uploaded }
    }
    var response = Response.json(reserving: 512 + 64 * page.strings.count) { json in
      page.write(to: &json, type, derived: derived)
    }
    response.headers[.eTag] = tag
    return response
  }

  private static func state(
    of outcome: VocabularyStore.PutOutcome
  ) throws(ServiceError) -> VocabularyState {
    switch outcome {
    case .stored(let state), .unchanged(let state): return state
    case .refused(let state):
      var error = ServiceError(.revisionMismatch(state.revision))
      error.headers[.eTag] = tag(state.revision)
      throw error
    }
  }

  private static func tag(_ revision: Int64) -> String { "\"\(revision)\"" }
}

extension VocabularyStore.Page {
  fileprivate func write(
    to json: inout JSONWriter, _ type: VocabularyType, derived: [VocabularyStringRecord]
  ) {
    json.beginObject()
    json.name("type")
    json.value(type.rawValue)
    json.name("revision")
    json.value(state.revision)
    json.name("count")
    json.value(state.count)
    if let updatedAt {
      json.name("updatedAt")
      json.value(updatedAt)
    }
    json.name("strings")
    json.beginArray()
    for string in strings {
      json.beginObject()
      string.writeMembers(to: &json)
      json.endObject()
    }
    for record in derived {
      json.beginObject()
      record.string.writeMembers(to: &json)
      json.name("source")
      json.value(record.source.rawValue)
      json.endObject()
    }
    json.endArray()
    if let next {
      json.name("next")
      json.value(VocabularyCursor(revision: state.revision, position: next).text)
    }
    json.endObject()
  }
}

/// Where a page of vocabulary begins, and of which revision it is.
private struct VocabularyCursor {
  var revision: Int64
  var position: Int

  init(revision: Int64, position: Int) {
    self.revision = revision
    self.position = position
  }

  init(_ text: Substring) throws {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let revision = Int64(parts[0]), let position = Int(parts[1]),
      revision >= 0, position >= 0
    else { throw ServiceError(.badQuery("after must be the next of a page of vocabulary")) }
    self.init(revision: revision, position: position)
  }

  var text: String { "\(revision).\(position)" }
}

extension Request {
  /// What `If-Match` and `If-None-Match` ask of a change (RFC 9110, sections 13.1.1 and 13.1.2).
  fileprivate func vocabularyPrecondition() throws -> VocabularyStore.Precondition {
    let match = headers[values: .ifMatch]
    let noneMatch = headers[values: .ifNoneMatch]
    switch (match.count, noneMatch.count) {
    case (0, 0): return .none
    case (1, 0):
      guard let tag = match[0].wholeMatch(of: /"([0-9]{1,18})"/), let revision = Int64(tag.1)
      else {
        throw ServiceError(.badRequest("If-Match must be one revision in quotes, such as \"3\""))
      }
      return .revision(revision)
    case (0, 1):
      guard noneMatch[0] == "*" else {
        throw ServiceError(.badRequest("a change may only have If-None-Match: *"))
      }
      return .absent
    default: throw ServiceError(.badRequest("If-Match and If-None-Match may be there once"))
    }
  }
}
