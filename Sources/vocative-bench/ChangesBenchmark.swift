import Foundation
import Identity
import VocativeModel
import VocativeStorage

/// Changes since a token over TLS, against pgbench reading the same rows.
///
/// 32 readers are in 200 threads each, 4 of them in the same ones, and each thread has 50 entries.
/// A feed token makes 20 of a reader's entries new: all of one thread, or 4 in each of 5 threads.
private enum Readers {
  static let groups = 8
  static let threads = 200
  static let entries = 50
  static let head = Int64(threads * entries)
  static let fresh: Int64 = 20

  /// The groups whose new entries lie in one thread, and those where they are spread.
  static let oneThread = 0..<4
  static let fiveThreads = 4..<8

  static func names(_ groups: Range<Int>) -> Range<Int> {
    groups.lowerBound * 4..<groups.upperBound * 4
  }

  /// Threads changed one after another, 50 places each; in the later groups the last five threads
  /// took turns, so that they have the last five places.
  static let seed = """
    CREATE TEMP TABLE member AS
    SELECT k, i, ('00000000-0000-4000-9000-00000' || (1000000 + g * \(threads) + i))::uuid
        AS thread_id,
      'r' || (1000 + g * 4 + k) AS user_id,
      CASE WHEN g >= \(fiveThreads.lowerBound) AND i >= \(threads - 5)
        THEN \(head) - \(threads - 1) + i ELSE \(entries) * (i + 1) END AS place
    FROM generate_series(0, \(groups - 1)) AS g, generate_series(0, \(threads - 1)) AS i,
      generate_series(0, 3) AS k;
    \(Stage.store(membersWithEntries: entries))
    UPDATE vocative.feed_thread AS ft SET place = -m.place
    FROM member AS m WHERE ft.user_id = m.user_id AND ft.thread_id = m.thread_id;
    UPDATE vocative.feed_thread SET place = -place WHERE place < 0;
    """

  static let lua = """
    local requests = {}
    for line in io.lines('REQUESTS') do
      local path, token = line:match('(%S+) (%S+)')
      requests[#requests + 1] = 'GET ' .. path
        .. ' HTTP/1.1\\r\\nHost: localhost\\r\\nAuthorization: Bearer ' .. token .. '\\r\\n\\r\\n'
    end
    local random, count = math.random, #requests
    function request() return requests[random(1, count)] end
    """

  static func pgbench(
    _ statement: String, _ groups: Range<Int>, _ parameters: [String]
  ) throws -> String {
    let names = names(groups)
    return try """
    \\set reader random(\(names.lowerBound), \(names.upperBound - 1))

    """ + Pgbench.statement(statement, ["('r' || (1000 + :reader))"] + parameters)
  }

  /// What the service gives `changes_page` behind the user.
  static func page(since place: Int64) -> [String] {
    let limits = Limits()
    return [
      "\(place)::int8", "\(place)::int8", "NULL::int8", "\(limits.defaultPage)::int8",
      "\(limits.entriesPerThread)::int8", "\(limits.pageBytes)::int8",
    ]
  }
}

extension Stage {
  func measureChanges(_ seconds: Int, _ report: inout Report) async throws {
    try await cluster.execute(Readers.seed, database: Self.database)
    try await cluster.execute("VACUUM ANALYZE", database: Self.database)
    var tokens: [String] = []
    for reader in Readers.names(0..<Readers.groups) {
      tokens.append(try await issuer.token(userID: "r\(1000 + reader)"))
    }
    try await measureInitialSync(tokens, &report)

    let since = Readers.head - Readers.fresh
    try await measureChanges(
      "changes, 20 new in 1 thread", Readers.oneThread, since, "changes_page", mark: 0.5, tokens,
      seconds, &report)
    try await measureChanges(
      "changes, 20 new in 5 threads", Readers.fiveThreads, since, "changes_page", mark: nil,
      tokens, seconds, &report)
    try await measureChanges(
      "changes, nothing new", Readers.oneThread, Readers.head, "changes_page", mark: 0.5, tokens,
      seconds, &report)
    try await measureChanges(
      "… of reading the head", Readers.oneThread, Readers.head, "feed_head", mark: nil, tokens,
      seconds, &report)
    try await measureChanges(
      "… of /healthz", Readers.oneThread, Readers.head, nil, mark: nil, tokens, seconds, &report)
  }

  /// - Parameter statement: what pgbench runs; nil for a peer that reads nothing, `/healthz` over
  ///   the same TLS, the limit of the web layer.
  private func measureChanges(
    _ name: String, _ groups: Range<Int>, _ since: Int64, _ statement: String?, mark: Double?,
    _ tokens: [String], _ seconds: Int, _ report: inout Report
  ) async throws {
    let slug = "changes-" + name.filter(\.isLetter)
    let requests = Readers.names(groups).map { "\(path($0, since: since)) \(tokens[$0])" }
    let requestFile = try file(slug + ".requests", requests.joined(separator: "\n") + "\n")
    let script = try Wrk.script(
      slug + ".lua", Readers.lua.replacing("REQUESTS", with: requestFile), on: self)
    let peer = try peer(slug, statement, groups, since)
    try await checkChanges(groups, since, tokens, name)
    _ = try await Wrk.run(script, connections: 8, seconds: 1, self, &report)
    for clients in [1, 8, 32] {
      var commands = Report(seconds: seconds)
      try await compare(
        name, clients: clients, mark: mark, seconds: seconds, &report,
        ours: { try await Wrk.run(script, connections: clients, seconds: $0, self, &commands) },
        peer: { try await peer(clients, $0, &commands) })
      commands.commands.forEach { report.addCommand($0) }
    }
  }

  private typealias Peer = (_ clients: Int, _ seconds: Int, inout Report) async throws -> Load

  private func peer(
    _ slug: String, _ statement: String?, _ groups: Range<Int>, _ since: Int64
  ) throws -> Peer {
    guard let statement else {
      let script = try Wrk.script("healthz.lua", "wrk.path = '/healthz'\n", on: self)
      return { try await Wrk.run(script, connections: $0, seconds: $1, self, &$2) }
    }
    let parameters = statement == "feed_head" ? [] : Readers.page(since: since)
    let script = try file(slug + ".sql", Readers.pgbench(statement, groups, parameters))
    return { try await Pgbench.run(script, clients: $0, seconds: $1, self, &$2) }
  }

  private func path(_ reader: Int, since place: Int64) -> String {
    let token = FeedToken(epoch: installation.epoch, base: place, cursor: place, bound: nil)
    return "/v1/changes?since="
      + token.string(for: UserID(trusted: "r\(1000 + reader)"), key: installation.tokenKey)
  }

  /// The benchmark is worth nothing if the answers are not what it says they are.
  private func checkChanges(
    _ groups: Range<Int>, _ since: Int64, _ tokens: [String], _ name: String
  ) async throws {
    let reader = Readers.names(groups).lowerBound
    let page = try await APIClient.run(service) { client in
      try await client.page(path(reader, since: since), token: tokens[reader])
    }
    let expected = since == Readers.head ? 0 : groups == Readers.oneThread ? 1 : 5
    guard page.threads.count == expected,
      expected != 1 || page.threads[0].entries.count == Int(Readers.fresh)
    else {
      throw BenchmarkError("\(name): \(page.threads.count) threads came, \(expected) are new")
    }
  }

  /// A new device of somebody with 200 threads: the feed from its start, and then, for comparison,
  /// all older entries as well.
  private func measureInitialSync(_ tokens: [String], _ report: inout Report) async throws {
    var times: [Double] = []
    var pages = (count: 0, bytes: 0)
    for reader in 0..<8 {
      try await APIClient.run(service) { client in
        // The connection is there before the clock starts.
        _ = try await client.page(
          path(reader, since: Readers.head), token: tokens[reader])
        let start = ContinuousClock.now
        pages = (0, 0)
        var since = ""
        while true {
          let page = try await client.page(
            "/v1/changes?limit=200\(since)", token: tokens[reader])
          pages.count += 1
          pages.bytes += page.bytes
          since = "&since=\(page.next)"
          guard page.hasMore else { break }
        }
        times.append((ContinuousClock.now - start) / .milliseconds(1))
      }
    }
    report.add("initial sync of 200 threads with 20 entries each, best of 8", times.min()!, "ms")
    report.add("initial sync, bytes in \(pages.count) page(s)", Double(pages.bytes) / 1e6, "MB")
    try await measureWholeHistory(tokens[0], &report)
  }

  private func measureWholeHistory(_ token: String, _ report: inout Report) async throws {
    try await APIClient.run(service) { client in
      let start = ContinuousClock.now
      let page = try await client.page("/v1/changes?limit=200", token: token)
      var bytes = page.bytes
      for thread in page.threads where thread.entriesFrom > 0 {
        bytes += try await client.get(
          "/v1/threads/\(thread.id)/entries?before=\(thread.entriesFrom + 1)&limit=200",
          token: token
        ).count
      }
      report.add(
        "initial sync with all 200 × 50 entries, one call a thread",
        (ContinuousClock.now - start) / .milliseconds(1), "ms")
      report.add("initial sync with all 200 × 50 entries", Double(bytes) / 1e6, "MB")
    }
  }
}
