import NIOCore
import VocativeModel
import VocativeStorage

/// A line of a job's body, read.
struct JobLine: Sendable {
  enum Content: Sendable {
    case line(VocabularyJobLine)
    case bad(Problem)
    /// White space; it is counted and not answered.
    case blank
  }

  /// From 1.
  var number: Int64
  /// The line's bytes, or of a line that was too long its beginning.
  var link: [UInt8]
  var content: Content
  /// Bytes that it had.
  var weight: Int

  /// The user and type that it writes.
  var target: Target? {
    guard case .line(let line) = content else { return nil }
    return Target(user: line.userId, type: line.type)
  }

  struct Target: Hashable {
    var user: UserID
    var type: VocabularyType
  }
}

/// Cuts a body into lines, and reads them.
struct JobLineReader {
  private let limits: Limits
  private var partial: [UInt8] = []
  private var isTooLong = false
  private var number: Int64 = 0

  init(_ limits: Limits) { self.limits = limits }

  /// The lines that end in `part`.
  mutating func read(_ part: ByteBuffer) -> [JobLine] {
    var lines: [JobLine] = []
    var rest = part.readableBytesView
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      append(rest[rest.startIndex..<end])
      lines.append(take())
      rest = rest[(end + 1)...]
    }
    append(rest)
    return lines
  }

  /// The last line, where no line's end closes it.
  mutating func finish() -> JobLine? { partial.isEmpty ? nil : take() }

  private mutating func append(_ bytes: ByteBufferView) {
    if partial.count + bytes.count > limits.vocabularyBytes {
      isTooLong = true
      partial.append(contentsOf: bytes.prefix(limits.vocabularyBytes - partial.count))
    } else {
      partial.append(contentsOf: bytes)
    }
  }

  private mutating func take() -> JobLine {
    number += 1
    let content: JobLine.Content
    if isTooLong {
      content = .bad(.lineTooLong(limits.vocabularyBytes))
    } else if partial.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }) {
      content = .blank
    } else {
      content = Self.content(partial, limits)
    }
    let line = JobLine(
      number: number, link: JobChain.link(partial), content: content, weight: partial.count)
    partial.removeAll(keepingCapacity: true)
    isTooLong = false
    return line
  }

  private static func content(_ bytes: [UInt8], _ limits: Limits) -> JobLine.Content {
    do {
      return .line(
        try JSONBody.read(ByteBuffer(bytes: bytes)) { try VocabularyJobLine(json: $0, limits) })
    } catch let error as ServiceError {
      return .bad(error.problem)
    } catch {
      return .bad(.notJSON)
    }
  }
}

/// Lines between the task that reads them and the one that stores them: what has come while a batch
/// was stored is the next batch. Holds the reader back while it is full.
actor JobLineQueue {
  private var lines: [JobLine] = []
  private var weight = 0
  private var isOver = false
  private var isStopped = false
  private var failure: (any Error)?
  /// Whichever side waits: the storing one while the queue is empty, the reading one while it is
  /// full.
  private var waiting: CheckedContinuation<Void, Never>?

  private static let maximumWeight = 4_194_304
  private static let maximumLines = 4096
  /// Lines of one transaction; its locks are held that long.
  private static let batchLines = 512
  private static let batchWeight = 2_097_152

  /// Adds lines; returns when there is room for more, or false when nobody takes them any more.
  func put(_ new: [JobLine]) async -> Bool {
    guard !isOver else { return false }
    lines += new
    weight += new.reduce(0) { $0 + $1.weight }
    wake()
    while !isStopped, !isOver,
      weight >= Self.maximumWeight || lines.count >= Self.maximumLines
    {
      await wait()
    }
    return !isStopped && !isOver
  }

  /// No line will come any more, as the body is over.
  func finish() {
    isOver = true
    wake()
  }

  /// No line is to be taken any more, and whoever asks for one is told why.
  func fail(_ failure: any Error) {
    isOver = true
    self.failure = self.failure ?? failure
    wake()
  }

  /// No line will be taken any more.
  func stop() {
    isStopped = true
    wake()
  }

  /// The next batch: at least one line, none that writes what another one of it writes; none at the
  /// end.
  ///
  /// - Parameter limit: lines at most.
  func next(atMost limit: Int = batchLines) async throws -> [JobLine] {
    while true {
      if isStopped { throw CancellationError() }
      if let failure { throw failure }
      if !lines.isEmpty { break }
      if isOver { return [] }
      await wait()
    }
    var targets: Set<JobLine.Target> = []
    var batchWeight = 0
    var count = 0
    for line in lines.prefix(min(limit, Self.batchLines)) {
      if let target = line.target, !targets.insert(target).inserted { break }
      if count > 0, batchWeight + line.weight > Self.batchWeight { break }
      batchWeight += line.weight
      count += 1
    }
    let batch = Array(lines.prefix(count))
    lines.removeFirst(count)
    weight -= batchWeight
    wake()
    return batch
  }

  private func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiting = $0 }
    } onCancel: {
      Task { await self.stop() }
    }
  }

  private func wake() {
    waiting?.resume()
    waiting = nil
  }
}
