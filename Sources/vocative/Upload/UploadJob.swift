import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import VocativeModel

/// An upload: its lines in order.
struct UploadJob: Sendable {
  /// The body, in pieces of whole lines.
  private let pieces: [ByteBuffer]
  let lines: Int
  /// SHA-256 of the lines, in hexadecimal.
  let digest: String

  private static let pieceBytes = 262_144

  /// - Parameter lines: without their ends.
  init(lines: [[UInt8]]) {
    var hash = SHA256()
    var pieces: [ByteBuffer] = []
    var piece = ByteBuffer()
    for line in lines {
      piece.writeBytes(line)
      piece.writeInteger(UInt8(ascii: "\n"))
      if piece.readableBytes >= Self.pieceBytes {
        pieces.append(piece)
        piece = ByteBuffer()
      }
    }
    if piece.readableBytes > 0 { pieces.append(piece) }
    for piece in pieces { piece.withUnsafeReadableBytes { hash.update(bufferPointer: $0) } }
    self.pieces = pieces
    self.lines = lines.count
    digest = hash.finalize().map { hexadecimal($0) }.joined()
  }

  private var byteCount: Int64 { pieces.reduce(0) { $0 + Int64($1.readableBytes) } }

  /// Uploads, and tries again while that may help; calls `progress` for each result, once.
  ///
  /// - Parameters:
  ///   - key: the same while it is the same upload.
  ///   - retries: tries in a row that bring nothing further, at most.
  /// - Throws: `UploadFailure`.
  func run(
    over connection: ServiceConnection, as key: UploadKey, retries: Int,
    progress: (VocabularyJobResult) -> Void, waiting: (UploadFailure, Duration) -> Void
  ) async throws -> VocabularyJobSummary {
    var seen: Int64 = 0
    var failures = 0
    while true {
      let before = seen
      do {
        return try await attempt(connection, key) { result in
          guard result.line > seen else { return }
          seen = result.line
          progress(result)
        }
      } catch let failure as UploadFailure where failure.isTemporary {
        failures = seen > before ? 1 : failures + 1
        guard failures <= retries else { throw failure }
        // Half fixed, half chance, so that several jobs do not come back together.
        let most = Double(min(30, 1 << min(failures - 1, 5)))
        let delay = Duration.seconds(Double.random(in: most / 2...most))
        waiting(failure, delay)
        try await Task.sleep(for: delay)
      }
    }
  }

  private func attempt(
    _ connection: ServiceConnection, _ key: UploadKey, _ progress: (VocabularyJobResult) -> Void
  ) async throws -> VocabularyJobSummary {
    var request = connection.request("POST", "/v1/jobs/vocabulary")
    request.headers.add(name: "Content-Type", value: "application/x-ndjson")
    request.headers.add(name: "Idempotency-Key", value: key.string)
    request.body = .stream(Pieces(pieces: pieces), length: .known(byteCount))
    do {
      let response = try await connection.http.execute(request, timeout: .hours(24))
      guard response.status == .ok else {
        let body = try await response.body.collect(upTo: 1 << 20)
        throw UploadFailure(status: response.status.code, Data(body.readableBytesView))
      }
      var partial = ByteBuffer()
      for try await part in response.body {
        partial.writeImmutableBuffer(part)
        while let end = partial.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
          let length = end - partial.readerIndex + 1
          let line = Data(partial.readBytes(length: length)!)
          if let summary = try Self.read(line, progress) { return try Self.judged(summary) }
        }
        partial.discardReadBytes()
      }
      throw UploadFailure(.temporary, "the service ended the job without a summary")
    } catch let failure as UploadFailure {
      throw failure
    } catch let error as CancellationError {
      throw error
    } catch {
      // Nothing of the connection's own kind of errors is for ever.
      throw UploadFailure(.temporary, "the service cannot be reached: \(error)")
    }
  }

  private struct AnyLine: Decodable { var done: Bool? }

  /// Nil for a result, which `progress` gets.
  private static func read(
    _ line: Data, _ progress: (VocabularyJobResult) -> Void
  ) throws -> VocabularyJobSummary? {
    do {
      if try JSONDecoder().decode(AnyLine.self, from: line).done != nil {
        return try JSONDecoder().decode(VocabularyJobSummary.self, from: line)
      }
      progress(try JSONDecoder().decode(VocabularyJobResult.self, from: line))
      return nil
    } catch {
      throw UploadFailure(.protocolError, "the service's answer cannot be read")
    }
  }

  private static func judged(_ summary: VocabularyJobSummary) throws -> VocabularyJobSummary {
    guard !summary.done else { return summary }
    let problem = summary.problem
    let text = "the job has stopped: \(problem?.detail ?? problem?.title ?? "no reason is given")"
    let isTemporary = (problem?.status ?? 503) >= 500 || problem?.code == "job-running"
    throw UploadFailure(isTemporary ? .temporary : .protocolError, text)
  }

  /// The body; the client asks for the next piece when the last one is sent.
  private struct Pieces: AsyncSequence, Sendable {
    typealias Element = ByteBuffer
    let pieces: [ByteBuffer]

    struct AsyncIterator: AsyncIteratorProtocol {
      var rest: ArraySlice<ByteBuffer>
      mutating func next() async -> ByteBuffer? { rest.popFirst() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: pieces[...]) }
  }
}
