import Foundation
import TestSupport
import Testing
import VocativeModel

extension ProcessTests {
  /// The embedded default: the service with no database but the one that it runs itself.
  struct EmbeddedDatabaseTests {
    @Test(.timeLimit(.minutes(2)))
    func dataSurvivesThePowerCutAndNothingIsLeftBehind() async throws {
      let first = try await RunningService.start()
      let directory = first.dataDirectory
      let path = "/v1/threads/\(lowercased(UUID()))"
      var acknowledged: Set<EntryID> = []
      var token = ""
      try await APIClient.run(first, user: "ada") { ada in
        #expect(
          try await ada.call(.PUT, path, #"{"kind":"message","participants":[]}"#).status == 201)
        token = try await ada.get("/v1/changes", as: ChangesPage.self).next
        try await withThrowingTaskGroup(of: Set<EntryID>.self) { group in
          for _ in 0..<4 {
            group.addTask {
              var stored: Set<EntryID> = []
              while let id = try? await Self.send(ada, path) { stored.insert(id) }
              return stored
            }
          }
          try await eventually(within: .seconds(30)) {
            try await ada.call(.GET, path).decode(VocativeModel.Thread.self).seq > 50
          }
          try await first.kill()
          for try await stored in group { acknowledged.formUnion(stored) }
        }
      }
      #expect(acknowledged.count > 50)

      let second = try await RunningService.start(dataDirectory: directory)
      try await APIClient.run(second, user: "ada") { ada in
        let thread = try #require(ThreadID(path.split(separator: "/").last ?? ""))
        let stored = try await ada.entries(of: thread)
        #expect(acknowledged.isSubset(of: stored.keys), "an acknowledged send is lost")
        // At most what was under way is there without an acknowledgement.
        #expect(stored.count <= acknowledged.count + 4)
        // A token from before still leads on.
        let page = try await ada.get("/v1/changes?since=\(token)", as: ChangesPage.self)
        #expect(page.threads.map(\.seq) == [Int64(stored.count)])
      }

      let socket = try #require(Self.sockets(in: directory).first)
      #expect(try await second.stop() == 0)
      #expect(Self.sockets(in: directory) == [])
      #expect(!FileManager.default.fileExists(atPath: socket))
      try await eventually(within: .seconds(5)) { Processes.naming(directory).isEmpty }
    }

    private static func send(_ client: APIClient, _ thread: String) async throws -> EntryID {
      let id = EntryID(UUID())
      let answer = try await client.call(
        .PUT, "\(thread)/entries/\(id)", bytes: Data(#"{"kind":"text","text":"x"}"#.utf8),
        timeout: .seconds(5))
      guard answer.status == 201 else {
        throw UnexpectedStatus(status: answer.status, code: answer.problem)
      }
      return id
    }

    @Test(.timeLimit(.minutes(1)))
    func itsServerIsStartedAgainWhenItDies() async throws {
      let service = try await RunningService.start()
      let pidFile = service.dataDirectory + "/postgres/cluster/postmaster.pid"
      let before = try #require(
        try String(contentsOfFile: pidFile, encoding: .utf8).split(separator: "\n").first)
      try await APIClient.run(service, user: "ada") { ada in
        let path = "/v1/threads/\(lowercased(UUID()))"
        #expect(
          try await ada.call(.PUT, path, #"{"kind":"message","participants":[]}"#).status == 201)
        Foundation.kill(try #require(Int32(before)), SIGKILL)
        try await eventually(within: .seconds(20)) {
          guard
            let now = try? String(contentsOfFile: pidFile, encoding: .utf8)
              .split(separator: "\n").first, now != before
          else { return false }
          return try await ada.call(.GET, "/readyz").status == 200
        }
        #expect(try await ada.call(.GET, path).status == 200)
      }
      #expect(try await service.stop() == 0)
    }

    private static func sockets(in directory: String) -> [String] {
      let files = FileManager.default.enumerator(atPath: directory)?.allObjects as? [String] ?? []
      return files.map { "\(directory)/\($0)" }.filter {
        (try? FileManager.default.attributesOfItem(atPath: $0)[.type] as? FileAttributeType)
          == .typeSocket
      }
    }
  }
}
