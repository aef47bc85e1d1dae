import Foundation
import Identity

/// Sends over TLS against pgbench running the same four statements, one transaction a send.
///
/// 2,000 users are in 1,000 threads of 4 with 20 entries. Each request of ours and each transaction of pgbench
/// picks a thread and one of its participants at random, and a fresh entry id.
private enum SendLoad {
  static let threads = 1000
  static let users = 2000
  static let text = "A message as people write them, of some sixty bytes in all."

  /// Participant k of thread t is the user (2t + 501k) mod 2000, so that each user is in two.
  static let seed = """
    CREATE TEMP TABLE member AS
    SELECT k, ('00000000-0000-4000-8000-00000' || (1000000 + t))::uuid AS thread_id,
      'u' || (1000000 + (2 * t + 501 * k) % \(users)) AS user_id
    FROM generate_series(0, \(threads - 1)) AS t, generate_series(0, 3) AS k;
    \(Stage.store(membersWithEntries: 20))
    """

  static let lua = """
    local tokens = {}
    for line in io.lines('TOKENS') do tokens[#tokens + 1] = line end
    local body = '{"kind":"text","text":"\(text)"}'
    local tail = '\\r\\nContent-Type: application/json\\r\\nContent-Length: '
      .. #body .. '\\r\\n\\r\\n' .. body
    local random, format = math.random, string.format

    function init()
      local source = io.open('/dev/urandom', 'rb')
      local seed = 0
      for byte in source:read(6):gmatch('.') do seed = seed * 256 + byte:byte() end
      source:close()
      math.randomseed(seed)
    end

    function request()
      local thread = random(0, \(threads - 1))
      local user = (2 * thread + 501 * random(0, 3)) % \(users)
      return format('PUT /v1/threads/00000000-0000-4000-8000-00000%d/entries/'
        .. '%04x%04x-%04x-4%03x-8%03x-%06x%06x HTTP/1.1\\r\\nHost: localhost\\r\\n'
        .. 'Authorization: Bearer %s%s', 1000000 + thread, random(0, 65535), random(0, 65535),
        random(0, 65535), random(0, 4095), random(0, 4095), random(0, 16777215),
        random(0, 16777215), tokens[user + 1], tail)
    end
    """

  static func pgbench() throws -> String {
    let thread = "ARRAY[('00000000-0000-4000-8000-00000' || (1000000 + :thread))::uuid]"
    let sender = "ARRAY['u' || (1000000 + :user)]"
    return try """
    \\set thread random(0, \(threads - 1))
    \\set user (2 * :thread + 501 * random(0, 3)) % \(users)
    \\startpipeline

    """ + Pgbench.statement("lock_threads", [thread, sender])
      + Pgbench.statement("lock_feeds", ["ARRAY[]::text[]"])
      + Pgbench.statement(
        "entries_send",
        [
          thread, "ARRAY[gen_random_uuid()]", "ARRAY[0]", sender, "ARRAY['text']",
          "ARRAY['\(text)']", "ARRAY[NULL::timestamptz]", "ARRAY[NULL::uuid]",
          "ARRAY[NULL::jsonb]", "ARRAY[NULL::jsonb]",
          "ARRAY['\\x000102030405060708090a0b0c0d0e0f'::bytea]",
        ])
      + Pgbench.statement("threads_advance", ["ARRAY[]::uuid[]"])
      + "\\endpipeline\n"
  }
}

extension Stage {
  /// What makes threads, feeds, participants and entries of the temporary table `member (k,
  /// thread_id, user_id)`; k = 0 is the owner, and all four take turns to write.
  ///
  /// There are entries from the start, since plans are made for what is there, and kept.
  static func store(membersWithEntries entries: Int) -> String {
    """
    INSERT INTO vocative.thread (thread_id, kind, history, created_by, create_hash, created_at,
      last_activity_at, seq)
    SELECT thread_id, 'message', 'join', user_id, '', now(), now(), \(entries)
    FROM member WHERE k = 0;
    INSERT INTO vocative.participant (thread_id, user_id, role, name, joined_at)
    SELECT thread_id, user_id, CASE k WHEN 0 THEN 'owner' ELSE 'member' END,
      jsonb_build_object('display', 'Person ' || user_id), now()
    FROM member;
    INSERT INTO vocative.feed (user_id, seq)
    SELECT user_id, count(*) * \(entries) FROM member GROUP BY 1;
    INSERT INTO vocative.feed_thread (user_id, thread_id, place, joined_place, visible_from,
      read_up_to, unread_count, activity_at)
    SELECT user_id, thread_id, n * \(entries), 0, 1, 0, \(entries) * 3 / 4, now()
    FROM (SELECT *, row_number() OVER (PARTITION BY user_id ORDER BY thread_id) AS n FROM member)
      AS m;
    INSERT INTO vocative.entry (thread_id, entry_id, seq, created_seq, sender_id, kind, text,
      sent_at, received_at, body_hash)
    SELECT thread_id, gen_random_uuid(), s, s, user_id, 'text',
      'A message as people write them, of some sixty bytes, number ' || s, now(), now(),
      '\\x000102030405060708090a0b0c0d0e0f'
    FROM member JOIN generate_series(1, \(entries)) AS s ON s % 4 = k;
    """
  }

  func measureSends(_ seconds: Int, _ report: inout Report) async throws {
    let idle = ProcessUsage.residentBytes(service.processID)
    try await cluster.execute(SendLoad.seed, database: Self.database)
    try await cluster.execute("VACUUM ANALYZE", database: Self.database)
    var tokens: [String] = []
    for user in 0..<SendLoad.users {
      tokens.append(try await issuer.token(userID: "u\(1_000_000 + user)"))
    }
    let tokenFile = try file("tokens", tokens.joined(separator: "\n") + "\n")
    let script = try Wrk.script(
      "sends.lua", SendLoad.lua.replacing("TOKENS", with: tokenFile), on: self)
    let pgbench = try file("sends.sql", SendLoad.pgbench())
    let before = try await storedBytes()

    // Fills caches: tokens, plans, pages.
    _ = try await Wrk.run(script, connections: 32, seconds: 2, self, &report)
    for (clients, mark) in [(1, 0.5), (8, nil), (32, 1.0)] {
      // The closures share the report with `compare`, so it collects their commands apart.
      var commands = Report(seconds: seconds)
      try await compare(
        "sends", clients: clients, mark: mark, seconds: seconds, &report,
        ours: {
          try await Wrk.run(script, connections: clients, seconds: $0, self, &commands)
        },
        peer: {
          try await Pgbench.run(pgbench, clients: clients, seconds: $0, self, &commands)
        })
      commands.commands.forEach { report.addCommand($0) }
    }

    if let load = report.comparisons.last(where: { $0.benchmark == "sends" }),
      let cpu = load.cpuMicroseconds
    {
      report.add("CPU of service and database for 1,000 sends at 32 clients", cpu / 1000, "s")
    }
    let after = try await storedBytes()
    report.add(
      "stored for a message in a thread of 4",
      (after.bytes - before.bytes) / (after.entries - before.entries), "bytes")
    if let idle { report.add("resident memory of the service, idle", idle / 1e6, "MB") }
    if let busy = ProcessUsage.residentBytes(service.processID) {
      report.add("resident memory of the service after the sends", busy / 1e6, "MB")
    }
    try await measureDelivery(tokens, &report)
  }

  /// Bytes on disk of all tables with their indexes, and the entries in them.
  private func storedBytes() async throws -> (bytes: Double, entries: Double) {
    let output = try await cluster.execute(
      """
      SELECT sum(pg_total_relation_size(oid)), (SELECT count(*) FROM vocative.entry)
      FROM pg_class WHERE relnamespace = 'vocative'::regnamespace AND relkind = 'r'
      """, database: Self.database)
    let numbers = output.split(separator: "|").compactMap { Double($0) }
    guard numbers.count == 2 else { throw BenchmarkError("no sizes: \(output)") }
    return (numbers[0], numbers[1])
  }

  /// From the start of a send to the arrival of its event on another user's stream.
  private func measureDelivery(_ tokens: [String], _ report: inout Report) async throws {
    let thread = "00000000-0000-4000-8000-000001000000"
    let sends = 500
    var delays: [Double] = []
    try await APIClient.run(service) { client in
      var events = try await client.events(token: tokens[501]).makeAsyncIterator()
      _ = try await events.next()
      for _ in 0..<sends {
        let id = UUID().uuidString.lowercased()
        let start = ContinuousClock.now
        async let sent: Void = client.send(id, to: thread, token: tokens[0], SendLoad.text)
        while let event = try await events.next(), !event.contains(id) {}
        delays.append((ContinuousClock.now - start) / .milliseconds(1))
        try await sent
      }
    }
    delays.sort()
    report.add("send to delivery, p50", delays[delays.count / 2], "ms")
    report.add("send to delivery, p99", delays[delays.count * 99 / 100], "ms")
  }
}
