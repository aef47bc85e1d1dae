import HTTPTypes
import Hummingbird
import NIOCore
public import VocativeModel

/// Whether the service can do its work, part by part.
public struct Readiness: Sendable {
  /// One part: nil where it works, else what is wrong, in words without any user's content.
  public var parts: [(name: String, failure: String?)]
  public init(parts: [(name: String, failure: String?)]) { self.parts = parts }
  /// Whether all parts work.
  public var isReady: Bool { parts.allSatisfy { $0.failure == nil } }
}

/// The process itself, and the contract: open to everybody, and outside of `/v1`.
struct OperationRoutes {
  let readiness: @Sendable () async -> Readiness

  func add(to router: Router<ServiceContext>) {
    router.get("healthz") { _, _ in
      Response.json { json in
        json.beginObject()
        json.name("status")
        json.value("ok")
        json.endObject()
      }
    }
    router.get("readyz") { _, _ in
      let readiness = await readiness()
      return Response.json(readiness.isReady ? .ok : .serviceUnavailable) { json in
        json.beginObject()
        json.name("status")
        json.value(readiness.isReady ? "ready" : "not ready")
        json.name("parts")
        json.beginArray()
        for part in readiness.parts {
          json.beginObject()
          json.name("name")
          json.value(part.name)
          json.name("ready")
          json.value(part.failure == nil)
          if let failure = part.failure {
            json.name("detail")
            json.value(failure)
          }
          json.endObject()
        }
        json.endArray()
        json.endObject()
      }
    }
    router.get("openapi.json") { _, _ in
      Response(
        status: .ok, headers: [.contentType: "application/json", .cacheControl: "max-age=300"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: Resource.openAPI)))
    }
  }
}

/// The page to try the service with; in development mode only.
struct DemoRoutes {
  let session: DemoSession

  func add(to router: Router<ServiceContext>) {
    router.get("") { _, _ in Self.file(Resource.demoPage, "text/html; charset=utf-8") }
    for (name, type) in [
      ("js", "text/javascript; charset=utf-8"), ("css", "text/css; charset=utf-8"),
      ("svg", "image/svg+xml"),
    ] {
      for file in Resource.files(ofType: name) {
        router.get("demo/\(file.name)") { _, _ in Self.file(file.text, type) }
      }
    }
    router.get("demo/session.json") { request, _ in
      // It hands out tokens: a page of another site must not get at it by a name of its own that
      // resolves to this machine (DNS rebinding).
      guard Self.isLocal(request.head.authority) else { throw ServiceError(.noSuchRoute) }
      return Response.json { session.write(to: &$0) }
    }
  }

  private static func isLocal(_ authority: String?) -> Bool {
    guard let authority else { return false }
    let host =
      authority.hasPrefix("[")
      ? String(authority.prefix { $0 != "]" }.dropFirst())
      : String(authority.prefix { $0 != ":" })
    return ["localhost", "127.0.0.1", "::1"].contains(host)
  }

  private static func file(_ text: String, _ type: String) -> Response {
    Response(
      status: .ok,
      headers: [
        .contentType: type, .cacheControl: "no-cache",
        HTTPField.Name("Content-Security-Policy")!:
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
          + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
          + "require-trusted-types-for 'script'",
        HTTPField.Name("Referrer-Policy")!: "no-referrer",
      ],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}

/// Whom the demo page speaks for.
public struct DemoSession: Sendable {
  /// A device of a user, with a token of theirs.
  public struct Device: Sendable {
    public var userID: UserID
    public var name: String
    public var device: String
    public var token: String

    public init(userID: UserID, name: String, device: String, token: String) {
      self.userID = userID
      self.name = name
      self.device = device
      self.token = token
    }
  }

  /// The thread that the page opens with.
  public var thread: ThreadID
  public var devices: [Device]
  /// The authority that curl is to trust, for the lines that the page shows; nil for plain HTTP.
  public var caFile: String?

  public init(thread: ThreadID, devices: [Device], caFile: String?) {
    self.thread = thread
    self.devices = devices
    self.caFile = caFile
  }

  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.name("threadId")
    json.value(thread.uuid)
    if let caFile {
      json.name("caFile")
      json.value(caFile)
    }
    json.name("devices")
    json.beginArray()
    for device in devices {
      json.beginObject()
      json.name("userId")
      json.value(device.userID.string)
      json.name("name")
      json.value(device.name)
      json.name("device")
      json.value(device.device)
      json.name("token")
      json.value(device.token)
      json.endObject()
    }
    json.endArray()
    json.endObject()
  }
}
