public import PostgresWire
import VocativeSQL

/// The named statements of `sql/queries`, with the types that the code gives and takes. A test
/// prepares each against the migrated schema and compares.
public enum Statements {
  /// All of them.
  public static let all: [Statement] = [
    lockThreads, lockFeeds, lockFeed, threadsAdvance, sendEntries, editEntry, deleteEntry,
    entriesPage,
    feedHead, feedHeads, changesPage, markRead, createThread, ensureFeeds, putParticipants,
    removeParticipant, formerParticipant, systemEntries, threadState, threadParticipants,
    threadsPage, wake,
    putVocabulary, clearVocabulary, fillVocabulary, vocabularyPage, vocabularyParticipants,
    vocabularySubjects, vocabularyHead, vocabularyMoved, vocabularyRecency,
    vocabularyJobBatch, noteVocabularyJob, expireVocabularyJobs,
    putAppVocabulary, appVocabulary,
    threadBetween, threadsTaken, threadsJoined, entrySent,
    installation,
  ]

  static let lockThreads = Statement("lock_threads", [.uuidArray, .textArray], [.text])
  static let lockFeeds = Statement("lock_feeds", [.textArray], [.int8])
  static let lockFeed = Statement("lock_feed", [.text], [.text])
  static let threadsAdvance = Statement("threads_advance", [.uuidArray], [.text, .int8])
  static let sendEntries = Statement(
    "entries_send",
    [
      .uuidArray, .uuidArray, .int4Array, .textArray, .textArray, .textArray, .timestamptzArray,
      .uuidArray, .jsonbArray, .jsonbArray, .byteaArray,
    ],
    [.text] + EntryRecord.columns)
  static let editEntry = Statement(
    "entry_edit", [.uuid, .uuid, .text, .bool, .text, .bool, .jsonb, .bool],
    [.text] + EntryRecord.columns)
  static let deleteEntry = Statement("entry_delete", [.uuid, .uuid, .text], [.text])
  static let entriesPage = Statement(
    "entries_page", [.uuid, .text, .int8, .int8, .bool, .int8, .int8],
    EntryRecord.columns + [.int8])
  static let feedHead = Statement("feed_head", [.text], [.uuid, .int8, .jsonb])
  static let feedHeads = Statement("feed_heads", [.textArray], [.text, .int8])
  static let changesPage = Statement(
    "changes_page", [.text, .int8, .int8, .int8, .int8, .int8, .int8],
    [.int2, .int8, .uuid, .uuid] + EntryRecord.columns[2...] + [
      .bool, .bool, .text, .int8, .int8, .int8, .int8, .int8,
    ])
  static let markRead = Statement(
    "read_mark", [.text, .uuid, .int8, .int8], [.int8, .int8, .int8, .bool])
  static let createThread = Statement(
    "thread_create", [.uuid, .text, .text, .text, .text, .bytea], [.uuid])
  static let ensureFeeds = Statement("feeds_ensure", [.textArray], [])
  static let putParticipants = Statement(
    "participants_put", [.uuid, .textArray, .textArray, .jsonbArray, .int8, .int8],
    [.text, .int8])
  static let removeParticipant = Statement("participant_remove", [.uuid, .text], [.text, .int8])
  static let formerParticipant = Statement(
    "participant_former", [.uuid, .text], [.timestamptz])
  static let systemEntries = Statement(
    "entry_system", [.uuid, .uuidArray, .textArray, .jsonbArray], [])
  static let threadState = Statement("thread_state", [.uuid, .text], threadColumns)
  static let threadParticipants = Statement(
    "thread_participants", [.uuidArray, .text], [.uuid, .text, .text, .jsonb, .timestamptz])
  static let threadsPage = Statement(
    "threads_page", [.text, .timestamptz, .uuid, .int8], threadColumns)
  static let wake = Statement("wake", [.text], [.void, .text])
  static let putVocabulary = Statement(
    "vocabulary_put", [.textArray, .textArray, .byteaArray, .int4Array, .int8Array],
    [.text, .int8, .int4, .int8])
  static let clearVocabulary = Statement("vocabulary_clear", [.textArray, .textArray], [])
  static let fillVocabulary = Statement(
    "vocabulary_fill", [.text, .text, .textArray, .textArray, .textArray], [])
  static let vocabularyPage = Statement(
    "vocabulary_page", [.text, .text, .int8, .int8, .int8],
    [.int8, .int4, .timestamptz, .int4, .text, .text, .text])
  static let vocabularyParticipants = Statement(
    "vocabulary_participants", [.text, .int8], [.text, .jsonb])
  static let vocabularyRecency = Statement(
    "vocabulary_recency", [.text, .textArray, .uuidArray], [.text, .timestamptz])
  static let threadBetween = Statement("thread_between", [.text, .textArray], [.uuid])
  static let threadsTaken = Statement("threads_taken", [.uuidArray], [.uuid])
  static let threadsJoined = Statement("threads_joined", [.text, .uuidArray], [.uuid])
  static let entrySent = Statement("entry_sent", [.uuid, .uuid, .text], EntryRecord.columns)
  static let vocabularySubjects = Statement("vocabulary_subjects", [.text, .int8], [.uuid, .text])
  static let vocabularyHead = Statement("vocabulary_head", [.text, .text], [.int8, .int8])
  static let vocabularyMoved = Statement("vocabulary_moved", [.text, .int8], [.uuid, .int8])
  static let vocabularyJobBatch = Statement(
    "vocabulary_job_batch", [.text, .text, .int8], [.int4, .bytea, .bytea])
  static let noteVocabularyJob = Statement(
    "vocabulary_job_note", [.text, .text, .int8, .int4, .bytea, .bytea], [.int8])
  static let expireVocabularyJobs = Statement("vocabulary_job_expire", [.text], [])
  static let putAppVocabulary = Statement(
    "app_vocabulary_put", [.text, .jsonb, .jsonb], [.int8, .bool])
  static let appVocabulary = Statement(
    "app_vocabulary_all", [], [.text, .int8, .jsonb, .jsonb])
  static let installation = Statement("installation", [], [.uuid, .bytea, .int4])

  private static let threadColumns: [PostgresType] = [
    .uuid, .text, .text, .text, .text, .bytea, .timestamptz, .timestamptz, .int8, .int8, .int8,
    .int8,
  ]
}

extension Statement {
  /// The statement in `sql/queries/NAME.sql`.
  fileprivate init(_ name: String, _ parameters: [PostgresType], _ columns: [PostgresType]) {
    self.init(name: name, sql: SQL.query(name), parameters: parameters, columns: columns)
  }
}
