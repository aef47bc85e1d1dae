/// A page of a user's feed (`GET /v1/changes`, and the data of an `event: changes`).
public struct ChangesPage: Hashable, Sendable, Codable {
  public var threads: [ChangedThread]
  /// The revision of each vocabulary type that the user has; always the whole map.
  public var vocabulary: [String: Int64]
  /// The token to give as `since` next time.
  public var next: String
  /// Whether there is more already. Where it is false, the follower's view is that of one moment.
  public var hasMore: Bool
}

/// A thread in a page of changes: its state now, and its newest entries.
public struct ChangedThread: Hashable, Sendable, Codable {
  public var id: ThreadID
  /// True where the user is no longer in the thread; then nothing else is there.
  public var removed: Bool?
  public var kind: ThreadKind?
  public var subject: String?
  public var history: History?
  public var createdAt: Instant?
  public var lastActivityAt: Instant?
  public var seq: Int64?
  public var unreadCount: Int64?
  public var readUpTo: Int64?
  public var visibleFrom: Int64?
  public var participants: [Participant]?
  /// Those no longer in the thread whom its entries here name.
  public var formerParticipants: [Participant]?
  /// All that the user may see with a `seq` above `entriesFrom` and up to `entriesTo`, ascending.
  public var entries: [Entry]?
  /// The end of what is not covered: a follower that has less than this has a gap up to it.
  public var entriesFrom: Int64?
  public var entriesTo: Int64?
}

/// The state of a thread's read marker (`PUT /v1/threads/{id}/read`).
public struct ReadState: Hashable, Sendable, Codable {
  public var readUpTo: Int64
  public var unreadCount: Int64

  public init(readUpTo: Int64, unreadCount: Int64) {
    self.readUpTo = readUpTo
    self.unreadCount = unreadCount
  }
}
