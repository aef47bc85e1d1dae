import Foundation
import Testing
import TestSupport

@testable import VocativeModel

@Suite struct InstantTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00.000Z", 0), ("2026-11-21T09:30:00Z", 1_795_253_400_000),
    ("2026-11-21T10:30:00.5+01:00", 1_795_253_400_500),
    ("2000-02-29t23:59:59.999999z", 951_868_799_999), ("0001-01-01T00:00:00Z", -62_135_596_800_000),
    ("9999-12-31T23:59:59.999Z", 253_402_300_799_999), ("1990-12-31T23:59:60Z", 662_688_000_000),
    ("2026-11-21T09:30:00-00:00", 1_795_253_400_000),
  ])
  func readsRFC3339(_ text: String, _ milliseconds: Int64) {
    #expect(Instant(text)?.milliseconds == milliseconds)
  }

  @Test(arguments: [
    "", "2026-11-21", "2026-11-21T09:30:00", "2026-11-21 09:30", "2026-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00.Z",
    "2026-01-01T00:00:00+1:00", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00Zx",
    "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "２026-01-01T00:00:00Z",
    "2026-01-01T00:00:00+0000",
  ])
  func refusesAllElse(_ text: String) {
    #expect(Instant(text) == nil)
  }

  @Test func writesWhatFoundationReads() throws {
    var random = SeededGenerator.announced()
    for _ in 0..<2000 {
      let milliseconds = Int64.random(in: Instant.range, using: &random)
      let instant = Instant(milliseconds: milliseconds)
      #expect(Instant(instant.description) == instant)
      let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
      // Foundation's calendar is not proleptic Gregorian before 1582.
      guard milliseconds > -12_219_292_800_000 else { continue }
      let date = try style.parse(instant.description)
      #expect(Int64((date.timeIntervalSince1970 * 1000).rounded()) == milliseconds)
    }
  }
}

@Suite struct JSONWriterTests {
  @Test func writesWhatFoundationReads() throws {
    var random = SeededGenerator.announced()
    for _ in 0..<500 {
      let scalars = (0..<Int.random(in: 0...40, using: &random)).compactMap { _ in
        UnicodeScalar(
          UInt32.random(in: 0...0x2ffff, using: &random)
            >> UInt32.random(
              in: 0...17, using: &random))
      }
      let text = String(String.UnicodeScalarView(scalars))
      let number = Int64(truncatingIfNeeded: random.next())
      let uuid = UUID()
      var json = JSONWriter()
      json.beginObject()
      json.name("text")
      json.value(text)
      json.name("list")
      json.beginArray()
      json.value(number)
      json.value(true)
      json.beginObject()
      json.endObject()
      json.value(json: Array("null".utf8))
      json.endArray()
      json.name("uuid")
      json.value(uuid)
      json.endObject()
      let read = try #require(
        try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
      #expect((read["text"] as? String)?.utf8.elementsEqual(text.utf8) == true)
      #expect((read["list"] as? [Any])?.count == 4)
      #expect(((read["list"] as? [Any])?[0] as? NSNumber)?.int64Value == number)
      #expect(read["uuid"] as? String == uuid.uuidString.lowercased())
    }
  }
}

@Suite struct RequestTests {
  private func decode<Body: Decodable>(_ type: Body.Type, _ json: String) throws -> Body {
    try JSONDecoder().decode(type, from: Data(json.utf8))
  }

  @Test(arguments: [
    (#"{"kind":"text","text":"a","texxt":"b"}"#, "/texxt"),
    (#"{"kind":"text","text":"a","replyTo":"b"}"#, "/replyTo"),
    (#"{"kind":"text","text":"a","sentAt":"today"}"#, "/sentAt"),
    (#"{"kind":"text","text":"a","cc":["",""]}"#, "/cc/0"),
    (#"{"kind":"image","attachments":[{"url":"javascript:x"}]}"#, "/attachments/0/url"),
    (#"{"kind":"image","attachments":[{"size":1}]}"#, "/attachments/0/size"),
    (#"{"kind":"location","attachments":[{"latitude":91}]}"#, "/attachments/0/latitude"),
  ])
  func aFaultIsPointedAt(_ json: String, _ pointer: String) {
    let error = #expect(throws: InvalidValue.self) { try decode(SendEntry.self, json) }
    #expect(error?.pointer == pointer)
  }

  @Test(arguments: [
    (#"{"kind":"text"}"#, "/text"), (#"{"kind":"text","text":""}"#, "/text"),
    (#"{"kind":"text","text":"\#u{5c}u0000"}"#, "/text"),
    (#"{"kind":"system","text":"x"}"#, "/kind"),
    (#"{"kind":"image"}"#, "/attachments"), (#"{"kind":"image","attachments":[]}"#, "/attachments"),
    (#"{"kind":"image","attachments":[{"url":"https://a/b"}]}"#, "/attachments/0"),
    (#"{"kind":"location","attachments":[{"latitude":1}]}"#, "/attachments/0"),
  ])
  func whatAKindNeedsIsAskedFor(_ json: String, _ pointer: String) throws {
    let entry = try decode(SendEntry.self, json)
    let error = #expect(throws: InvalidValue.self) { try entry.validate(Limits()) }
    #expect(error?.pointer == pointer)
  }

  @Test func textIsLimitedInBytes() throws {
    var entry = SendEntry(text: String(repeating: "é", count: 32_768))
    try entry.validate(Limits())
    entry.text? += "x"
    #expect(throws: InvalidValue.self) { try entry.validate(Limits()) }
  }

  @Test func theOrderOfMembersDoesNotMatter() throws {
    let one = try decode(
      SendEntry.self, #"{"kind":"text","text":"a","sentAt":"2026-01-01T01:00:00+01:00"}"#)
    let other = try decode(
      SendEntry.self, #"{"sentAt":"2026-01-01T00:00:00.000Z","text":"a","kind":"text"}"#)
    #expect(one.normalized == other.normalized)
    let first = try decode(
      CreateThread.self,
      #"{"kind":"message","participants":[{"userId":"b"},{"userId":"a","role":"member"}]}"#)
    let second = try decode(
      CreateThread.self,
      #"{"history":"join","participants":[{"userId":"a"},{"userId":"b"}],"kind":"message"}"#)
    #expect(first.normalized == second.normalized)
    #expect(one.normalized != SendEntry(text: "a").normalized)
  }

  @Test func userIDsAreBytes() {
    #expect(UserID("") == nil && UserID(String(repeating: "x", count: 129)) == nil)
    #expect(UserID("a\u{0}") == nil && UserID("a\n") == nil)
    // Canonically equivalent, yet two users.
    #expect(UserID("é") != UserID("e\u{301}"))
    #expect(Set([UserID("é"), UserID("e\u{301}")]).count == 2)
    #expect(UserID("Z")! < UserID("a")!)
  }

  @Test func aReadMarkIsOneOfTwo() {
    #expect(throws: InvalidValue.self) { try decode(MarkRead.self, "{}") }
    #expect(throws: InvalidValue.self) {
      try decode(MarkRead.self, #"{"upTo":1,"unreadFrom":1}"#)
    }
    #expect(throws: InvalidValue.self) { try decode(MarkRead.self, #"{"upTo":-1}"#) }
    #expect(throws: InvalidValue.self) { try decode(MarkRead.self, #"{"unreadFrom":0}"#) }
  }
}
