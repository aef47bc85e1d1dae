import Foundation
import VocativeModel

/// One device of a user: follows the feed in a task of its own and keeps a ``Replica``.
actor Device {
  /// How it follows.
  enum Way: Sendable {
    /// By Server-Sent Events; after so many events it cuts the stream and resumes.
    case events(cutAfter: Int)
    case longPoll
  }

  let user: String
  private(set) var replica = Replica()
  /// Failures that its connections had.
  private(set) var interruptions = 0
  private(set) var failure: String?
  private let way: Way
  private var arrivals: [EntryID: ContinuousClock.Instant] = [:]

  init(of user: String, _ way: Way) {
    self.user = user
    self.way = way
  }

  /// Follows until the task is cancelled.
  ///
  /// - Parameter client: gives a client for each new connection; another replica after a failure,
  ///   where there is one.
  /// - Parameter survivesFailures: whether lost connections and 503 are part of the game.
  func follow(
    survivesFailures: Bool = false, _ client: @Sendable () -> APIClient
  ) async {
    while !Task.isCancelled, failure == nil {
      do {
        switch way {
        case .events(let cut): try await stream(client(), cutAfter: cut)
        case .longPoll: try await poll(client())
        }
      } catch {
        guard !Task.isCancelled else { return }
        interruptions += 1
        guard survivesFailures else {
          failure = "\(error)"
          return
        }
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  /// When an entry was first seen.
  func arrival(of entry: EntryID) -> ContinuousClock.Instant? { arrivals[entry] }

  private func stream(_ client: APIClient, cutAfter: Int) async throws {
    var events = 0
    try await client.events(after: replica.token) { event in
      guard event.type == "changes" else { return event.type != "reconnect" }
      let page = try JSONDecoder().decode(ChangesPage.self, from: Data(event.data.utf8))
      guard event.id == page.next else { throw ViewIsBroken(reason: "an event's id is its next") }
      try await take(page, client)
      events += 1
      return events < cutAfter
    }
  }

  private func poll(_ client: APIClient) async throws {
    let since = replica.token.map { "since=\($0)&wait=3&" } ?? ""
    let page = try await client.get("/v1/changes?\(since)limit=2", as: ChangesPage.self)
    try await take(page, client)
  }

  private func take(_ page: ChangesPage, _ client: APIClient) async throws {
    var next = replica
    try await next.apply(page, client)
    replica = next
    let now = ContinuousClock.now
    for entry in page.threads.flatMap({ $0.entries ?? [] }) where arrivals[entry.id] == nil {
      arrivals[entry.id] = now
    }
  }
}
