import Hummingbird
import NameMatching
import VocativeModel
import VocativeStorage

/// Resolution of spoken and typed phrases against the caller's vocabulary.
struct ResolveRoutes {
  let indexes: VocabularyIndexes
  let limits: Limits

  func add(to group: RouterGroup<ServiceContext>) {
    group.post("resolve", use: resolve)
  }

  private func resolve(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let body = try await request.json(ResolveRequest.self, limits)
    do { try body.validate(limits) } catch let error as InvalidValue { throw ServiceError(error) }
    let indexed = try await indexes.index(
      for: context.caller, body.type, atLeast: body.atLeast?.vocabularyRevision ?? 0)
    let limit = body.limit ?? Resolver.shown
    var answers: [ResolutionAnswer] = []
    for phrase in body.phrases {
      answers.append(
        ResolutionAnswer(
          phrase: phrase, index: indexed.resolver.index,
          resolution: indexed.resolver.resolve(
            phrase, limit: limit, allowsAll: body.type.allowsAll),
          explains: body.explain ?? false))
      // Other connections of this event loop come in between.
      await Task.yield()
    }
    return .json(reserving: 256 + 512 * answers.count) { json in
      json.beginObject()
      json.name("results")
      json.beginArray()
      for answer in answers { answer.write(to: &json) }
      json.endArray()
      json.name("vocabularyRevision")
      json.value(indexed.revision)
      json.endObject()
    }
  }
}

/// One result, as it is on the wire.
struct ResolutionAnswer {
  let phrase: String
  let index: NameIndex
  let resolution: Resolution
  let explains: Bool

  func write(to json: inout JSONWriter) {
    json.beginObject()
    writeMembers(resolution, phrase, to: &json)
    if !resolution.parts.isEmpty {
      json.name("parts")
      json.beginArray()
      for part in resolution.parts {
        json.beginObject()
        writeMembers(part.resolution, part.phrase, to: &json)
        json.endObject()
      }
      json.endArray()
    }
    json.endObject()
  }

  private func writeMembers(
    _ resolution: Resolution, _ phrase: String, to json: inout JSONWriter
  ) {
    json.name("phrase")
    json.value(phrase)
    json.name("outcome")
    json.value(resolution.outcome.rawValue)
    if let value = resolution.candidates.first,
      resolution.outcome == .success || resolution.outcome == .confirmationRequired
    {
      json.name("value")
      write(value, to: &json)
    }
    json.name("candidates")
    json.beginArray()
    for candidate in resolution.candidates { write(candidate, to: &json) }
    json.endArray()
    if resolution.outcome == .unsupported {
      json.name("reason")
      json.value("noMatch")
    }
  }

  private func write(_ match: NameMatch, to json: inout JSONWriter) {
    json.beginObject()
    if let identifier = index.identifier(at: match.position) {
      json.name("identifier")
      json.value(identifier)
    }
    json.name("phrase")
    json.value(index.phrase(at: match.position))
    json.name("score")
    json.value(thousandths: match.score)
    if index.isDerived(at: match.position) {
      json.name("source")
      json.value("thread")
    }
    if explains {
      json.name("reason")
      json.value(match.reason.rawValue)
    }
    json.endObject()
  }
}
