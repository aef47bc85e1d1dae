import Testing

extension DemoPageTests {
  /// The page in headless Chromium: by keyboard alone, and what assistive technology finds.
  @Suite struct AccessibilityTests {
    @Test func aMessageIsSentEditedAndDeletedByKeyboardAlone() async throws {
      try await DemoPage.with { page in
        let browser = page.browser
        // From the top of the page, Tab alone reaches the composer.
        let isInComposer = "return document.activeElement === \(DemoDevice.ada.part("text"))"
        try await browser.run("document.querySelector('.skip').focus()")
        var tabs = 0
        while try await browser.run(isInComposer) != true, tabs < 40 {
          try await browser.type(Key.tab)
          let hasRing = try await browser.run(
            "return getComputedStyle(document.activeElement).outlineStyle !== 'none'")
          #expect(hasRing == true, "the focus has to be visible at stop \(tabs)")
          tabs += 1
        }
        #expect(try await browser.run(isInComposer) == true)

        // Shift and Enter make a new line, Enter sends.
        let name = unique("Two lines")
        try await browser.type(name)
        try await browser.type(Key.enter, holding: Key.shift)
        try await browser.type("below" + Key.enter)
        let text = name + "\nbelow"
        try await page.waitFor(text, on: .jon)
        try await page.waitFor(text, on: .ada)

        // Up into the entries, Tab to Edit, Escape leaves the text as it was.
        try await browser.type(Key.up + Key.tab + Key.enter)
        try await browser.wait(for: "!\(DemoDevice.ada.part("editing")).hidden")
        try await browser.type("x" + Key.escape)
        try await browser.wait(for: "\(DemoDevice.ada.part("editing")).hidden")
        #expect(try await page.count(text, on: .ada) == 1)

        // Down at the last entry and Escape both lead back.
        try await browser.type(Key.up + Key.up + Key.home + Key.end + Key.down)
        #expect(try await browser.run(isInComposer) == true)
        try await browser.type(Key.up + Key.escape)
        #expect(try await browser.run(isInComposer) == true)

        // Delete asks; Escape keeps; the second time it is meant.
        try await browser.type(Key.up + Key.tab + Key.tab + Key.enter)
        try await browser.wait(for: "document.activeElement.dataset.action === 'confirm'")
        try await browser.type(Key.escape)
        try await browser.wait(for: "document.activeElement.matches('.entry')")
        try await browser.type(Key.tab + Key.tab + Key.enter)
        try await browser.wait(for: "document.activeElement.dataset.action === 'confirm'")
        try await browser.type(Key.enter)
        try await browser.wait(for: "\(DemoDevice.jon.count) === 0", .string(text))
      }
    }

    @Test(arguments: Look.all)
    func everyTextHasEnoughContrast(_ look: Look) async throws {
      try await DemoPage.with(look) { page in
        for device in DemoDevice.allCases {
          try await page.send(unique("Legible?"), from: device)
          try await page.press("people-toggle", on: device)
          let poor = try await page.browser.run(Self.poorContrast)
          #expect(poor == [], "\(look), \(device)")
          try await page.press("online", on: device)
          try await page.send(unique("Legible while it waits?"), from: device)
          #expect(try await page.browser.run(Self.poorContrast) == [], "\(look), \(device) offline")
          try await page.press("online", on: device)
          try await page.press("new", on: device)
          #expect(try await page.browser.run(Self.poorContrast) == [], "\(look), \(device) new")
          try await page.press("new-cancel", on: device)
        }
      }
    }

    @Test(arguments: [Look.desktop, .phone])
    func everyControlHasANameAndEveryRegionALabel(_ look: Look) async throws {
      try await DemoPage.with(look) { page in
        let nameless = try await page.browser.run(
          """
          const name = (element) => element.getAttribute('aria-label') || element.innerText?.trim()
            || [...(element.labels ?? [])].map((label) => label.innerText.trim()).join('')
            || element.textContent.trim();
          return [...document.querySelectorAll('button, a, input, select, textarea, summary')]
            .filter((element) => !name(element)).map((element) => element.outerHTML);
          """)
        #expect(nameless == [])
        let structure = try await page.browser.run(
          """
          const unlabelled = [...document.querySelectorAll('section, nav, [role=log], [role=group]')]
            .filter((each) => !each.getAttribute('aria-label')
              && !document.getElementById(each.getAttribute('aria-labelledby')));
          const ids = [...document.querySelectorAll('[id]')].map((each) => each.id);
          return {
            lang: document.documentElement.lang,
            mains: document.querySelectorAll('main').length,
            firstHeadings: document.querySelectorAll('h1').length,
            logs: [...document.querySelectorAll('[role=log]')].map((log) => log.ariaLive),
            unlabelled: unlabelled.map((each) => each.outerHTML.slice(0, 80)),
            doubledIds: ids.filter((id, index) => ids.indexOf(id) !== index),
            times: [...document.querySelectorAll('time')]
              .filter((time) => Number.isNaN(Date.parse(time.dateTime))).length,
          };
          """)
        let expected: JSONValue = [
          "lang": "en", "mains": 1, "firstHeadings": 1, "logs": ["polite", "polite"],
          "unlabelled": [], "doubledIds": [], "times": 0,
        ]
        #expect(structure == expected)
      }
    }

    /// The texts on the page below a contrast of 4.5 (WCAG 2.2, 1.4.3), as WCAG computes it from the
    /// colours that the browser paints.
    private static let poorContrast = """
      const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
      const rgba = (color) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
      };
      const over = ([r, g, b, a], [x, y, z]) =>
        [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
      const ground = (element) => {
        const layers = [];
        for (let each = element; each; each = each.parentElement) {
          layers.push(rgba(getComputedStyle(each).backgroundColor));
        }
        return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
      };
      const luminance = (color) => {
        const [r, g, b] = color.slice(0, 3).map((channel) => {
          const value = channel / 255;
          return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const poor = [];
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      let seen = 0;
      while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || !element.checkVisibility()) continue;
        seen += 1;
        const below = ground(element);
        const ink = over(rgba(getComputedStyle(element).color), below);
        const [high, low] = [luminance(ink), luminance(below)].sort((a, b) => b - a);
        const contrast = (high + 0.05) / (low + 0.05);
        if (contrast < 4.5) poor.push(`${element.className || element.tagName} ${contrast.toFixed(2)}`);
      }
      return seen > 20 ? poor : ['no text was found'];
      """
  }
}
