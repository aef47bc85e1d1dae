import FoundationEssentials
import Hummingbird
import Identity
import VocativeModel

/// What goes with a request through the middleware to its route.
struct ServiceContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// Whom the request speaks for; set by `Authentication`, which lets nothing else pass.
  private(set) var principal: Principal?

  init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }

  /// The authenticated user.
  ///
  /// - Precondition: the route lies behind `Authentication`.
  var caller: UserID {
    guard let principal else { preconditionFailure("the route is not behind Authentication") }
    return UserID(trusted: principal.userID)
  }

  /// When the caller's token ends.
  ///
  /// - Precondition: the route lies behind `Authentication`.
  var expiresAt: Date {
    guard let principal else { preconditionFailure("the route is not behind Authentication") }
    return principal.expiresAt
  }

  /// The same context, once it is known whom the request speaks for.
  func speaking(for principal: Principal) -> ServiceContext {
    var context = self
    context.principal = principal
    return context
  }
}

/// Lets requests pass that carry a valid bearer token with a scope (RFC 6750); all others are
/// answered here.
struct Authentication: RouterMiddleware {
  let authenticator: Authenticator
  let scope: Scope

  func handle(
    _ request: Request, context: ServiceContext,
    next: (Request, ServiceContext) async throws -> Response
  ) async throws -> Response {
    let authorization = request.headers[values: .authorization]
    guard authorization.count <= 1 else {
      throw ServiceError(.badRequest("the request has more than one Authorization header"))
    }
    let principal: Principal
    if let known = authenticator.cached(authorization.first) {
      principal = known
    } else {
      do throws(AuthenticationFailure) {
        principal = try await authenticator.authenticate(authorization.first)
      } catch {
        throw ServiceError(error)
      }
    }
    guard principal.holds(scope) else { throw ServiceError(.missingScope(scope.rawValue)) }
    return try await next(request, context.speaking(for: principal))
  }
}
