import Crypto
import Hummingbird
import NameMatching
import VocativeModel
import VocativeStorage

/// SiriKit's steps: whom a message or a call is for, which list is meant.
struct IntentRoutes {
  let resolution: PhraseResolution
  let threads: ThreadStore
  let limits: Limits

  func add(to group: RouterGroup<ServiceContext>) {
    group.post("send-message/resolve-recipients") {
      try await recipients($0, $1, reasons: .message)
    }
    group.post("start-call/resolve-contacts") {
      try await recipients($0, $1, reasons: .call)
    }
    group.post("add-tasks/resolve-target-task-list", use: lists)
    group.post("add-tasks/resolve-task-titles", use: titles)
    group.post("search-for-notebook-items/resolve-title", use: lists)
  }

  private func recipients(
    _ request: Request, _ context: ServiceContext, reasons: RecipientResult.Reasons
  ) async throws -> Response {
    let body = try await step(request)
    let resolved = try await resolution.resolve(
      body.phrases, of: context.caller, in: .recipients, limit: body.limit ?? Resolver.shown)
    let conversations = try await threads.conversations(
      of: context.caller, among: RecipientResult.threads(in: resolved))
    let results = RecipientResult.results(
      body.phrases, resolved, reasons: reasons, conversations: conversations)
    let index = resolved.indexed.resolver.index
    return Self.answer(results) { $0.write(to: &$1, index, explains: body.explain ?? false) }
  }

  private func lists(_ request: Request, _ context: ServiceContext) async throws -> Response {
    let body = try await step(request)
    // No title is no value yet, as with recipients.
    let phrases = body.phrases.isEmpty ? [""] : body.phrases
    let resolved = try await resolution.resolve(
      phrases, of: context.caller, in: .lists, limit: body.limit ?? Resolver.shown)
    let answers = zip(phrases, resolved.resolutions).map { phrase, resolution in
      ResolutionAnswer(
        phrase: phrase, index: resolved.indexed.resolver.index, resolution: resolution,
        explains: body.explain ?? false)
    }
    return Self.answer(answers) { $0.write(to: &$1) }
  }

  /// New titles are what was said, without white space around it.
  private func titles(_ request: Request, _ context: ServiceContext) async throws -> Response {
    let body = try await step(request)
    return Self.answer(body.phrases.isEmpty ? [""] : body.phrases) { phrase, json in
      let title = ContentAdaptation.trimmed(phrase)
      json.beginObject()
      json.name("phrase")
      json.value(phrase)
      json.name("outcome")
      json.value((title.isEmpty ? ResolutionOutcome.needsValue : .success).rawValue)
      if !title.isEmpty {
        json.name("value")
        json.value(title)
      }
      json.endObject()
    }
  }

  private func step(_ request: Request) async throws -> ResolveStep {
    _ = try Query(request, allowing: [])
    let body = try await request.json(ResolveStep.self, limits)
    do { try body.validate(limits) } catch let error as InvalidValue { throw ServiceError(error) }
    return body
  }

  private static func answer<Result>(
    _ results: [Result], _ write: (Result, inout JSONWriter) -> Void
  ) -> Response {
    .json(reserving: 64 + 512 * results.count) { json in
      json.beginObject()
      json.name("results")
      json.beginArray()
      for result in results { write(result, &json) }
      json.endArray()
      json.endObject()
    }
  }
}
