/// An error on the wire (RFC 9457, `application/problem+json`).
public struct Problem: Hashable, Sendable, Codable {
  /// A URI reference that names the kind of problem; stable.
  public var type: String
  /// The kind in words; stable.
  public var title: String
  /// The HTTP status.
  public var status: Int
  /// What is wrong here, in words for a developer. Never a value of a user's content.
  public var detail: String?
  /// The kind in one word, for programs: the last part of `type`.
  public var code: String
  /// Where in the request: JSON Pointers (RFC 6901), with what is wrong at each.
  public var errors: [Place]?

  /// One place in a request that is wrong.
  public struct Place: Hashable, Sendable, Codable {
    public var pointer: String
    public var detail: String
    public var code: String?

    public init(pointer: String, detail: String, code: String? = nil) {
      self.pointer = pointer
      self.detail = detail
      self.code = code
    }
  }

  /// - Parameters:
  ///   - code: the kind in one word, in kebab case.
  ///   - status: the HTTP status.
  ///   - title: the kind in words.
  public init(
    _ code: String, status: Int, title: String, detail: String? = nil, errors: [Place]? = nil
  ) {
    self.type = "/problems/" + code
    self.title = title
    self.status = status
    self.detail = detail
    self.code = code
    self.errors = errors
  }

  /// Writes the problem as an object.
  public func write(to json: inout JSONWriter) {
    json.beginObject()
    json.name("type")
    json.value(type)
    json.name("title")
    json.value(title)
    json.name("status")
    json.value(status)
    if let detail {
      json.name("detail")
      json.value(detail)
    }
    json.name("code")
    json.value(code)
    if let errors {
      json.name("errors")
      json.beginArray()
      for place in errors {
        json.beginObject()
        json.name("pointer")
        json.value(place.pointer)
        json.name("detail")
        json.value(place.detail)
        if let code = place.code {
          json.name("code")
          json.value(code)
        }
        json.endObject()
      }
      json.endArray()
    }
    json.endObject()
  }
}
