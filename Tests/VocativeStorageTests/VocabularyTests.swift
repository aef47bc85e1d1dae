import FoundationEssentials
import Testing
import TestSupport
import VocativeModel
import VocativeStorage

/// Vocabulary against a model in memory; a failure replays from its printed seed.
@Suite struct VocabularyTests {
  private static let ada = UserID(trusted: "ada")
  private static let jon = UserID(trusted: "jon")

  /// What a user must have, by type.
  private struct Model {
    var strings: [VocabularyType: [VocabularyString]] = [:]
    var revisions: [VocabularyType: Int64] = [:]

    mutating func put(_ new: [VocabularyString], as type: VocabularyType) {
      guard strings[type, default: []] != new else { return }
      strings[type] = new
      revisions[type, default: 0] += 1
    }
  }

  @Test func randomPutsAndDeletesEqualAModel() async throws {
    let seed = SeededGenerator.announced().seed
    try await StorageFixture.run { fixture in
      var random = SeededGenerator(seed: seed)
      let users = (0..<3).map(UserID.init(number:))
      let types: [VocabularyType] = [.contactName, .carName, .mediaShowTitle]
      var models = [Model](repeating: Model(), count: users.count)
      for _ in 0..<150 {
        let index = Int.random(in: users.indices, using: &random)
        let type = types.randomElement(using: &random)!
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
          _ = try await fixture.storage.vocabulary.delete(type, of: users[index])
          models[index].put([], as: type)
        case 1:
          try await fixture.storage.vocabulary.deleteAll(of: users[index])
          for type in types { models[index].put([], as: type) }
        default:
          let strings = Self.strings(&random)
          let outcome = try await fixture.storage.vocabulary.put(
            strings, as: type, of: users[index])
          let before = models[index].revisions[type, default: 0]
          models[index].put(strings, as: type)
          let state = VocabularyState(
            revision: models[index].revisions[type, default: 0], count: strings.count)
          #expect(
            outcome == (state.revision == before ? .unchanged(state) : .stored(state)))
        }
      }
      for (user, model) in zip(users, models) {
        let revisions = try await fixture.storage.vocabulary.revisions(of: user)
        #expect(revisions.byType == model.revisions)
        for type in types {
          let page = try await fixture.storage.vocabulary.page(of: user, type)
          #expect(page.strings == model.strings[type, default: []])
          #expect(page.state.count == page.strings.count)
          #expect(page.state.revision == model.revisions[type, default: 0])
        }
        // The copy in the feed is what the sets say.
        let copied = try await fixture.numbers(
          """
          SELECT count(*) FROM vocative.vocabulary_set AS s
          JOIN vocative.feed AS f USING (user_id)
          WHERE (f.vocabulary ->> s.type)::int8 = s.revision AND s.user_id = '\(user)'
          """)
        #expect(copied == [Int64(model.revisions.count)])
      }
    }
  }

  private static func strings(_ random: inout SeededGenerator) -> [VocabularyString] {
    // Few enough that the same come again.
    let count = [0, 1, 1, 2, 40].randomElement(using: &random)!
    return (0..<count).map { index in
      VocabularyString(
        "\(["王一然", "Zoë", "ミ★圆圆", "👑"].randomElement(using: &random)!) \(index)",
        identifier: Bool.random(using: &random) ? nil : "id-\(index)",
        pronunciationHint: Bool.random(using: &random) ? nil : "wang")
    }
  }

  @Test func concurrentPutsGiveEachRevisionOnce() async throws {
    try await StorageFixture.run { first in
      try await first.withReplica { second in
        let revisions = try await withThrowingTaskGroup(of: Int64.self) { group in
          for number in 0..<60 {
            let storage = number % 2 == 0 ? first.storage : second.storage
            group.addTask {
              let strings = (0..<20).map { VocabularyString("\(number) \($0)") }
              let outcome = try await storage.vocabulary.put(
                strings, as: .contactName, of: Self.ada)
              guard case .stored(let state) = outcome else { return 0 }
              return state.revision
            }
          }
          var revisions: [Int64] = []
          for try await revision in group { revisions.append(revision) }
          return revisions
        }
        #expect(revisions.sorted() == Array(1...60))
        // Whole: all strings are of one put.
        let page = try await first.storage.vocabulary.page(of: Self.ada, .contactName)
        let numbers = Set(page.strings.map { $0.phrase.split(separator: " ")[0] })
        #expect(page.strings.count == 20 && numbers.count == 1)
      }
    }
  }

  @Test func writersWhoRaceWithTheSameRevisionHaveOneWinner() async throws {
    try await StorageFixture.run { fixture in
      let outcomes = try await withThrowingTaskGroup(of: VocabularyStore.PutOutcome.self) { group in
        for number in 0..<20 {
          group.addTask {
            try await fixture.storage.vocabulary.put(
              [VocabularyString("\(number)")], as: .carName, of: Self.ada,
              if: number % 2 == 0 ? .absent : .revision(0))
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let state = VocabularyState(revision: 1, count: 1)
      #expect(outcomes.count { $0 == .stored(state) } == 1)
      #expect(outcomes.count { $0 == .refused(state) } == 19)
      // The winner's call again is answered as before, though the revision is another now.
      let won = try await fixture.storage.vocabulary.page(of: Self.ada, .carName).strings
      #expect(
        try await fixture.storage.vocabulary.put(
          won, as: .carName, of: Self.ada, if: .revision(0)) == .unchanged(state))
    }
  }

  @Test func whatChangesNothingWritesNothing() async throws {
    try await StorageFixture.run { fixture in
      let strings = [VocabularyString("Mum", identifier: "m"), VocabularyString("Dad")]
      _ = try await fixture.storage.vocabulary.put(strings, as: .contactName, of: Self.ada)
      let rows = """
        SELECT xmin::text::int8 FROM vocative.vocabulary_string
        UNION ALL SELECT xmin::text::int8 FROM vocative.vocabulary_set
        UNION ALL SELECT xmin::text::int8 FROM vocative.feed
        UNION ALL SELECT seq FROM vocative.feed
        """
      let before = try await fixture.numbers(rows)
      let again = try await fixture.storage.vocabulary.put(
        strings, as: .contactName, of: Self.ada)
      #expect(again == .unchanged(VocabularyState(revision: 1, count: 2)))
      let none = try await fixture.storage.vocabulary.delete(.carName, of: Self.ada)
      #expect(none == .unchanged(VocabularyState(revision: 0, count: 0)))
      #expect(try await fixture.numbers(rows) == before)
    }
  }

  @Test func revisionsGoOnAfterADelete() async throws {
    try await StorageFixture.run { fixture in
      let vocabulary = fixture.storage.vocabulary
      let strings = [VocabularyString("Mum")]
      _ = try await vocabulary.put(strings, as: .contactName, of: Self.ada)
      _ = try await vocabulary.put(strings, as: .contactName, of: Self.jon)
      let deleted = try await vocabulary.delete(.contactName, of: Self.ada)
      #expect(deleted == .stored(VocabularyState(revision: 2, count: 0)))
      let back = try await vocabulary.put(strings, as: .contactName, of: Self.ada, if: .absent)
      #expect(back == .stored(VocabularyState(revision: 3, count: 1)))
      // Another user's is another.
      let others = try await vocabulary.page(of: Self.jon, .contactName)
      #expect(others.strings == strings && others.state.revision == 1)
      #expect(try await vocabulary.page(of: Self.jon, .carName).state.revision == 0)
    }
  }

  @Test func aFollowerLearnsOfRevisionsAndIsWoken() async throws {
    try await StorageFixture.run { fixture in
      let limits = FeedStore.PageLimits(threads: 10, entries: 10, bytes: 100_000)
      func page(_ token: FeedToken?) async throws -> FeedStore.Page {
        let outcome = try await fixture.storage.feeds.changes(
          for: Self.ada, since: token, limits: limits)
        guard case .page(let page) = outcome else { throw CancellationError() }
        return page
      }
      let empty = try await page(nil)
      #expect(empty.vocabulary == nil)
      let subscription = try #require(fixture.storage.wakeUps.follow(Self.ada, limit: 1))
      _ = try await fixture.storage.vocabulary.put(
        [VocabularyString("Mum")], as: .contactName, of: Self.ada)
      #expect(subscription.hasMoved(beyond: empty.next.cursor))
      #expect(try await fixture.storage.feeds.nothingNew(since: empty.next, for: Self.ada) == nil)
      let next = try await page(empty.next)
      #expect(next.threads.isEmpty && !next.hasMore)
      let map = Array(#"{"contactName": 1}"#.utf8)
      #expect(next.vocabulary == map)
      let quiet = try await fixture.storage.feeds.nothingNew(since: next.next, for: Self.ada)
      #expect(quiet?.vocabulary == map)
    }
  }

  @Test func pagesFollowOneAnotherToTheEnd() async throws {
    try await StorageFixture.run { fixture in
      let strings = (0..<25).map { VocabularyString("name \($0)") }
      _ = try await fixture.storage.vocabulary.put(strings, as: .photoTag, of: Self.ada)
      for (limit, bytes) in [(7, Int.max), (Int.max, 200), (25, Int.max)] {
        var found: [VocabularyString] = []
        var position: Int? = 0
        while let from = position {
          let page = try await fixture.storage.vocabulary.page(
            of: Self.ada, .photoTag, from: from, limit: limit, bytes: bytes)
          #expect(page.strings.count <= limit && !page.strings.isEmpty)
          found += page.strings
          position = page.next
        }
        #expect(found == strings)
      }
    }
  }

  @Test func whatOnesOwnThreadsGiveComesBelowWhatWasUploaded() async throws {
    try await StorageFixture.run { fixture in
      let thread = ThreadID(UUID())
      _ = try await fixture.storage.threads.create(
        thread, by: Self.ada,
        CreateThread(
          kind: .message, subject: "Climbers",
          participants: [
            .init(
              userId: Self.jon,
              name: PersonName(givenName: "Jon", familyName: "Smith", nickname: "Jonny")),
            .init(userId: UserID(trusted: "wang"), name: PersonName(display: "王一然")),
          ]))
      _ = try await fixture.storage.vocabulary.put(
        [
          VocabularyString("Mum", identifier: "mum"),
          VocabularyString("Jonny", identifier: "jon"),
        ], as: .contactName, of: Self.ada)
      let people = try await fixture.storage.vocabulary.strings(of: Self.ada, .contactName)
      #expect(people.revision == 1)
      #expect(
        people.strings == [
          .init(VocabularyString("Mum", identifier: "mum"), source: .uploaded),
          .init(VocabularyString("Jonny", identifier: "jon"), source: .uploaded),
          .init(VocabularyString("Jon Smith", identifier: "jon"), source: .participant),
          .init(VocabularyString("王一然", identifier: "wang"), source: .participant),
        ])
      let groups = try await fixture.storage.vocabulary.strings(of: Self.ada, .contactGroupName)
      #expect(
        groups.strings == [
          .init(
            VocabularyString("Climbers", identifier: thread.description), source: .thread)
        ])
      // Who is in no thread has none of it, and who was removed has none any more.
      let stranger = UserID(trusted: "stranger")
      #expect(
        try await fixture.storage.vocabulary.strings(of: stranger, .contactName).strings.isEmpty)
      _ = try await fixture.storage.threads.remove(Self.jon, from: thread, by: Self.ada)
      #expect(
        try await fixture.storage.vocabulary.strings(of: Self.jon, .contactGroupName)
          .strings.isEmpty)
      #expect(
        try await fixture.storage.vocabulary.strings(of: Self.ada, .contactName).strings.count == 3)
    }
  }

  /// What an index is kept by: it changes with the names in a thread, and with nothing else.
  @Test func fingerprintsChangeWithNamesAlone() async throws {
    try await StorageFixture.run { fixture in
      let threads = (0..<2).map { _ in ThreadID(UUID()) }
      for thread in threads {
        _ = try await fixture.storage.threads.create(
          thread, by: Self.ada,
          CreateThread(
            kind: .message,
            participants: [.init(userId: Self.jon, name: PersonName(display: "Jon Smith"))]))
      }
      let vocabulary = fixture.storage.vocabulary
      let before = try await vocabulary.names(of: Self.ada, since: -1)
      #expect(Set(before.keys) == Set(threads))
      let head = try await vocabulary.head(of: Self.ada, .contactName)
      #expect(head.revision == 0)
      #expect(try await vocabulary.names(of: Self.ada, since: head.feed).isEmpty)

      // The caller's own name is no part of what is resolved.
      let me = PutParticipant(name: PersonName(display: "Ada"))
      _ = try await fixture.storage.threads.put(
        Self.ada, into: threads[0], by: Self.ada, me, limit: 10)
      let own = try await vocabulary.names(of: Self.ada, since: head.feed)
      #expect(own == [threads[0]: before[threads[0]]!])

      let renamed = PutParticipant(name: PersonName(display: "Jonathan Smith"))
      _ = try await fixture.storage.threads.put(
        Self.jon, into: threads[1], by: Self.ada, renamed, limit: 10)
      let other = try await vocabulary.names(of: Self.ada, since: head.feed)
      #expect(other[threads[0]] == before[threads[0]])
      #expect(other[threads[1]] != before[threads[1]])

      _ = try await fixture.storage.threads.remove(Self.jon, from: threads[1], by: Self.ada)
      #expect(try await vocabulary.names(of: Self.jon, since: -1)[threads[1]] == .some(nil))
      #expect(try await vocabulary.names(of: Self.ada, since: head.feed)[threads[1]] == 0)
      _ = try await vocabulary.put(
        [VocabularyString("Mum")], as: .contactName, of: Self.ada)
      #expect(try await vocabulary.head(of: Self.ada, .contactName).revision == 1)
      #expect(try await vocabulary.head(of: Self.ada, .photoTag).revision == 0)
    }
  }

  @Test func appVocabularyIsReplacedByLocale() async throws {
    try await StorageFixture.run { fixture in
      let store = fixture.storage.appVocabulary
      let one = AppVocabulary(
        terms: [
          .init(
            parameters: ["INStartWorkoutIntent.workoutName"], identifier: "hiit",
            synonyms: [.init("高强度间歇", pronunciation: "gao", examples: ["a"]), .init("HIIT")])
        ], examples: [.init(intent: "INStartWorkoutIntent", examples: ["b"])])
      let other = AppVocabulary(terms: [], examples: [])
      let first = try await store.put(one, for: "zh-Hans")
      let again = try await store.put(one, for: "zh-Hans")
      let changed = try await store.put(other, for: "zh-Hans")
      let english = try await store.put(one, for: "en")
      #expect(first == .stored(revision: 1) && again == .unchanged(revision: 1))
      #expect(changed == .stored(revision: 2) && english == .stored(revision: 1))
      let all = try await store.all()
      #expect(
        all == [
          .init(locale: "en", revision: 1, vocabulary: one),
          .init(locale: "zh-Hans", revision: 2, vocabulary: other),
        ])
    }
  }

  /// A batch of a job is one transaction: what it notes is there if and only if its strings are.
  @Test func aJobsBatchIsStoredAndNotedTogether() async throws {
    try await StorageFixture.run { fixture in
      let vocabulary = fixture.storage.vocabulary
      let lines = (0..<300).map { number in
        VocabularyJobLine(
          userId: UserID(number: number), type: .contactName,
          strings: (0..<20).map {
            VocabularyString(
              "王 \(number) \($0)", identifier: $0 % 2 == 0 ? "\($0)" : nil,
              pronunciationHint: $0 % 3 == 0 ? "wang" : nil)
          })
      }
      let place = VocabularyStore.JobPlace(principal: Self.ada, key: "k", firstLine: 1)
      let outcomes = try await vocabulary.store(
        lines,
        noting: (
          place, { .init(lines: $0.count, chain: [1], results: [UInt8](repeating: 7, count: 3)) }
        ))
      let state = VocabularyState(revision: 1, count: 20)
      #expect(outcomes == lines.map { _ in .stored(state) })
      for number in [0, 17, 299] {
        let page = try await vocabulary.page(of: lines[number].userId, .contactName)
        #expect(page.strings == lines[number].strings)
      }
      let noted = try #require(try await vocabulary.jobBatch(at: place))
      #expect(noted.lines == 300 && noted.chain == [1] && noted.results == [7, 7, 7])
      // The same place again: all of it is rolled back.
      let changed = [
        VocabularyJobLine(
          userId: lines[0].userId, type: .contactName, strings: [VocabularyString("other")])
      ]
      await #expect(throws: VocabularyStore.JobIsRunning.self) {
        try await vocabulary.store(
          changed, noting: (place, { .init(lines: $0.count, chain: [2], results: []) }))
      }
      let page = try await vocabulary.page(of: lines[0].userId, .contactName)
      #expect(page.strings == lines[0].strings && page.state.revision == 1)
      // What is the same writes nothing, and an empty list removes.
      let same = try await vocabulary.store([lines[1]])
      #expect(same == [.unchanged(state)])
      let emptied = VocabularyJobLine(userId: lines[1].userId, type: .contactName, strings: [])
      let removed = try await vocabulary.store([emptied])
      #expect(removed == [.stored(VocabularyState(revision: 2, count: 0))])
    }
  }

  /// Jobs and devices write the same users at the same time, in any order; neither waits for ever.
  @Test(.timeLimit(.minutes(1))) func jobsAndDevicesDoNotBlockEachOther() async throws {
    try await StorageFixture.run { first in
      try await first.withReplica { second in
        let users = (0..<40).map(UserID.init(number:))
        try await withThrowingTaskGroup(of: Void.self) { group in
          for (lane, storage) in [first.storage, second.storage, first.storage].enumerated() {
            group.addTask {
              for round in 0..<15 {
                let order = lane == 0 ? users : users.reversed()
                _ = try await storage.vocabulary.store(
                  order.map { user in
                    VocabularyJobLine(
                      userId: user, type: .contactName,
                      strings: [VocabularyString("\(lane) \(round)")])
                  })
              }
            }
          }
          for user in users {
            group.addTask {
              for round in 0..<5 {
                _ = try await second.storage.vocabulary.put(
                  [VocabularyString("device \(round)")], as: .contactName, of: user)
              }
            }
          }
          try await group.waitForAll()
        }
        for user in users {
          let page = try await first.storage.vocabulary.page(of: user, .contactName)
          #expect(page.strings.count == 1 && page.state.revision == 50)
        }
      }
    }
  }
}
