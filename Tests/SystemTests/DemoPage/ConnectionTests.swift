import Testing

extension DemoPageTests {
  /// The page in headless Chromium: devices that go away and come back, and answers that get lost.
  @Suite struct ConnectionTests {
    @Test(arguments: [Look.desktop, .phone])
    func aDeviceCatchesUpFromItsToken(_ look: Look) async throws {
      try await DemoPage.with(look) { page in
        let missed = unique("While you were away")
        let waiting = unique("From the cellar")
        try await page.press("online", on: .jon)
        try await page.browser.wait(
          for: "\(DemoDevice.jon.part("connection")).textContent === 'Offline'")
        try await page.send(waiting, from: .jon)
        try await page.send(missed, from: .ada)
        try await page.waitFor(missed, on: .ada)
        #expect(try await page.count(missed, on: .jon) == 0)
        #expect(try await page.count(waiting, on: .ada) == 0)
        let state = try await page.browser.run(
          "const args = arguments; return \(DemoDevice.jon.entry).querySelector('.state').textContent",
          .string(waiting))
        #expect(state == "Waiting to send")

        try await page.press("online", on: .jon)
        try await page.waitFor(missed, on: .jon)
        try await page.waitFor(waiting, on: .jon)
        try await page.waitFor(waiting, on: .ada)
        try await page.browser.wait(
          for:
            "/^(Caught up|Resumed) from token/.test(\(DemoDevice.jon.part("notice")).textContent)")
      }
    }

    @Test func aMessageWhoseAnswerWasLostIsSentOnce() async throws {
      try await DemoPage.with { page in
        // The service takes the message; the device never hears of it, and asks again.
        try await page.browser.run(
          """
          const real = window.fetch;
          window.sent = [];
          window.fetch = async (path, options = {}) => {
            const isSend = options.method === 'PUT' && /entries/.test(path);
            const response = await real(path, options);
            if (!isSend) return response;
            window.sent.push(path);
            if (window.sent.length === 1) throw new TypeError('lost');
            return response;
          };
          """)
        let text = unique("Once only")
        try await page.send(text, from: .ada)
        try await page.waitFor(text, on: .ada)
        try await page.waitFor(text, on: .jon)
        try await page.browser.wait(
          for: "window.sent.length === 2 && window.sent[0] === window.sent[1]")
        #expect(try await page.count(text, on: .ada) == 1)
        #expect(try await page.count(text, on: .jon) == 1)
      }
    }

    @Test func aRefusedMessageSaysSoAndIsSentOnRetry() async throws {
      try await DemoPage.with { page in
        try await page.browser.run(
          """
          const real = window.fetch;
          window.refuse = true;
          window.fetch = (path, options = {}) =>
            window.refuse && options.method === 'PUT' && /entries/.test(path)
              ? Promise.resolve(new Response('{"title":"Not now","status":422}', {status: 422}))
              : real(path, options);
          """)
        let text = unique("Try me")
        try await page.send(text, from: .ada)
        try await page.browser.wait(
          for:
            "\(DemoDevice.ada.entry)?.querySelector('.state').textContent === 'Not sent: Not now'",
          .string(text))
        try await page.browser.run(
          """
          const args = arguments;
          window.refuse = false;
          \(DemoDevice.ada.entry).querySelector('[data-action=retry]').click();
          """, .string(text))
        try await page.waitFor(text, on: .ada)
        try await page.waitFor(text, on: .jon)
      }
    }

    @Test func anExpiredTokenLosesAndDoublesNothing() async throws {
      try await DemoPage.with { page in
        let before = unique("Before")
        let after = unique("After")
        try await page.send(before, from: .ada)
        try await page.waitFor(before, on: .jon)
        try await page.press("online", on: .jon)
        try await page.browser.run(
          """
          const real = window.fetch;
          window.resumed = [];
          window.fetch = (path, options = {}) => {
            if (path !== '/v1/events') return real(path, options);
            window.resumed.push(Boolean(options.headers['Last-Event-ID']));
            return window.resumed.length === 1
              ? Promise.resolve(new Response('{"title":"Expired","status":410}', {status: 410}))
              : real(path, options);
          };
          """)
        try await page.send(after, from: .ada)
        try await page.press("online", on: .jon)
        try await page.waitFor(after, on: .jon)
        try await page.waitFor(before, on: .jon)
        let resumed = try await page.browser.run("return window.resumed")
        #expect(resumed == [true, false])
      }
    }

    @Test func aStreamThatIsCutIsOpenedAgain() async throws {
      try await DemoPage.with { page in
        try await page.press("online", on: .jon)
        try await page.browser.run(
          """
          const real = window.fetch;
          window.cuts = 0;
          window.fetch = async (path, options = {}) => {
            const response = await real(path, options);
            if (path !== '/v1/events' || window.cuts === 2) return response;
            window.cuts += 1;
            response.body.cancel();
            const cut = new ReadableStream({ start: (stream) => stream.error(new TypeError('cut')) });
            return new Response(cut, { status: 200 });
          };
          """)
        try await page.press("online", on: .jon)
        try await page.browser.wait(
          for: "document.querySelector('#device-1').dataset.connection === 'reconnecting'")
        try await page.browser.wait(
          for:
            "window.cuts === 2 && document.querySelector('#device-1').dataset.connection === 'live'"
        )
        let text = unique("Still there?")
        try await page.send(text, from: .ada)
        try await page.waitFor(text, on: .jon)
      }
    }

    @Test func earlierMessagesAreLoadedWhenAskedFor() async throws {
      try await DemoPage.with { page in
        let subject = unique("Long")
        try await page.browser.run(
          """
          const [subject] = arguments;
          const threadId = crypto.randomUUID();
          return fetch('/demo/session.json').then((answer) => answer.json()).then(async (session) => {
            const put = (path, body) => fetch(path, {
              method: 'PUT', body: JSON.stringify(body),
              headers: {
                Authorization: `Bearer ${session.devices[0].token}`, 'Content-Type': 'application/json',
              },
            });
            const participants = [{ userId: session.devices[1].userId }];
            await put(`/v1/threads/${threadId}`, { kind: 'message', subject, participants });
            for (let number = 1; number <= 60; number += 1) {
              const path = `/v1/threads/${threadId}/entries/${crypto.randomUUID()}`;
              await put(path, { kind: 'text', text: `Number ${number}` });
            }
            location.reload();
          });
          """, .string(subject))
        try await page.waitUntilLive()
        let listed = """
          [...\(DemoDevice.ada.part("thread-list")).querySelectorAll('.thread')]
            .find((row) => row.querySelector('.thread-title').textContent === args[0])
          """
        try await page.browser.wait(for: listed, .string(subject))
        try await page.browser.run("const args = arguments; \(listed).click()", .string(subject))
        let entries = "\(DemoDevice.ada.part("entries"))"
        try await page.browser.wait(
          for:
            "\(entries).querySelectorAll('.entry').length === 20 && \(entries).querySelector('.hole')"
        )
        try await page.browser.wait(
          for:
            "(\(entries).querySelector('.hole button')?.click(), !\(entries).querySelector('.hole'))"
        )
        let texts = try await page.browser.run(
          "return [...\(entries).querySelectorAll('.entry .text')].map((text) => text.textContent)")
        #expect(texts == .array((1...60).map { .string("Number \($0)") }))
      }
    }
  }
}
