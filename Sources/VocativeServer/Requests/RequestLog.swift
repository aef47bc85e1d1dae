import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1
import Observability
import PostgresWire
import VocativeModel

/// The outermost middleware: gives each request its place in a trace, turns errors into problems,
/// and counts and logs how it went. Nothing of the content of a request gets into logs or metrics.
struct RequestLog: RouterMiddleware {
  let methods: MethodTable
  /// RFC 6797: over TLS only; and not with a certificate that is gone tomorrow.
  let sendsHSTS: Bool
  let random: @Sendable () -> UInt64
  private let metrics = RequestMetrics()

  private static let traceparent = HTTPField.Name("traceparent")!
  private static let tracestate = HTTPField.Name("tracestate")!

  func handle(
    _ request: Request, context: ServiceContext,
    next: (Request, ServiceContext) async throws -> Response
  ) async throws -> Response {
    let trace = TraceContext.serving(
      traceparent: request.headers[values: Self.traceparent],
      tracestate: request.headers[values: Self.tracestate], random: random)
    return try await TraceContext.$current.withValue(trace) {
      let start = ContinuousClock.now
      var response: Response
      do {
        response = try await next(request, context)
      } catch {
        response = try answer(to: error, request, context)
          .response(from: request, context: context)
      }
      response.headers[.xContentTypeOptions] = "nosniff"
      if sendsHSTS { response.headers[.strictTransportSecurity] = "max-age=31536000" }
      record(request, context, response.status, ContinuousClock.now - start)
      return response
    }
  }

  private func answer(
    to error: any Error, _ request: Request, _ context: ServiceContext
  ) -> ServiceError {
    switch error {
    case let error as ServiceError: return error
    case let error as PostgresError:
      let answer = ServiceError(error)
      context.logger.error("the database failed", metadata: ["error": "\(error)"])
      return answer
    case let error as HTTPError where error.status == .notFound:
      guard let allowed = methods.allowed(at: request.uri.path) else {
        return ServiceError(.noSuchRoute)
      }
      var answer = ServiceError(.badMethod)
      answer.headers[.allow] = allowed
      return answer
    case let error as HTTPError where error.status.kind == .clientError:
      return ServiceError(.badRequest("the request cannot be read"))
    case is HTTPParserError:
      // The connection has ended within the body, or its framing is broken.
      return ServiceError(.badRequest("the request is not whole"))
    case is CancellationError:
      // The client has gone; nobody reads the answer.
      return ServiceError(.badRequest("the request was cancelled"))
    default:
      // The type alone: the words of an unknown error could hold what a user wrote.
      context.logger.error("a request failed", metadata: ["error": "\(type(of: error))"])
      return ServiceError(.internalError)
    }
  }

  private func record(
    _ request: Request, _ context: ServiceContext, _ status: HTTPResponse.Status,
    _ duration: Duration
  ) {
    let route = context.endpointPath ?? "none"
    metrics.record(
      request.method, route: route, status: status.code, nanoseconds: duration.nanoseconds)
    let level: Logger.Level =
      status.code >= 500 ? .warning : status.kind == .successful ? .debug : .info
    context.logger.log(
      level: level, "request",
      metadata: [
        "method": "\(RequestMetrics.known(request.method))", "route": "\(route)",
        "status": "\(status.code)",
        "microseconds": "\(duration.nanoseconds / 1000)",
      ])
  }
}

extension Duration {
  fileprivate var nanoseconds: Int64 {
    components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
  }
}
