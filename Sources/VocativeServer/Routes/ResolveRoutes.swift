import Hummingbird
import NameMatching
import VocativeModel
import VocativeStorage

/// Resolution of spoken and typed phrases against the caller's vocabulary.
struct ResolveRoutes {
  let resolution: PhraseResolution
  let limits: Limits

  func add(to group: RouterGroup<ServiceContext>) {
    group.post("resolve", use: resolve)
  }

  private func resolve(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let body = try await request.json(ResolveRequest.self, limits)
    do { try body.validate(limits) } catch let error as InvalidValue { throw ServiceError(error) }
    let resolved = try await resolution.resolve(
      body.phrases, of: context.caller, in: VocabularyScope(body.type),
      limit: body.limit ?? Resolver.shown, atLeast: body.atLeast?.vocabularyRevision ?? 0)
    let answers = zip(body.phrases, resolved.resolutions).map { phrase, resolution in
      ResolutionAnswer(
        phrase: phrase, index: resolved.indexed.resolver.index, resolution: resolution,
        explains: body.explain ?? false)
    }
    return .json(reserving: 256 + 512 * answers.count) { json in
      json.beginObject()
      json.name("results")
      json.beginArray()
      for answer in answers { answer.write(to: &json) }
      json.endArray()
      json.name("vocabularyRevision")
      json.value(resolved.indexed.revisions[0])
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
    match.writeMembers(to: &json, index, explains: explains)
    json.endObject()
  }
}

extension NameMatch {
  /// What is told of a candidate, whatever it stands for.
  func writeMembers(to json: inout JSONWriter, _ index: NameIndex, explains: Bool) {
    json.name("phrase")
    json.value(index.phrase(at: position))
    json.name("score")
    json.value(thousandths: score)
    if index.isDerived(at: position) {
      json.name("source")
      json.value("thread")
    }
    if explains {
      json.name("reason")
      json.value(reason.rawValue)
    }
  }
}
