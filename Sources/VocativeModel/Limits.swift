/// What a request may ask for. Every limit of the wire is here.
public struct Limits: Hashable, Sendable {
  /// Bytes of UTF-8 in an entry's text.
  public var textBytes = 65_536
  /// Participants of a thread.
  public var participants = 1000
  /// Entries in one batch.
  public var batchEntries = 100
  /// Bytes of a request's body.
  public var bodyBytes = 1_048_576
  /// Seconds that a request's body may take to arrive.
  public var bodySeconds = 60
  /// Items of a page, when the request does not say.
  public var defaultPage = 50
  /// Items of a page, at most.
  public var maximumPage = 200
  /// Bytes after which a page ends, whatever its limit of items: what reaches them still comes
  /// whole. An answer is never much larger than this and one thread's part of it.
  public var pageBytes = 4_194_304
  /// Entries that a thread brings along in a page of changes.
  public var entriesPerThread = 20
  /// Seconds that a long-poll may wait.
  public var longPollSeconds = 30
  /// Event streams and long-polls of one user at one replica, at the same time.
  public var streamsPerUser = 16
  /// Strings of one type of vocabulary.
  public var vocabularyStrings = 20_000
  /// Bytes of UTF-8 in each part of a vocabulary string.
  public var vocabularyStringBytes = 1024
  /// Bytes of a body, or of a job's line, that holds the strings of one type.
  public var vocabularyBytes = 8_388_608

  /// Phrases in one call of resolve.
  public var resolvePhrases = 100
  /// Bytes that the indexes of all users' vocabularies take in memory.
  public var indexBytes = 268_435_456

  public init() {}

  /// Bytes of UTF-8 in a thread's subject (the longest line of RFC 5322, section 2.1.1).
  public static let subjectBytes = 998
  /// Bytes of UTF-8 in each part of a name.
  public static let nameBytes = 256
  /// Attachments of an entry.
  public static let attachments = 32
  /// Bytes of an attachment's URL.
  public static let urlBytes = 2048
  /// Bytes of an attachment's other strings.
  public static let attachmentTextBytes = 256
}
