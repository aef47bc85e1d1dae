import Crypto
import FoundationEssentials
import Postgres
public import PostgresWire
public import VocativeModel

/// Uploads of many users' vocabulary at once: a batch of lines is one transaction, and the strings
/// go by COPY.
extension VocabularyStore {
  /// Which job a batch belongs to.
  public struct JobPlace: Sendable, Hashable {
    /// Who runs it.
    public var principal: UserID
    /// Its idempotency key, 1 to 256 bytes.
    public var key: String
    /// The number of the batch's first line, from 1.
    public var firstLine: Int64

    public init(principal: UserID, key: String, firstLine: Int64) {
      self.principal = principal
      self.key = key
      self.firstLine = firstLine
    }
  }

  /// A batch that a job has stored before.
  public struct StoredBatch: Sendable {
    public var lines: Int
    /// The hash of the batch's lines and those before.
    public var chain: [UInt8]
    /// What they were answered.
    public var results: [UInt8]

    public init(lines: Int, chain: [UInt8], results: [UInt8]) {
      self.lines = lines
      self.chain = chain
      self.results = results
    }
  }

  /// Another request runs the same job at this moment: its batch was stored first.
  public struct JobIsRunning: Error {}

  /// The batch that a job stored from a line on; nil where there is none.
  public func jobBatch(at place: JobPlace) async throws(PostgresError) -> StoredBatch? {
    let rows = try await database.query(
      Statements.vocabularyJobBatch,
      Parameters(place.principal.string, place.key, place.firstLine))
    guard rows.count == 1 else { return nil }
    return StoredBatch(
      lines: Int(try rows[0].decode(Int32.self, at: 0)),
      chain: try rows[0].decode([UInt8].self, at: 1),
      results: try rows[0].decode([UInt8].self, at: 2))
  }

  /// Forgets what a principal's jobs stored more than seven days ago.
  public func expireJobs(of principal: UserID) async throws(PostgresError) {
    _ = try await database.transaction([
      (Statements.expireVocabularyJobs, Parameters(principal.string))
    ])
  }

  /// Stores a batch in one transaction.
  ///
  /// - Parameters:
  ///   - lines: no user and type twice.
  ///   - note: where in a job, and the batch as it is to be remembered with what the outcomes say;
  ///     nil for a job that cannot be resumed.
  /// - Throws: `PostgresError`; `JobIsRunning`.
  /// - Returns: an outcome for each line.
  public func store(
    _ lines: [VocabularyJobLine],
    noting note: (place: JobPlace, batch: @Sendable ([PutOutcome]) -> StoredBatch)? = nil
  ) async throws -> [PutOutcome] {
    let items = lines.map { Item(user: $0.userId, type: $0.type, strings: $0.strings) }
    let (outcomes, heads) = try await database.withTransaction { connection in
      var judged: Rows?
      // Of a batch without a valid line, only that it was there is noted.
      let steps = items.isEmpty ? [] : Self.steps(items, if: .none)
      for (index, step) in steps.enumerated() {
        let rows = try await connection.query(step.0, step.1)
        if index == 2 { judged = rows }
      }
      let (outcomes, heads) = try judged.map { try Self.outcomes($0, items) } ?? ([], [])
      let changed = zip(lines, outcomes).filter { _, outcome in
        if case .stored(let state) = outcome { state.count > 0 } else { false }
      }
      if !changed.isEmpty {
        try await connection.copyIn(Self.copy, VocabularyCopy(lines: changed.map(\.0)))
      }
      if let note {
        let batch = note.batch(outcomes)
        let noted = try await connection.query(
          Statements.noteVocabularyJob,
          Parameters(
            note.place.principal.string, note.place.key, note.place.firstLine,
            Int32(batch.lines), batch.chain, batch.results))
        guard noted.count == 1 else { throw JobIsRunning() }
      }
      return (outcomes, heads)
    }
    wakeUps.moved(heads)
    return outcomes
  }

  private static let copy = """
    COPY vocative.vocabulary_string
      (user_id, type, position, phrase, identifier, pronunciation_hint)
    FROM STDIN (FORMAT binary)
    """
}

/// Lines as the chunks of a binary COPY (PostgreSQL 15, "COPY", Binary Format), made as they are
/// asked for.
struct VocabularyCopy: AsyncSequence {
  typealias Element = [UInt8]
  let lines: [VocabularyJobLine]

  /// Bytes after which a chunk ends.
  private static let chunkBytes = 262_144

  struct AsyncIterator: AsyncIteratorProtocol {
    private var lines: [VocabularyJobLine].SubSequence
    private var position = 0
    private var isOpen = false
    private var isOver = false

    init(_ lines: [VocabularyJobLine]) { self.lines = lines[...] }

    mutating func next() async -> [UInt8]? {
      if isOver { return nil }
      var bytes: [UInt8] = []
      bytes.reserveCapacity(VocabularyCopy.chunkBytes + 8192)
      if !isOpen {
        bytes += Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]
        bytes += [0, 0, 0, 0, 0, 0, 0, 0]  // flags, and the length of the header's extension
        isOpen = true
      }
      while let line = lines.first {
        while position < line.strings.count {
          Self.append(line, position, to: &bytes)
          position += 1
          if bytes.count >= VocabularyCopy.chunkBytes { return bytes }
        }
        lines.removeFirst()
        position = 0
      }
      bytes += [0xFF, 0xFF]
      isOver = true
      return bytes
    }

    private static func append(
      _ line: VocabularyJobLine, _ position: Int, to bytes: inout [UInt8]
    ) {
      let string = line.strings[position]
      append(Int16(6), to: &bytes)
      append(line.userId.string, to: &bytes)
      append(line.type.rawValue, to: &bytes)
      append(Int32(4), to: &bytes)
      append(Int32(position), to: &bytes)
      append(string.phrase, to: &bytes)
      append(string.identifier, to: &bytes)
      append(string.pronunciationHint, to: &bytes)
    }

    private static func append(_ text: String?, to bytes: inout [UInt8]) {
      guard let text else { return append(Int32(-1), to: &bytes) }
      append(Int32(text.utf8.count), to: &bytes)
      bytes.append(contentsOf: text.utf8)
    }

    private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
      withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(lines) }
}

/// The chain of a job's lines: shows that what is sent again is what was sent before.
public enum JobChain {
  /// A line's link.
  public static func link(_ line: some Sequence<UInt8>) -> [UInt8] {
    Array(SHA256.hash(data: Array(line)))
  }

  /// The chain behind lines, from the one before them (empty at the beginning).
  public static func next(_ chain: [UInt8], _ links: [[UInt8]]) -> [UInt8] {
    var hash = SHA256()
    hash.update(data: chain)
    for link in links { hash.update(data: link) }
    return Array(hash.finalize())
  }
}
