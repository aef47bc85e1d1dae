import HTTPTypes
import Hummingbird
import Identity
import NIOCore
import PostgresWire
import VocativeModel

/// An error that has an answer: a problem (RFC 9457), with what headers belong to it.
struct ServiceError: Error, ResponseGenerator {
  var problem: Problem
  var headers: HTTPFields = [:]
  /// A further member of the problem, and its value: `reconcile` and the call's address.
  var link: (name: StaticString, target: String)?

  init(_ problem: Problem) { self.problem = problem }

  init(_ failure: AuthenticationFailure) {
    problem = Problem(
      failure.httpStatus == 401 ? "unauthenticated" : failure.code.rawValue,
      status: failure.httpStatus,
      title: failure.httpStatus == 401
        ? "The request does not say for whom it speaks" : "Tokens cannot be checked now",
      detail: failure.description)
    if let challenge = failure.wwwAuthenticate { headers[.wwwAuthenticate] = challenge }
    if failure.httpStatus == 503 { headers[.retryAfter] = "1" }
  }

  init(_ invalid: InvalidValue) { self.init(.invalid(invalid.pointer, invalid.reason)) }

  /// What the database could not do. Its own words are for the log only.
  init(_ error: PostgresError) {
    switch error.code {
    case .server where error.isTransient:
      problem = .unavailable
      headers[.retryAfter] = "1"
    case .deadlineExceeded, .leaseTimeout, .queueFull, .connectionLost, .poolShutDown, .cancelled:
      problem = .unavailable
      headers[.retryAfter] = "1"
    case .outcomeUnknown:
      problem = Problem(
        "outcome-unknown", status: 503, title: "It is not known whether this was done",
        detail: "the database was lost before it answered; the same request again is safe")
      headers[.retryAfter] = "1"
    default: problem = .internalError
    }
  }

  static var tooManyStreams: ServiceError {
    var error = ServiceError(.tooManyStreams)
    error.headers[.retryAfter] = "15"
    return error
  }

  func response(from request: Request, context: some RequestContext) throws -> Response {
    var json = JSONWriter()
    problem.write(to: &json)
    var bytes = json.utf8
    if let link {
      var member = JSONWriter()
      member.name(link.name)
      member.value(link.target)
      bytes.removeLast()
      bytes.append(UInt8(ascii: ","))
      bytes += member.utf8
      bytes.append(UInt8(ascii: "}"))
    }
    var headers = headers
    headers[.contentType] = "application/problem+json"
    headers[.cacheControl] = "no-store"
    return Response(
      status: HTTPResponse.Status(code: problem.status), headers: headers,
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}

extension Problem {
  static let unavailable = Problem(
    "unavailable", status: 503, title: "The service cannot do this at the moment",
    detail: "nothing was changed; try again")
  static func badRequest(_ detail: String) -> Problem {
    Problem("bad-request", status: 400, title: "The request is malformed", detail: detail)
  }
  static func badIdentifier(_ detail: String) -> Problem {
    Problem("bad-identifier", status: 400, title: "An id in the path is malformed", detail: detail)
  }
  static func badQuery(_ detail: String) -> Problem {
    Problem("bad-query", status: 400, title: "A query parameter is wrong", detail: detail)
  }
  static func malformedJSON(_ detail: String) -> Problem {
    Problem("malformed-json", status: 400, title: "The body is not JSON", detail: detail)
  }
  static let notJSON = malformedJSON("the body is not JSON (RFC 8259)")
  static let badToken = Problem(
    "bad-token", status: 400, title: "The feed token is not one of this user's",
    detail: "tokens are handed out by this service and must be given back unchanged")
  static func missingScope(_ scope: String) -> Problem {
    Problem(
      "missing-scope", status: 403, title: "The token does not allow this",
      detail: "the token needs the scope \(scope)")
  }
  static func forbidden(_ detail: String) -> Problem {
    Problem("forbidden", status: 403, title: "The caller may not do this", detail: detail)
  }
  static let badMethod = Problem(
    "method-not-allowed", status: 405, title: "The address does not know this method",
    detail: "the calls are in /openapi.json")
  static let noSuchRoute = Problem(
    "no-such-resource", status: 404, title: "There is nothing at this address",
    detail: "the calls are in /openapi.json")
  static let noSuchThread = Problem(
    "no-such-thread", status: 404, title: "There is no such thread",
    detail: "there is none of this id that the caller is in")
  static let noSuchEntry = Problem(
    "no-such-entry", status: 404, title: "There is no such entry",
    detail: "there is none of this id that the caller may see")
  static let noSuchParticipant = Problem(
    "no-such-participant", status: 404, title: "There is no such participant",
    detail: "nobody of this id is in a thread of this id that the caller is in")
  static let noSuchVocabularyType = Problem(
    "no-such-vocabulary-type", status: 404, title: "There is no such type of vocabulary",
    detail: "the types are \(VocabularyType.allCases.map(\.rawValue).joined(separator: ", "))")
  static func revisionMismatch(_ revision: Int64) -> Problem {
    Problem(
      "revision-mismatch", status: 412, title: "The vocabulary has another revision",
      detail: "its revision is \(revision); nothing was changed")
  }
  static func lineTooLong(_ limit: Int) -> Problem {
    Problem(
      "line-too-long", status: 413, title: "The line is too long",
      detail: "a line may have \(limit) bytes")
  }
  static let jobMismatch = conflict(
    "job-mismatch", "The job was begun with another body",
    "a key stands for one body; what was stored of it stays")
  static let jobIsRunning = conflict(
    "job-running", "The job is being run by another request", "wait for it, or try again later")
  static func conflict(_ code: String, _ title: String, _ detail: String) -> Problem {
    Problem(code, status: 409, title: title, detail: detail)
  }
  static func bodyTooLarge(_ limit: Int) -> Problem {
    Problem(
      "body-too-large", status: 413, title: "The body is too large",
      detail: "a body may have \(limit) bytes")
  }
  static func bodyTooSlow(_ seconds: Int) -> Problem {
    Problem(
      "request-timeout", status: 408, title: "The body took too long to arrive",
      detail: "a body may take \(seconds) seconds")
  }
  static let unsupportedMediaType = Problem(
    "unsupported-media-type", status: 415, title: "The body is of another media type",
    detail: "bodies are application/json, and application/x-ndjson for jobs")
  static func invalid(_ pointer: String, _ reason: String) -> Problem {
    Problem(
      "invalid-request", status: 422, title: "The request is not valid",
      detail: "\(pointer.isEmpty ? "the body" : pointer) \(reason)",
      errors: [Place(pointer: pointer, detail: reason)])
  }
  static let tooManyStreams = Problem(
    "too-many-streams", status: 429, title: "Too many streams of this user are open",
    detail: "close one, or wait for one to end")
  static let internalError = Problem(
    "internal-error", status: 500, title: "The service failed",
    detail: "the failure is in the log under the request's trace id")
}

extension PostgresError {
  /// The server refused for a reason that passes: a conflict with other transactions, a lack of
  /// resources, a server that shuts down or has become a standby.
  fileprivate var isTransient: Bool {
    guard let sqlState else { return false }
    return ["40", "53", "55", "57"].contains(sqlState.prefix(2)) || sqlState == "25006"
  }
}
