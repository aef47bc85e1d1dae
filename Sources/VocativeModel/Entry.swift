/// What an entry is.
public enum EntryKind: String, Hashable, Sendable, Codable, CaseIterable {
  case text, image, sticker, audio, video, file, location
  /// Left by the service itself: somebody joined, left or was removed.
  case system
}

/// One item of a thread.
public struct Entry: Hashable, Sendable, Codable {
  public var id: EntryID
  public var threadId: ThreadID
  /// Its place now. An edit or a delete moves it to a new one.
  public var seq: Int64
  /// Its first place, which never changes: what it is shown and read by.
  public var createdSeq: Int64
  public var senderId: UserID
  public var kind: EntryKind
  public var text: String?
  /// The client's word.
  public var sentAt: Instant
  /// The service's word.
  public var receivedAt: Instant
  public var editedAt: Instant?
  /// True on a tombstone, which has no content; nil otherwise.
  public var deleted: Bool?
  public var replyTo: EntryID?
  public var primaryRecipients: [UserID]?
  public var cc: [UserID]?
  public var bcc: [UserID]?
  public var attachments: [Attachment]?
  public var system: SystemEvent?
}

/// What a `system` entry tells.
public struct SystemEvent: Hashable, Sendable, Codable {
  public enum Kind: String, Hashable, Sendable, Codable { case joined, left, removed }
  public var event: Kind
  public var userId: UserID

  public init(_ event: Kind, _ userId: UserID) {
    self.event = event
    self.userId = userId
  }

  /// Writes the event as an object.
  public func write(to json: inout JSONWriter) {
    json.beginObject()
    json.name("event")
    json.value(event.rawValue)
    json.name("userId")
    json.value(userId.string)
    json.endObject()
  }
}

/// A page of entries (`GET /v1/threads/{id}/entries`), ascending by `seq`.
public struct EntryPage: Hashable, Sendable, Codable {
  public var entries: [Entry]
  /// The `seq` to give as `after` (ascending) or `before` (newest first) for the next page; nil at
  /// the end.
  public var next: Int64?
}

/// The body of `PUT /v1/threads/{id}/entries/{entryId}`.
public struct SendEntry: Hashable, Sendable, Codable {
  public var kind: EntryKind
  public var text: String?
  public var sentAt: Instant?
  public var primaryRecipients: [UserID]?
  public var cc: [UserID]?
  public var bcc: [UserID]?
  public var replyTo: EntryID?
  public var attachments: [Attachment]?

  public init(text: String, sentAt: Instant? = nil, replyTo: EntryID? = nil) {
    self.kind = .text
    self.text = text
    self.sentAt = sentAt
    self.replyTo = replyTo
  }

  enum CodingKeys: String, CodingKey, CaseIterable {
    case kind, text, sentAt, primaryRecipients, cc, bcc, replyTo, attachments
  }

  public init(from decoder: any Decoder) throws {
    try self.init(from: try decoder.strictContainer(keyedBy: CodingKeys.self))
  }

  fileprivate init<Key: CodingKey>(from container: KeyedDecodingContainer<Key>) throws {
    func optional<Value: Decodable>(_ key: CodingKeys, _ type: Value.Type) throws -> Value? {
      try container.decodeIfPresent(type, forKey: Key(stringValue: key.stringValue)!)
    }
    kind = try container.decode(EntryKind.self, forKey: Key(stringValue: "kind")!)
    text = try optional(.text, String.self)
    sentAt = try optional(.sentAt, Instant.self)
    primaryRecipients = try optional(.primaryRecipients, [UserID].self)
    cc = try optional(.cc, [UserID].self)
    bcc = try optional(.bcc, [UserID].self)
    replyTo = try optional(.replyTo, EntryID.self)
    attachments = try optional(.attachments, [Attachment].self)
  }

  /// Throws `InvalidValue` where the entry is over a limit or lacks what its kind needs.
  public func validate(_ limits: Limits, at pointer: String = "") throws {
    guard kind != .system else {
      throw InvalidValue(pointer + "/kind", "must not be system; the service alone leaves those")
    }
    try Entry.validate(text: text, limits, at: pointer)
    try Entry.validate(attachments: attachments, of: kind, at: pointer)
    if kind == .text, text == nil {
      throw InvalidValue(pointer + "/text", "must be there, as the kind is text")
    }
    if kind != .text, attachments == nil {
      throw InvalidValue(pointer + "/attachments", "must be there, as the kind is not text")
    }
    let recipients = [primaryRecipients, cc, bcc].compactMap { $0?.count }.reduce(0, +)
    guard recipients <= limits.participants else {
      throw InvalidValue(
        pointer + "/primaryRecipients", "must with cc and bcc be at most \(limits.participants)")
    }
  }

  /// Whether it is addressed to anyone in particular, as only mail is.
  public var hasRecipients: Bool { primaryRecipients != nil || cc != nil || bcc != nil }

  /// The recipients as one JSON object; nil where there are none.
  public var recipients: [UInt8]? {
    guard hasRecipients else { return nil }
    var json = JSONWriter()
    json.beginObject()
    writeRecipients(to: &json)
    json.endObject()
    return json.utf8
  }

  /// The attachments as a JSON array; nil where there are none.
  public var attachmentsJSON: [UInt8]? { attachments.map(Entry.json(of:)) }

  private func writeRecipients(to json: inout JSONWriter) {
    func list(_ name: StaticString, _ users: [UserID]?) {
      guard let users else { return }
      json.name(name)
      json.beginArray()
      for user in users { json.value(user.string) }
      json.endArray()
    }
    list("primaryRecipients", primaryRecipients)
    list("cc", cc)
    list("bcc", bcc)
  }

  /// The entry in one form, whatever the order of its members: what "the same body" is judged by.
  public var normalized: [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    json.name("kind")
    json.value(kind.rawValue)
    if let text {
      json.name("text")
      json.value(text)
    }
    if let sentAt {
      json.name("sentAt")
      json.value(sentAt)
    }
    writeRecipients(to: &json)
    if let replyTo {
      json.name("replyTo")
      json.value(replyTo.uuid)
    }
    if let attachmentsJSON {
      json.name("attachments")
      json.value(json: attachmentsJSON)
    }
    json.endObject()
    return json.utf8
  }
}

/// The body of `POST /v1/threads/{id}/entries`: sends that succeed together or not at all.
public struct SendBatch: Sendable, Decodable {
  public struct Item: Hashable, Sendable, Decodable {
    public var id: EntryID
    public var entry: SendEntry

    enum CodingKeys: String, CodingKey, CaseIterable {
      case id, kind, text, sentAt, primaryRecipients, cc, bcc, replyTo, attachments
    }

    public init(from decoder: any Decoder) throws {
      let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
      id = try container.decode(EntryID.self, forKey: .id)
      entry = try SendEntry(from: container)
    }
  }

  public var entries: [Item]

  enum CodingKeys: String, CodingKey, CaseIterable { case entries }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
    entries = try container.decode([Item].self, forKey: .entries)
  }

  /// Throws `InvalidValue` for the first item that is not valid, and for an id that occurs twice.
  public func validate(_ limits: Limits) throws {
    guard (1...limits.batchEntries).contains(entries.count) else {
      throw InvalidValue("/entries", "must be 1 to \(limits.batchEntries)")
    }
    var seen: Set<EntryID> = []
    for (index, item) in entries.enumerated() {
      guard seen.insert(item.id).inserted else {
        throw InvalidValue("/entries/\(index)/id", "must not be there twice")
      }
      try item.entry.validate(limits, at: "/entries/\(index)")
    }
  }
}

/// The body of `PATCH /v1/threads/{id}/entries/{entryId}`. What is left out stays as it is.
public struct EditEntry: Hashable, Sendable, Codable {
  public var text: String?
  public var attachments: [Attachment]?

  public init(text: String) { self.text = text }

  enum CodingKeys: String, CodingKey, CaseIterable { case text, attachments }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
    // Null would have to mean "take it away", which no kind of entry allows.
    if container.contains(.text) { text = try container.decode(String.self, forKey: .text) }
    if container.contains(.attachments) {
      attachments = try container.decode([Attachment].self, forKey: .attachments)
    }
    if text == nil, attachments == nil {
      throw InvalidValue(at: decoder.codingPath, "must have text or attachments")
    }
  }

  /// Throws `InvalidValue` where it is over a limit.
  public func validate(_ limits: Limits) throws {
    try Entry.validate(text: text, limits, at: "")
    // The entry's own kind is known to the database only; all must be of one sort.
    try Entry.validate(
      attachments: attachments, of: hasPlaces ? .location : .file, at: "")
  }

  /// Whether the attachments are places, as those of an entry of kind `location` are.
  public var hasPlaces: Bool { attachments?.first?.latitude != nil }

  /// The attachments as a JSON array; nil where they stay as they are.
  public var attachmentsJSON: [UInt8]? { attachments.map(Entry.json(of:)) }
}

extension Entry {
  static func validate(text: String?, _ limits: Limits, at pointer: String) throws {
    guard let text else { return }
    guard (1...limits.textBytes).contains(text.utf8.count), !text.utf8.contains(0) else {
      throw InvalidValue(
        pointer + "/text", "must have 1 to \(limits.textBytes) bytes and no NUL character")
    }
  }

  static func validate(attachments: [Attachment]?, of kind: EntryKind, at pointer: String) throws {
    guard let attachments else { return }
    guard (1...Limits.attachments).contains(attachments.count) else {
      throw InvalidValue(pointer + "/attachments", "must be 1 to \(Limits.attachments)")
    }
    for (index, attachment) in attachments.enumerated() {
      try attachment.validate(for: kind, at: "\(pointer)/attachments/\(index)")
    }
  }

  static func json(of attachments: [Attachment]) -> [UInt8] {
    var json = JSONWriter()
    json.beginArray()
    for attachment in attachments { attachment.write(to: &json) }
    json.endArray()
    return json.utf8
  }
}
