import Foundation
import Identity
import VocativeModel

/// `POST /v1/resolve` over TLS, from wrk, against the same server answering a constant body, and one
/// after another what other software takes for the same names and phrases.
extension Stage {
  func measureResolution(
    _ seconds: Int, hostileSeed: UInt64, _ report: inout Report
  ) async throws {
    let cases = ResolveCases(names: ResolveBenchmark.names, phrases: ResolveBenchmark.phrases)
    ResolveBenchmark.run(cases, &report)
    ResolveBenchmark.runHostile(cases, seed: hostileSeed, &report)
    try await measureResolvePeers(cases, &report)
    try await measureResolve(cases, seconds, &report)
  }

  private func measureResolve(
    _ cases: ResolveCases, _ seconds: Int, _ report: inout Report
  ) async throws {
    let token = try await issuer.token(userID: "resolver")
    try await upload(cases, token)
    let requests = try cases.phrases.map { try Self.json(ResolveBody(phrases: [$0.text])) }
    let requestFile = try file("resolve.requests", requests.joined(separator: "\n") + "\n")
    let ours = try Wrk.script(
      "resolve.lua",
      Self.lua.replacing("REQUESTS", with: requestFile).replacing("TOKEN", with: token), on: self)
    let constant = try Wrk.script("healthz.lua", "wrk.path = '/healthz'\n", on: self)
    _ = try await Wrk.run(ours, connections: 8, seconds: 1, self, &report)
    for clients in [1, 8, 32] {
      var commands = Report(seconds: seconds)
      try await compare(
        "resolve, of /healthz", clients: clients, mark: 0.7, seconds: seconds, &report,
        ours: { try await Wrk.run(ours, connections: clients, seconds: $0, self, &commands) },
        peer: { try await Wrk.run(constant, connections: clients, seconds: $0, self, &commands) })
      commands.commands.forEach { report.addCommand($0) }
    }
  }

  private struct ResolveBody: Encodable {
    var type = "contactName"
    var phrases: [String]
  }

  private static let lua = """
    local requests = {}
    for body in io.lines('REQUESTS') do
      requests[#requests + 1] = 'POST /v1/resolve HTTP/1.1\\r\\nHost: localhost\\r\\n'
        .. 'Content-Type: application/json\\r\\nAuthorization: Bearer TOKEN\\r\\n'
        .. 'Content-Length: ' .. #body .. '\\r\\n\\r\\n' .. body
    end
    local random, count = math.random, #requests
    function request() return requests[random(1, count)] end
    """

  private static func json(_ body: some Encodable) throws -> String {
    String(decoding: try JSONEncoder().encode(body), as: UTF8.self)
  }

  /// Stores the names, and checks that the service finds one of them.
  private func upload(_ cases: ResolveCases, _ token: String) async throws {
    struct Body: Encodable {
      struct Name: Encodable { var phrase, identifier: String }
      var strings: [Name]
    }
    struct Answer: Decodable {
      struct Result: Decodable { var outcome: String }
      var results: [Result]
    }
    let names = cases.names.enumerated().map { Body.Name(phrase: $1, identifier: "c\($0)") }
    try await APIClient.run(service) { client in
      _ = try await client.call(
        "PUT", "/v1/vocabulary/contactName", token: token, body: Self.json(Body(strings: names)))
      let answer = try await client.call(
        "POST", "/v1/resolve", token: token, body: Self.json(ResolveBody(phrases: [cases.names[7]]))
      )
      guard
        try JSONDecoder().decode(Answer.self, from: answer).results.map(\.outcome) == ["success"]
      else { throw BenchmarkError("a name that was uploaded was not found") }
    }
  }

  // MARK: Others

  /// Phrases that the others look up; they take milliseconds for each.
  private static let lookups = 400

  /// The same names and phrases with rapidfuzz and with pg_trgm, each on one core.
  private func measureResolvePeers(_ cases: ResolveCases, _ report: inout Report) async throws {
    let phrases = cases.phrases.prefix(Self.lookups).map(\.text)
    let ours = ResolveBenchmark.lookups(cases, phrases)
    report.add("resolve in the process, mean of \(phrases.count) phrases", ours, "µs")
    for (name, peer) in [
      ("rapidfuzz WRatio", try await rapidfuzz(cases.names, phrases)),
      ("pg_trgm", try await trigrams(cases.names, phrases)),
    ] {
      guard let peer else {
        print("\(name): scripts/setup bench did not install it, nothing measured")
        continue
      }
      report.add("\(name), mean of the same", peer, "µs")
      report.add(
        Comparison(
          "resolve, \(name)", clients: 1, ours: Load(perSecond: 1e6 / ours),
          peer: Load(perSecond: 1e6 / peer), mark: 1))
    }
  }

  /// Microseconds a lookup: the best five by WRatio, both sides in lower case.
  private func rapidfuzz(_ names: [String], _ phrases: [String]) async throws -> Double? {
    let python = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "bench-python/bin/python3").path
    guard FileManager.default.isExecutableFile(atPath: python) else { return nil }
    let input = try file("lookups.json", Self.json([names, phrases]))
    let script = try file(
      "lookups.py",
      """
      import json, sys, time
      from rapidfuzz import fuzz, process
      names, phrases = json.load(open(sys.argv[1]))
      names, phrases = [n.lower() for n in names], [p.lower() for p in phrases]
      best = float("inf")
      for _ in range(2):
          start = time.perf_counter()
          for phrase in phrases:
              process.extract(phrase, names, scorer=fuzz.WRatio, limit=5)
          best = min(best, time.perf_counter() - start)
      print(best / len(phrases) * 1e6)
      """)
    let output = try await Tool.run(python, [script, input])
    guard let mean = Double(output.split(separator: "\n").last ?? "") else {
      throw BenchmarkError("rapidfuzz failed:\n\(output)")
    }
    return mean
  }

  /// Microseconds a lookup in the server, without a client's round trip: the five most similar of
  /// those that the GIN index of trigrams finds.
  private func trigrams(_ names: [String], _ phrases: [String]) async throws -> Double? {
    let control = "/usr/share/postgresql/\(cluster.majorVersion)/extension/pg_trgm.control"
    guard FileManager.default.fileExists(atPath: control) else { return nil }
    // In the C locale it would take ASCII alone for letters.
    try await cluster.execute(
      """
      CREATE DATABASE trigrams TEMPLATE template0 LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'
      """, database: "postgres")
    let tables = [("name", names), ("phrase", phrases)].map { table, texts in
      let rows = texts.enumerated().map { "(\($0), '\($1.replacing("'", with: "''"))')" }
      return """
        CREATE TABLE \(table) (position int PRIMARY KEY, text text NOT NULL);
        INSERT INTO \(table) VALUES \(rows.joined(separator: ", "));
        """
    }
    let script = try file(
      "trigrams.sql",
      """
      SET client_min_messages = warning;
      CREATE EXTENSION pg_trgm;
      \(tables.joined(separator: "\n"))
      CREATE INDEX ON name USING gin (text gin_trgm_ops);
      ANALYZE;
      CREATE TABLE took (seconds float8);
      DO $$
      DECLARE p record; start timestamptz;
      BEGIN
        FOR p IN SELECT * FROM phrase LOOP
          start := clock_timestamp();
          PERFORM n.text FROM name AS n WHERE n.text % p.text
            ORDER BY similarity(n.text, p.text) DESC, n.position LIMIT 5;
          INSERT INTO took VALUES (extract(epoch FROM clock_timestamp() - start));
        END LOOP;
      END $$;
      SELECT avg(seconds) * 1e6 FROM took;
      """)
    let output = try await Tool.run(
      "psql",
      [
        "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", cluster.conninfo(database: "trigrams"), "-f",
        script,
      ])
    guard let mean = Double(output.split(separator: "\n").last ?? "") else {
      throw BenchmarkError("pg_trgm failed:\n\(output)")
    }
    return mean
  }
}
