import HTTPTypes
import Metrics
import NIOConcurrencyHelpers

/// The metrics of requests. Making a metric looks its labels up, which costs more than all else
/// that a request's record takes; so each is made once and kept.
final class RequestMetrics: Sendable {
  private struct Key: Hashable {
    var method: HTTPRequest.Method
    var route: String
    var status: Int
  }
  private struct Series {
    var count: Counter
    var duration: Metrics.Timer
  }

  /// As many as there are routes, known methods and statuses: a client cannot make more.
  private let series = NIOLockedValueBox<[Key: Series]>([:])

  private static let knownMethods: [HTTPRequest.Method] = [
    .get, .put, .post, .patch, .delete, .head, .options,
  ]
  private static let otherMethod = HTTPRequest.Method("OTHER")!

  /// Counts a request.
  ///
  /// - Parameter route: the route's pattern, never the path: ids are not to be in metrics.
  func record(
    _ method: HTTPRequest.Method, route: String, status: Int, nanoseconds: Int64
  ) {
    let method = Self.known(method)
    let key = Key(method: method, route: route, status: status)
    let series = series.withLockedValue { all in
      if let known = all[key] { return known }
      let made = Self.make(key)
      all[key] = made
      return made
    }
    series.count.increment()
    series.duration.recordNanoseconds(nanoseconds)
  }

  /// The method, or `OTHER`: a client may make up any.
  static func known(_ method: HTTPRequest.Method) -> HTTPRequest.Method {
    knownMethods.contains(method) ? method : otherMethod
  }

  private static func make(_ key: Key) -> Series {
    let dimensions = [("method", key.method.rawValue), ("route", key.route)]
    return Series(
      count: Counter(
        label: "http_requests_total", dimensions: dimensions + [("status", "\(key.status)")]),
      duration: Metrics.Timer(label: "http_request_duration_seconds", dimensions: dimensions))
  }
}
