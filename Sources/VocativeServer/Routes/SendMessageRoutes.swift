import Crypto
import Hummingbird
import VocativeModel
import VocativeStorage

/// What follows upon the recipients of a message that is spoken: its content, the confirmation, and
/// the sending.
struct SendMessageRoutes {
  let sending: MessageSending
  let limits: Limits

  func add(to group: RouterGroup<ServiceContext>) {
    group.post("send-message/resolve-content", use: resolveContent)
    group.post("send-message/confirm", use: confirm)
    group.post("send-message/handle", use: handle)
  }

  private func resolveContent(
    _ request: Request, _ context: ServiceContext
  ) async throws -> Response {
    _ = try Query(request, allowing: [])
    let body = try await request.json(ResolveContent.self, limits)
    let content = ContentAdaptation.trimmed(body.content ?? "")
    let adapted = sending.policy.adaptation.adapt(content)
    let isTooLong = adapted.content.utf8.count > limits.textBytes
    return .json(reserving: 256 + adapted.content.utf8.count) { json in
      json.beginObject()
      json.name("outcome")
      if content.isEmpty {
        json.value("needsValue")
      } else if isTooLong || content.utf8.contains(0) {
        json.value("unsupported")
        json.name("reason")
        json.value(isTooLong ? "contentTooLong" : "contentInvalid")
      } else {
        json.value("success")
        json.name("value")
        json.value(adapted.content)
        json.name("adaptations")
        json.beginArray()
        for change in adapted.changes {
          json.beginObject()
          json.name("word")
          json.value(change.word)
          json.name("replacement")
          json.value(change.replacement)
          json.endObject()
        }
        json.endArray()
      }
      json.endObject()
    }
  }

  private func confirm(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let body = try await request.json(ConfirmMessage.self, limits)
    try validate(body.intent)
    let readiness = try await sending.confirm(body, by: context.caller)
    return .json { json in
      json.beginObject()
      json.name("code")
      switch readiness {
      case .ready(let confirmation, let isNew):
        json.value("ready")
        json.name("confirmation")
        json.value(confirmation.string(for: context.caller, key: sending.tokenKey))
        json.name("expiresAt")
        json.value(confirmation.expiresAt)
        if !isNew {
          json.name("threadId")
          json.value(confirmation.thread.uuid)
        }
      case .requiresUnlocking:
        json.value("failureRequiringAppLaunch")
        json.name("reason")
        json.value("restrictedWhileLocked")
      case .unreachable:
        json.value("failure")
        json.name("reason")
        json.value("requestedHandleInvalid")
      }
      json.endObject()
    }
  }

  private func handle(_ request: Request, _ context: ServiceContext) async throws -> Response {
    _ = try Query(request, allowing: [])
    let body = try await request.json(HandleMessage.self, limits)
    try validate(body.intent)
    let outcome = try await sending.handle(body, by: context.caller)
    let entry: EntryRecord
    switch outcome {
    case .sent(let new): entry = new
    case .repeated(let old): entry = old
    }
    let isNew = if case .sent = outcome { true } else { false }
    return .json(isNew ? .created : .ok) { json in
      json.beginObject()
      json.name("code")
      json.value("success")
      json.name("threadId")
      json.value(entry.threadID.uuid)
      json.name("entry")
      entry.write(to: &json, for: context.caller)
      json.endObject()
    }
  }

  private func validate(_ intent: MessageIntent) throws {
    do { try intent.validate(limits) } catch let error as InvalidValue {
      throw ServiceError(error)
    }
  }
}
