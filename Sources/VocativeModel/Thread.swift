/// What a thread is for.
public enum ThreadKind: String, Hashable, Sendable, Codable, CaseIterable {
  case message, mail
}

/// What those who join a thread may see of what was there before: nothing, or all.
public enum History: String, Hashable, Sendable, Codable, CaseIterable {
  case join, full
}

/// A thread as its caller sees it (`GET /v1/threads/{id}`).
public struct Thread: Hashable, Sendable, Codable {
  public var id: ThreadID
  public var kind: ThreadKind
  public var subject: String?
  public var history: History
  public var createdAt: Instant
  /// When the newest entry arrived; the creation where there is none.
  public var lastActivityAt: Instant
  /// The highest sequence number of its entries; 0 where there is none.
  public var seq: Int64
  /// Others' live entries, `system` left out, with `createdSeq` above `readUpTo`.
  public var unreadCount: Int64
  /// The `createdSeq` up to which the caller has read.
  public var readUpTo: Int64
  /// The lowest `createdSeq` that the caller may see.
  public var visibleFrom: Int64
  public var participants: [Participant]
}

/// A page of the caller's threads (`GET /v1/threads`), newest activity first.
public struct ThreadPage: Hashable, Sendable, Codable {
  public var threads: [Thread]
  /// Give it as `after` to get the next page; nil at the end.
  public var next: String?
}

/// The body of `PUT /v1/threads/{id}`.
public struct CreateThread: Hashable, Sendable, Codable {
  public var kind: ThreadKind
  public var subject: String?
  /// `join` when the request does not say.
  public var history: History
  /// Those named; the creator comes in by themselves.
  public var participants: [Draft]

  /// Somebody to be put into a new thread; `member` when the request does not say.
  public struct Draft: Hashable, Sendable, Codable {
    public var userId: UserID
    public var role: Role
    public var name: PersonName?

    public init(userId: UserID, role: Role = .member, name: PersonName? = nil) {
      self.userId = userId
      self.role = role
      self.name = name
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case userId, role, name }

    public init(from decoder: any Decoder) throws {
      let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
      userId = try container.decode(UserID.self, forKey: .userId)
      role = try container.decodeIfPresent(Role.self, forKey: .role) ?? .member
      name = try container.decodeIfPresent(PersonName.self, forKey: .name)
    }
  }

  public init(
    kind: ThreadKind, subject: String? = nil, history: History = .join, participants: [Draft]
  ) {
    self.kind = kind
    self.subject = subject
    self.history = history
    self.participants = participants
  }

  enum CodingKeys: String, CodingKey, CaseIterable { case kind, subject, history, participants }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
    kind = try container.decode(ThreadKind.self, forKey: .kind)
    subject = try container.decodeIfPresent(String.self, forKey: .subject)
    history = try container.decodeIfPresent(History.self, forKey: .history) ?? .join
    participants = try container.decode([Draft].self, forKey: .participants)
  }

  /// Throws `InvalidValue` where the request is over a limit or contradicts itself.
  public func validate(_ limits: Limits) throws(InvalidValue) {
    if let subject {
      guard subject.utf8.count <= Limits.subjectBytes, !subject.utf8.contains(0) else {
        throw InvalidValue(
          "/subject", "must have at most \(Limits.subjectBytes) bytes and no NUL character")
      }
    }
    // The creator may still come on top.
    guard participants.count <= limits.participants else {
      throw InvalidValue("/participants", "must be at most \(limits.participants)")
    }
    var seen: Set<UserID> = []
    for (index, draft) in participants.enumerated() where !seen.insert(draft.userId).inserted {
      throw InvalidValue("/participants/\(index)/userId", "must not be there twice")
    }
  }

  /// The request in one form, whatever the order of its members and participants: what "the same
  /// body again" is judged by.
  public var normalized: [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.name("kind")
    json.value(kind.rawValue)
    json.name("history")
    json.value(history.rawValue)
    if let subject {
      json.name("subject")
      json.value(subject)
    }
    json.name("participants")
    json.beginArray()
    for draft in participants.sorted(by: { $0.userId < $1.userId }) {
      json.beginObject()
      json.name("userId")
      json.value(draft.userId.string)
      json.name("role")
      json.value(draft.role.rawValue)
      if let name = draft.name {
        json.name("name")
        name.write(to: &json)
      }
      json.endObject()
    }
    json.endArray()
    json.endObject()
    return json.utf8
  }
}

/// The body of `PUT /v1/threads/{id}/participants/{userId}`. What is left out stays as it is; for
/// somebody new the role is `member`.
public struct PutParticipant: Hashable, Sendable, Codable {
  public var role: Role?
  public var name: PersonName?

  public init(role: Role? = nil, name: PersonName? = nil) {
    self.role = role
    self.name = name
  }

  enum CodingKeys: String, CodingKey, CaseIterable { case role, name }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
    role = try container.decodeIfPresent(Role.self, forKey: .role)
    name = try container.decodeIfPresent(PersonName.self, forKey: .name)
  }
}

/// The body of `PUT /v1/threads/{id}/read`: one of the two.
public enum MarkRead: Hashable, Sendable, Codable {
  /// All up to this `createdSeq` is read. Backwards it changes nothing.
  case upTo(Int64)
  /// What is from this `createdSeq` on is unread, also backwards.
  case unreadFrom(Int64)

  enum CodingKeys: String, CodingKey, CaseIterable { case upTo, unreadFrom }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
    let upTo = try container.decodeIfPresent(Int64.self, forKey: .upTo)
    let unreadFrom = try container.decodeIfPresent(Int64.self, forKey: .unreadFrom)
    switch (upTo, unreadFrom) {
    case (let upTo?, nil):
      guard upTo >= 0 else {
        throw InvalidValue(at: decoder.codingPath + [CodingKeys.upTo], "must be 0 or more")
      }
      self = .upTo(upTo)
    case (nil, let unreadFrom?):
      guard unreadFrom >= 1 else {
        throw InvalidValue(at: decoder.codingPath + [CodingKeys.unreadFrom], "must be 1 or more")
      }
      self = .unreadFrom(unreadFrom)
    default: throw InvalidValue(at: decoder.codingPath, "must have either upTo or unreadFrom")
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .upTo(let seq): try container.encode(seq, forKey: .upTo)
    case .unreadFrom(let seq): try container.encode(seq, forKey: .unreadFrom)
    }
  }
}
