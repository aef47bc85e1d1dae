import FoundationEssentials
import Testing
import TestSupport
import VocativeModel
import VocativeStorage

@Suite struct WakeUpTests {
  private static let ada = UserID(trusted: "ada")
  private static let jon = UserID(trusted: "jon")

  /// A thread of Ada and Jon.
  private static func thread(_ storage: Storage) async throws -> ThreadID {
    let thread = ThreadID(UUID())
    _ = try await storage.threads.create(
      thread, by: ada,
      CreateThread(kind: .message, participants: [.init(userId: jon)]))
    return thread
  }

  @Test func aSendWakesFollowersHereAndAtOtherReplicas() async throws {
    try await StorageFixture.run { first in
      try await first.withReplica { second in
        let thread = try await Self.thread(first.storage)
        try await withThrowingTaskGroup(of: Void.self) { group in
          for (fixture, name) in [(first, "aaaaaaaa"), (second, "bbbbbbbb")] {
            group.addTask {
              await fixture.storage.wakeUps.run(
                fixture.client, replica: name, heartbeat: .seconds(3600), poll: .seconds(3600),
                logger: StorageFixture.quiet)
            }
          }
          let here = try #require(first.storage.wakeUps.follow(Self.jon, limit: 1))
          let there = try #require(second.storage.wakeUps.follow(Self.jon, limit: 1))
          #expect(first.storage.wakeUps.follow(Self.jon, limit: 1) == nil)
          // Listening begins with a signal to all; a send before it would tell nothing.
          var signals = there.signals.makeAsyncIterator()
          _ = await signals.next()
          _ = there.hasMoved(beyond: .max)
          _ = try await first.storage.entries.send(
            [(EntryID(UUID()), SendEntry(text: "hello"))], to: thread, from: Self.ada)
          #expect(here.hasMoved(beyond: 0))
          while await signals.next() != nil {
            if there.hasMoved(beyond: .max) { break }
          }
          group.cancelAll()
        }
      }
    }
  }

  @Test func whenAllHintsAreLostThePollFindsWhatMoved() async throws {
    try await StorageFixture.run { first in
      try await first.withReplica { second in
        let thread = try await Self.thread(first.storage)
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            // Under the sender's own name: its notifications are taken for this replica's own.
            await second.storage.wakeUps.run(
              second.client, replica: "aaaaaaaa", heartbeat: .seconds(3600),
              poll: .milliseconds(20), logger: StorageFixture.quiet)
          }
          let subscription = try #require(second.storage.wakeUps.follow(Self.jon, limit: 1))
          _ = try await first.storage.entries.send(
            [(EntryID(UUID()), SendEntry(text: "hello"))], to: thread, from: Self.ada)
          try await eventually { subscription.hasMoved(beyond: 1) }
          group.cancelAll()
        }
      }
    }
  }

  @Test func aSubscriptionThatEndsIsForgotten() throws {
    let wakeUps = WakeUps()
    do {
      let subscription = try #require(wakeUps.follow(Self.ada, limit: 1))
      #expect(wakeUps.followers == 1)
      subscription.cancel()
      #expect(wakeUps.followers == 0)
      _ = try #require(wakeUps.follow(Self.ada, limit: 1))
    }
    #expect(wakeUps.followers == 0)
  }
}
