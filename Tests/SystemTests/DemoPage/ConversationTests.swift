import Testing

extension DemoPageTests {
  /// The page in headless Chromium: what a person does on one device, seen on the other.
  @Suite struct ConversationTests {
    @Test(arguments: Look.all)
    func whatIsTypedOnOneDeviceArrivesOnTheOther(_ look: Look) async throws {
      try await DemoPage.with(look) { page in
        let hello = unique("Are you in?")
        let answer = unique("Almost")
        try await page.send(hello, from: .ada)
        try await page.waitFor(hello, on: .ada)
        try await page.waitFor(hello, on: .jon)
        try await page.send(answer, from: .jon)
        try await page.waitFor(answer, on: .ada)
        let order = try await page.browser.run(
          "return \(DemoDevice.ada.part("entries")).innerText.match(/Are you in|Almost/g).slice(-2)"
        )
        #expect(order == ["Are you in", "Almost"])
        let overflow = try await page.browser.run(
          "return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        #expect(overflow == 0)
      }
    }

    @Test func anEditAndADeleteAreSeenOnTheOtherDevice() async throws {
      try await DemoPage.with { page in
        let first = unique("Doors at seven")
        let second = unique("Doors at half past")
        try await page.send(first, from: .ada)
        try await page.waitFor(first, on: .jon)
        try await page.focusEntry(first, on: .ada)
        try await page.browser.run(
          "const args = arguments; \(DemoDevice.ada.entry).querySelector('[data-action=edit]').click()",
          .string(first))
        try await page.browser.run("\(DemoDevice.ada.part("text")).select()")
        try await page.browser.type(second + Key.enter)
        try await page.waitFor(second, on: .jon)
        #expect(try await page.count(first, on: .jon) == 0)
        try await page.browser.wait(
          for: "\(DemoDevice.jon.entry).querySelector('.meta').textContent.includes('Edited')",
          .string(second))

        let id = try await page.browser.run(
          "const args = arguments; return \(DemoDevice.jon.entry).dataset.key", .string(second))
        for action in ["delete", "confirm"] {
          try await page.browser.run(
            """
            const row = \(DemoDevice.ada.part("entries")).querySelector(`[data-key="${arguments[0]}"]`);
            row.querySelector('[data-action=\(action)]').click();
            """, id)
        }
        for device in DemoDevice.allCases {
          try await page.browser.wait(
            for: """
              \(device.part("entries")).querySelector(`[data-key="${args[0]}"] .gone`)?.textContent
                === 'Message deleted'
              """, id)
          #expect(try await page.count(second, on: device) == 0)
        }
      }
    }

    @Test(arguments: [Look.desktop, .phone])
    func unreadMessagesAreCountedUntilTheyAreRead(_ look: Look) async throws {
      try await DemoPage.with(look) { page in
        let texts = [unique("One"), unique("Two")]
        for text in texts { try await page.send(text, from: .ada) }
        let unread = DemoDevice.jon.part("unread-text")
        try await page.browser.wait(for: "\(unread).textContent === '2 unread messages'")
        try await page.browser.wait(
          for: """
            \(DemoDevice.jon.part("thread-list"))
              .querySelector('[aria-current] .badge').textContent === '2 unread'
            """)
        try await page.browser.wait(
          for: "document.querySelector('\(DemoDevice.jon.selector) .divider.new')")
        // One of them goes away again, and the count with it.
        try await page.press("mark-read", on: .jon)
        try await page.browser.wait(for: "\(DemoDevice.jon.part("unread")).hidden")
        // The service remembers: a page that is loaded anew counts nothing.
        try await page.browser.run("location.reload()")
        try await page.waitUntilLive()
        try await page.browser.wait(for: "\(DemoDevice.jon.part("unread")).hidden")
      }
    }

    @Test func aDeletedMessageIsNoLongerUnread() async throws {
      try await DemoPage.with { page in
        let text = unique("Never mind")
        try await page.send(text, from: .ada)
        try await page.browser.wait(
          for: "\(DemoDevice.jon.part("unread-text")).textContent === '1 unread message'")
        try await page.waitFor(text, on: .ada)
        for action in ["delete", "confirm"] {
          try await page.browser.run(
            """
            const args = arguments;
            \(DemoDevice.ada.entry).querySelector('[data-action=\(action)]').click();
            """, .string(text))
        }
        try await page.browser.wait(for: "\(DemoDevice.jon.part("unread")).hidden")
      }
    }

    @Test func aConversationStartsOnOneDeviceAndPeopleComeAndGo() async throws {
      try await DemoPage.with { page in
        let subject = unique("Lights")
        let text = unique("Who has the ladder?")
        try await page.press("new", on: .ada)
        try await page.browser.run(
          """
          const form = \(DemoDevice.ada.part("new-thread"));
          for (const box of form.querySelectorAll('[type=checkbox]')) box.checked = box.value === 'jon';
          \(DemoDevice.ada.part("subject")).focus();
          """)
        try await page.browser.type(subject + Key.tab + text + Key.tab + Key.enter)
        try await page.waitFor(text, on: .ada)
        let listed = """
          [...\(DemoDevice.jon.part("thread-list")).querySelectorAll('.thread')]
            .find((row) => row.querySelector('.thread-title').textContent === args[0])
          """
        try await page.browser.wait(for: "\(listed)?.querySelector('.badge')", .string(subject))
        try await page.browser.run("const args = arguments; \(listed).click()", .string(subject))
        try await page.waitFor(text, on: .jon)

        try await page.press("people-toggle", on: .jon)
        try await page.browser.run(
          "\(DemoDevice.jon.part("people-list")).querySelector('[aria-label^=Leave]').click()")
        try await page.browser.wait(
          for: "[...\(DemoDevice.ada.part("entries")).querySelectorAll('.system')].at(-1)"
            + "?.textContent.startsWith('Jon Reyes left')")
        try await page.browser.wait(for: "!\(listed)", .string(subject))
      }
    }

    @Test func whatIsWrittenIsNeverMarkup() async throws {
      try await DemoPage.with { page in
        let text = unique("<img src=x onerror=\"document.title='owned'\"><script>1</script>")
        try await page.send(text, from: .ada)
        try await page.waitFor(text, on: .jon)
        let found = try await page.browser.run(
          "return document.title + document.querySelectorAll('main img, main script').length")
        #expect(found == "Vocative: two devices, one conversation0")
      }
    }
  }
}
