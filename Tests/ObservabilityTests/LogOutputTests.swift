import Foundation
import Logging
import Synchronization
import Testing

@testable import Observability

@Suite struct LogOutputTests {
  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ bytes: [UInt8]) {
      lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
    }
  }

  private let lines = Lines()

  private func logger(
    _ format: LogOutput.Format, level: Logger.Level = .info,
    provider: Logger.MetadataProvider? = nil
  ) -> Logger {
    let output = LogOutput(
      format: format, level: level, now: { Date(timeIntervalSince1970: 1_769_860_800.1239) },
      write: lines.add)
    return Logger(label: "voc") { output.handler(label: $0, provider: provider) }
  }

  private func object(_ line: String) throws -> [String: Any] {
    #expect(line.hasSuffix("}\n") && line.filter { $0 == "\n" }.count == 1)
    return try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  @Test func textIsReadable() {
    logger(.text).info("started", metadata: ["port": "8443", "path": "/a b", "none": ""])
    logger(.text).warning("slow", metadata: ["ids": ["1", "a\"b"], "n": .stringConvertible(3)])
    #expect(
      lines.all == [
        "2026-01-31T12:00:00.123Z INFO     voc: started none=\"\" path=\"/a b\" port=8443\n",
        "2026-01-31T12:00:00.123Z WARNING  voc: slow ids=[\"1\",\"a\\\"b\"] n=3\n",
      ])
  }

  @Test func jsonIsOneObject() throws {
    logger(.json).error("x", metadata: ["a": ["b": ["c", "d"]], "e": "é\u{1F600}"])
    let found = try object(lines.all[0])
    #expect(found["timestamp"] as? String == "2026-01-31T12:00:00.123Z")
    #expect(found["level"] as? String == "error")
    #expect(found["label"] as? String == "voc")
    #expect(found["message"] as? String == "x")
    let metadata = try #require(found["metadata"] as? [String: Any])
    #expect((metadata["a"] as? [String: [String]]) == ["b": ["c", "d"]])
    #expect(metadata["e"] as? String == "é\u{1F600}")
  }

  @Test func levelsAreRespected() {
    var log = logger(.text, level: .warning)
    log.info("not this")
    log.logLevel = .debug
    log.debug("but this")
    #expect(lines.all.count == 1)
  }

  @Test func nothingFromOutsideCanForgeALine() throws {
    let nasty = "a\r\nb\u{1B}[2Jc\u{0}d\u{85}\u{9B}e\u{2028}f\u{202E}g\u{7F}"
    logger(.text).info("\(nasty)", metadata: ["\(nasty)": "\(nasty)"])
    logger(.json).info("\(nasty)", metadata: ["\(nasty)": "\(nasty)"])
    for line in lines.all {
      #expect(line.hasSuffix("\n"))
      let harmful = line.unicodeScalars.dropLast().filter {
        $0.properties.generalCategory == .control || $0.properties.generalCategory == .format
          || $0.value == 0x2028
      }
      #expect(harmful.isEmpty)
    }
    #expect(try object(lines.all[1])["message"] as? String == nasty)
  }

  @Test func metadataOfTheEntryWins() throws {
    var log = logger(.json, provider: .init { ["a": "provider", "b": "provider"] })
    log[metadataKey: "a"] = "logger"
    log[metadataKey: "c"] = "logger"
    log.info("x", metadata: ["b": "entry"])
    let metadata = try object(lines.all[0])["metadata"] as? [String: String]
    #expect(metadata == ["a": "provider", "b": "entry", "c": "logger"])
  }

  @Test func longValuesAreCutAtACharacter() throws {
    let value = "x" + String(repeating: "é", count: 3000)
    logger(.json).info("\(value)", metadata: ["v": "\(value)"])
    let found = try object(lines.all[0])
    let expected = "x" + String(repeating: "é", count: 2047) + "…"
    #expect(found["message"] as? String == expected)
    #expect((found["metadata"] as? [String: String])?["v"] == expected)
  }

  @Test func deepMetadataIsBounded() throws {
    var value: Logger.Metadata.Value = "deep"
    for _ in 0..<5000 { value = .array([value]) }
    logger(.json).info("x", metadata: ["v": value])
    _ = try object(lines.all[0])
    #expect(lines.all[0].contains("…"))
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
    (951_782_399_999, "2000-02-28T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
    (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
  ])
  func timestamps(milliseconds: Int64, expected: String) {
    #expect(rfc3339(milliseconds: milliseconds) == expected)
  }

  @Test func timestampsAgreeWithFoundation() {
    var generator = SystemRandomNumberGenerator()
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    for _ in 0..<500 {
      let seconds = Int64.random(in: -2_000_000_000...20_000_000_000, using: &generator)
      let date = Date(timeIntervalSince1970: Double(seconds))
      #expect(rfc3339(milliseconds: seconds * 1000) == date.formatted(style), "\(seconds)")
    }
  }
}
