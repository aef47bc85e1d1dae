import FoundationEssentials
import Hummingbird
import Logging
import NIOCore
import PostgresWire
import ServiceLifecycle
import VocativeModel
import VocativeStorage

/// One run of an upload job: lines come in, batches are stored, results go out.
struct VocabularyJob: Sendable {
  let storage: Storage
  let limits: Limits
  let principal: UserID
  /// The idempotency key; nil for a job that cannot be resumed.
  let key: String?
  let logger: Logger

  /// Runs to the end of the body, or to the first failure of the database.
  func run(_ body: RequestBody, _ writer: inout any ResponseBodyWriter) async throws {
    let queue = JobLineQueue()
    let limits = limits
    // Reading costs as much as storing; it goes on beside it, and not on the event loop.
    let reading = Task(executorPreference: globalConcurrentExecutor) {
      await Self.read(body, limits, into: queue)
    }
    do {
      try await withTaskCancellationHandler {
        try await withGracefulShutdownHandler {
          try await store(from: queue, &writer)
        } onGracefulShutdown: {
          // What is under way is stored; the client goes on with it at another replica.
          Task { await queue.fail(ServiceError(.unavailable)) }
        }
      } onCancel: {
        reading.cancel()
      }
    } catch {
      reading.cancel()
      await queue.stop()
      await reading.value
      throw error
    }
    await queue.stop()
    reading.cancel()
    await reading.value
  }

  private static func read(
    _ body: RequestBody, _ limits: Limits, into queue: JobLineQueue
  ) async {
    var reader = JobLineReader(limits)
    do {
      for try await part in body {
        guard await queue.put(reader.read(part)) else { return }
      }
      if let last = reader.finish() { _ = await queue.put([last]) }
      await queue.finish()
    } catch {
      await queue.fail(error)
    }
  }

  private func store(
    from queue: JobLineQueue, _ writer: inout any ResponseBodyWriter
  ) async throws {
    var progress = Progress()
    do {
      if let key { try await resume(key, queue, &progress, &writer) }
      while true {
        let batch = try await queue.next()
        if batch.isEmpty { break }
        try await store(batch, &progress, &writer)
      }
      progress.summary.done = true
    } catch let error as ServiceError {
      progress.summary.problem = error.problem
    } catch is VocabularyStore.JobIsRunning {
      progress.summary.problem = .jobIsRunning
    } catch let error as PostgresError {
      logger.warning("an upload job stops", metadata: ["error": "\(error)"])
      progress.summary.problem = ServiceError(error).problem
    }
    var json = JSONWriter()
    progress.summary.write(to: &json)
    try await writer.write(ByteBuffer(bytes: json.utf8 + [UInt8(ascii: "\n")]))
  }

  /// Where the job is.
  private struct Progress {
    var summary = VocabularyJobSummary()
    var chain: [UInt8] = []
    var nextLine: Int64 = 1
  }

  /// Answers the lines that an earlier run has stored.
  private func resume(
    _ key: String, _ queue: JobLineQueue, _ progress: inout Progress,
    _ writer: inout any ResponseBodyWriter
  ) async throws {
    try await storage.vocabulary.expireJobs(of: principal)
    while let stored = try await storage.vocabulary.jobBatch(
      at: .init(principal: principal, key: key, firstLine: progress.nextLine))
    {
      var links: [[UInt8]] = []
      while links.count < stored.lines {
        let lines = try await queue.next(atMost: stored.lines - links.count)
        if lines.isEmpty { throw ServiceError(.jobMismatch) }
        links += lines.map(\.link)
      }
      progress.chain = JobChain.next(progress.chain, links)
      guard progress.chain == stored.chain else { throw ServiceError(.jobMismatch) }
      progress.nextLine += Int64(stored.lines)
      for line in stored.results.split(separator: UInt8(ascii: "\n")) {
        progress.summary.add(
          try JSONDecoder().decode(VocabularyJobResult.self, from: Data(line)))
      }
      if !stored.results.isEmpty { try await writer.write(ByteBuffer(bytes: stored.results)) }
    }
  }

  private func store(
    _ batch: [JobLine], _ progress: inout Progress, _ writer: inout any ResponseBodyWriter
  ) async throws {
    let lines = batch.compactMap { line in
      if case .line(let line) = line.content { line } else { nil }
    }
    let chain = JobChain.next(progress.chain, batch.map(\.link))
    var note:
      (
        VocabularyStore.JobPlace,
        @Sendable ([VocabularyStore.PutOutcome]) -> VocabularyStore.StoredBatch
      )?
    if let key {
      note = (
        VocabularyStore.JobPlace(
          principal: principal, key: key, firstLine: progress.nextLine),
        { outcomes in
          VocabularyStore.StoredBatch(
            lines: batch.count, chain: chain, results: Self.text(Self.results(batch, outcomes)))
        }
      )
    }
    let outcomes = try await storage.vocabulary.store(lines, noting: note)
    let results = Self.results(batch, outcomes)
    progress.chain = chain
    progress.nextLine += Int64(batch.count)
    for result in results { progress.summary.add(result) }
    if !results.isEmpty { try await writer.write(ByteBuffer(bytes: Self.text(results))) }
  }

  private static func results(
    _ batch: [JobLine], _ outcomes: [VocabularyStore.PutOutcome]
  ) -> [VocabularyJobResult] {
    var outcomes = outcomes[...]
    return batch.compactMap { line in
      switch line.content {
      case .blank: return nil
      case .bad(let problem):
        var result = VocabularyJobResult(line: line.number, status: .failed)
        result.problem = problem
        return result
      case .line(let content):
        guard let outcome = outcomes.popFirst() else { return nil }
        return Self.result(line.number, content, outcome)
      }
    }
  }

  private static func result(
    _ number: Int64, _ line: VocabularyJobLine, _ outcome: VocabularyStore.PutOutcome
  ) -> VocabularyJobResult {
    var result = VocabularyJobResult(line: number, status: .stored)
    result.userId = line.userId
    result.type = line.type
    switch outcome {
    case .stored(let state):
      (result.revision, result.count) = (state.revision, state.count)
    case .unchanged(let state):
      result.status = .unchanged
      (result.revision, result.count) = (state.revision, state.count)
    case .refused(let state):
      result.status = .failed
      result.problem = .revisionMismatch(state.revision)
    }
    return result
  }

  private static func text(_ results: [VocabularyJobResult]) -> [UInt8] {
    var bytes: [UInt8] = []
    for result in results {
      var json = JSONWriter()
      result.write(to: &json)
      bytes += json.utf8
      bytes.append(UInt8(ascii: "\n"))
    }
    return bytes
  }
}
