import HTTPTypes
import Hummingbird
import VocativeModel
import VocativeStorage

/// Uploads for many users, by a service with the scope `vocabulary.upload`.
struct VocabularyJobRoutes {
  let storage: Storage
  let limits: Limits

  private static let idempotencyKey = HTTPField.Name("Idempotency-Key")!

  func add(to group: RouterGroup<ServiceContext>) {
    group.post("vocabulary", use: upload)
  }

  private func upload(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    guard request.isNDJSON else { throw ServiceError(.unsupportedMediaType) }
    let keys = request.headers[values: Self.idempotencyKey]
    guard keys.count <= 1, keys.allSatisfy({ (1...256).contains($0.utf8.count) }) else {
      throw ServiceError(.badRequest("Idempotency-Key may be there once, with 1 to 256 bytes"))
    }
    let job = VocabularyJob(
      storage: storage, limits: limits, principal: context.caller, key: keys.first,
      logger: context.logger)
    return Response(
      status: .ok,
      headers: [.contentType: "application/x-ndjson", .cacheControl: "no-store"],
      body: ResponseBody { writer in
        try await job.run(request.body, &writer)
        try await writer.finish(nil)
      })
  }
}
