/// The body of a step that resolves what was spoken or typed (`POST /v1/intents/…/resolve-…`).
public struct ResolveStep: Hashable, Sendable, Decodable {
  /// What was spoken or typed, one for each recipient or title; none where nothing was said.
  public var phrases: [String]
  /// BCP 47. Not used yet: all languages are tried.
  public var locale: String?
  /// Candidates of each phrase, at most.
  public var limit: Int?
  /// Whether each candidate says why it matched.
  public var explain: Bool?

  enum CodingKeys: String, CodingKey, CaseIterable { case phrases, locale, limit, explain }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
    phrases = try container.decode([String].self, forKey: .phrases)
    locale = try container.decodeIfPresent(String.self, forKey: .locale)
    limit = try container.decodeIfPresent(Int.self, forKey: .limit)
    explain = try container.decodeIfPresent(Bool.self, forKey: .explain)
  }

  /// Throws `InvalidValue` for what is outside of the limits.
  public func validate(_ limits: Limits) throws {
    try ResolveRequest.validate(phrases: phrases, from: 0, limits)
    try ResolveRequest.validate(limit: limit, locale: locale)
  }
}

/// The body of `POST /v1/intents/send-message/resolve-content`.
public struct ResolveContent: Hashable, Sendable, Decodable {
  /// What was spoken; nil where nothing was said yet.
  public var content: String?
  /// BCP 47. Not used yet.
  public var locale: String?

  enum CodingKeys: String, CodingKey, CaseIterable { case content, locale }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
    content = try container.decodeIfPresent(String.self, forKey: .content)
    locale = try container.decodeIfPresent(String.self, forKey: .locale)
  }
}

/// Who is to get a message: people, or those in an existing conversation.
public enum MessageRecipients: Hashable, Sendable {
  /// At least one, without repetition; the sender comes in by themselves.
  case people(Set<UserID>)
  case conversation(ThreadID)

  /// All in one form, whatever their order.
  public var normalized: [UInt8] {
    var json = JSONWriter()
    json.beginArray()
    switch self {
    case .people(let people):
      for person in people.sorted() { json.value(person.string) }
    case .conversation(let thread):
      json.beginObject()
      json.name("threadId")
      json.value(thread.uuid)
      json.endObject()
    }
    json.endArray()
    return json.utf8
  }
}

/// A message on its way: what `confirm` and `handle` are asked about.
public struct MessageIntent: Hashable, Sendable {
  public var recipients: MessageRecipients
  public var content: String

  /// Throws `InvalidValue` for what is outside of the limits of an entry of kind text.
  public func validate(_ limits: Limits) throws {
    if case .people(let people) = recipients, people.count >= limits.participants {
      throw InvalidValue("/recipients", "must be fewer than \(limits.participants)")
    }
    guard ContentAdaptation.trimmed(content).isEmpty == false else {
      throw InvalidValue("/content", "must not be empty")
    }
    do { try SendEntry(text: content).validate(limits) } catch let error as InvalidValue {
      throw InvalidValue("/content", error.reason)
    }
  }
}

/// The body of `POST /v1/intents/send-message/confirm`.
public struct ConfirmMessage: Hashable, Sendable, Decodable {
  public var intent: MessageIntent
  /// Whether the device is locked; some installations send nothing from those.
  public var isDeviceLocked: Bool

  enum CodingKeys: String, CodingKey, CaseIterable { case recipients, content, isDeviceLocked }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
    intent = MessageIntent(
      recipients: try container.decode(MessageRecipients.self, forKey: .recipients),
      content: try container.decode(String.self, forKey: .content))
    isDeviceLocked = try container.decodeIfPresent(Bool.self, forKey: .isDeviceLocked) ?? false
  }
}

/// The body of `POST /v1/intents/send-message/handle`: what was confirmed, with the confirmation.
public struct HandleMessage: Hashable, Sendable, Decodable {
  public var intent: MessageIntent
  public var confirmation: String

  enum CodingKeys: String, CodingKey, CaseIterable { case recipients, content, confirmation }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
    intent = MessageIntent(
      recipients: try container.decode(MessageRecipients.self, forKey: .recipients),
      content: try container.decode(String.self, forKey: .content))
    confirmation = try container.decode(String.self, forKey: .confirmation)
  }
}

extension MessageRecipients: Decodable {
  private struct Item: Decodable {
    var user: UserID?
    var thread: ThreadID?

    enum CodingKeys: String, CodingKey, CaseIterable { case userId, threadId }

    init(from decoder: any Decoder) throws {
      let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
      user = try container.decodeIfPresent(UserID.self, forKey: .userId)
      thread = try container.decodeIfPresent(ThreadID.self, forKey: .threadId)
      guard (user == nil) != (thread == nil) else {
        throw InvalidValue(at: decoder.codingPath, "must have either userId or threadId")
      }
    }
  }

  /// From an array of `{userId}`, or of one `{threadId}`.
  public init(from decoder: any Decoder) throws {
    let items = try decoder.singleValueContainer().decode([Item].self)
    if items.count == 1, let thread = items[0].thread {
      self = .conversation(thread)
      return
    }
    let people = items.compactMap(\.user)
    guard !items.isEmpty, people.count == items.count else {
      throw InvalidValue(at: decoder.codingPath, "must be people, or one conversation")
    }
    self = .people(Set(people))
  }
}
