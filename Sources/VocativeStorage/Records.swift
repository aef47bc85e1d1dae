import FoundationEssentials
import Postgres
import PostgresWire
public import VocativeModel

/// An entry as the database has it. JSON columns stay JSON: they go out as they came in.
public struct EntryRecord: Sendable {
  public var id: EntryID
  public var threadID: ThreadID
  public var seq: Int64
  public var createdSeq: Int64
  public var senderID: UserID
  public var kind: String
  public var text: String?
  public var sentAt: Instant
  public var receivedAt: Instant
  public var editedAt: Instant?
  public var deleted: Bool
  public var replyTo: EntryID?
  /// `{primaryRecipients?, cc?, bcc?}`, before anyone's bcc is hidden.
  public var recipients: [UInt8]?
  public var attachments: [UInt8]?
  public var system: [UInt8]?

  /// The columns that `init(_:from:)` reads, in order.
  static let columns: [PostgresType] = [
    .uuid, .uuid, .int8, .int8, .text, .text, .text, .timestamptz, .timestamptz, .timestamptz,
    .timestamptz, .uuid, .jsonb, .jsonb, .jsonb,
  ]

  /// - Parameter first: the column of the entry's id.
  init(_ row: Row, from first: Int) throws(PostgresError) {
    id = EntryID(try row.decode(UUID.self, at: first))
    threadID = ThreadID(try row.decode(UUID.self, at: first + 1))
    seq = try row.decode(Int64.self, at: first + 2)
    createdSeq = try row.decode(Int64.self, at: first + 3)
    senderID = UserID(trusted: try row.decode(String.self, at: first + 4))
    kind = try row.decode(String.self, at: first + 5)
    text = try row.decode(String?.self, at: first + 6)
    sentAt = Instant(try row.decode(Timestamp.self, at: first + 7))
    receivedAt = Instant(try row.decode(Timestamp.self, at: first + 8))
    editedAt = try row.decode(Timestamp?.self, at: first + 9).map(Instant.init)
    deleted = !row.isNull(first + 10)
    replyTo = try row.decode(UUID?.self, at: first + 11).map(EntryID.init)
    recipients = try row.decode(JSONB?.self, at: first + 12)?.utf8
    attachments = try row.decode(JSONB?.self, at: first + 13)?.utf8
    system = try row.decode(JSONB?.self, at: first + 14)?.utf8
  }
}

/// A participant, or a former one, as the database has them.
public struct ParticipantRecord: Sendable {
  public var userID: UserID
  public var role: String
  /// `{givenName?, …}`
  public var name: [UInt8]?
}

/// A thread as one of its participants sees it.
public struct ThreadRecord: Sendable {
  public var id: ThreadID
  public var kind: String
  public var history: String
  public var subject: String?
  public var createdAt: Instant
  public var lastActivityAt: Instant
  public var seq: Int64
  public var unreadCount: Int64
  public var readUpTo: Int64
  public var visibleFrom: Int64
  public var participants: [ParticipantRecord] = []
}

extension Instant {
  /// Cuts off what is below the millisecond.
  init(_ timestamp: Timestamp) {
    let (quotient, remainder) = timestamp.microseconds.quotientAndRemainder(dividingBy: 1000)
    self.init(milliseconds: remainder < 0 ? quotient - 1 : quotient)
  }

  var timestamp: Timestamp { Timestamp(microseconds: milliseconds * 1000) }
}
