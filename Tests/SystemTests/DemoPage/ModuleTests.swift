import Testing

extension DemoPageTests {
  /// The page's modules on their own, run where they are meant to run: in the browser.
  @Suite struct ModuleTests {
    @Test func anEventStreamMeansTheSameHoweverItIsCut() async throws {
      try await DemoPage.with { page in
        let result = try await page.browser.run(
          """
          return import('/demo/demo-sse.js').then(({ EventStreamParser }) => {
            const stream = '\\uFEFF: hello\\r\\nevent: changes\\rid: a1\\ndata: {"text":"é 生气 😤"\\r\\ndata:}\\n\\n'
              + 'retry: 2500\\nretry: soon\\nid: b\\0ad\\ndata\\n\\n' + 'event: lost\\n\\n' + 'id\\n\\ndata: unended';
            const bytes = new TextEncoder().encode(stream);
            const read = (chunks) => {
              const parser = new EventStreamParser();
              const events = chunks.flatMap((chunk) => parser.push(chunk));
              return JSON.stringify([events, parser.retry, parser.lastEventId]);
            };
            const whole = read([bytes]);
            const differing = [];
            for (let at = 1; at < bytes.length; at += 1) {
              const cut = read([bytes.slice(0, at), bytes.slice(at)]);
              if (cut !== whole) differing.push(at);
            }
            if (read([...bytes].map((byte) => Uint8Array.of(byte))) !== whole) differing.push('each');
            return { whole: JSON.parse(whole), differing };
          });
          """)
        let events: JSONValue = [
          ["type": "changes", "data": "{\"text\":\"é 生气 😤\"\n}", "id": "a1"],
          ["type": "message", "data": "", "id": "a1"],
        ]
        #expect(result == ["whole": [events, 2500, ""], "differing": []])
      }
    }

    @Test func anyPagesAndAnyRepeatsEndInTheSameConversation() async throws {
      let seed = UInt32.random(in: 1...UInt32.max)
      try await DemoPage.with { page in
        let wrong = try await page.browser.run(Self.replay, .number(Double(seed)))
        #expect(wrong == [], "seed \(seed)")
      }
    }

    @Test func aCurlLineSurvivesTheShell() async throws {
      try await DemoPage.with { page in
        let line = try await page.browser.run(
          """
          return import('/demo/demo-wire.js').then(({ curl }) => curl({
            method: 'PUT', path: '/v1/x?limit=1&after=2', headers: { Accept: 'a/b' },
            requestBody: '{"text":"it\\'s $HOME"}', device: { token: 't' },
          }, '/tmp/my ca.pem'));
          """)
        let origin = try await DemoService.baseURL()
        #expect(
          line.string == """
            curl --no-buffer --cacert '/tmp/my ca.pem' --request PUT --header 'Accept: a/b' \
            --header 'Authorization: Bearer t' --data-raw '{"text":"it'\\''s $HOME"}' \
            '\(origin)/v1/x?limit=1&after=2'
            """)
      }
    }

    /// Writes, edits and deletes at random, follows them with a device that misses pages, sees some
    /// twice and fills its holes in any order, and compares the two at the end.
    private static let replay = """
      let state = arguments[0];
      const random = (below) => {
        state ^= state << 13; state ^= state >>> 17; state ^= state << 5;
        return (state >>> 0) % below;
      };
      return import('/demo/demo-feed.js').then(({ Feed }) => {
        const wrong = [];
        for (let round = 0; round < 200; round += 1) {
          const server = new Map();
          let seq = 0;
          const between = (after, upTo, limit) => [...server.values()]
            .filter((entry) => entry.seq > after && entry.seq <= upTo)
            .sort((a, b) => a.seq - b.seq).slice(-limit);
          const feed = new Feed();
          const pages = [];
          let known = 0;
          const follow = () => {
            const all = between(known, seq, Infinity);
            const entries = all.slice(-3);
            const entriesFrom = all.length > 3 ? entries[0].seq - 1 : known;
            const thread = { id: 't', entries, entriesFrom, entriesTo: seq, lastActivityAt: '',
              visibleFrom: 1, participants: [], unreadCount: 0, readUpTo: 0, seq };
            const page = { threads: [structuredClone(thread)], next: String(seq), hasMore: false };
            pages.push(page);
            known = seq;
            feed.apply(page, 'me');
            if (random(4) === 0) feed.apply(pages[random(pages.length)], 'me');
          };
          const fill = () => {
            const thread = feed.threads.get('t');
            if (!thread || thread.holes.length === 0) return false;
            const hole = thread.holes[random(thread.holes.length)];
            const below = between(0, hole.upTo, Infinity);
            const entries = below.slice(-2);
            thread.fill(hole, structuredClone(entries), entries.length === below.length);
            return true;
          };
          for (let step = 0; step < 60; step += 1) {
            const what = random(6);
            const ids = [...server.keys()];
            if (what < 2 || ids.length === 0) {
              seq += 1;
              const id = `e${seq}`;
              server.set(id, { id, seq, createdSeq: seq, senderId: 'you', kind: 'text', text: `${seq}` });
            } else if (what < 4) {
              seq += 1;
              const entry = server.get(ids[random(ids.length)]);
              Object.assign(entry, what === 2 ? { seq, text: `${seq}` } : { seq, deleted: true });
            } else if (what === 4) follow();
            else fill();
          }
          follow();
          while (fill());
          const expected = [...server.values()].sort((a, b) => a.createdSeq - b.createdSeq);
          const actual = feed.threads.get('t').ordered();
          if (JSON.stringify(expected) !== JSON.stringify(actual)) wrong.push(round);
        }
        return wrong;
      });
      """
  }
}
