import Testing

import struct FoundationEssentials.UUID

@testable import PostgresWire

@Suite struct Coding {
  private func roundTrip<T: PostgresEncodable & PostgresDecodable & Equatable>(
    _ value: T
  ) throws -> T {
    var bytes: [UInt8] = []
    #expect(value.encode(into: &bytes) == nil)
    return try bytes.withUnsafeBytes { try T.decode($0, type: T.postgresType) }
  }

  @Test func valuesRoundTrip() throws {
    #expect(try roundTrip(true))
    #expect(try roundTrip(Int16.min) == .min)
    #expect(try roundTrip(Int32.min) == .min)
    #expect(try roundTrip(Int64.max) == .max)
    #expect(try roundTrip(Int.min) == .min)
    #expect(try roundTrip(-0.1) == -0.1)
    #expect(try roundTrip("") == "")
    #expect(try roundTrip("日本語 👩‍👩‍👧") == "日本語 👩‍👩‍👧")
    #expect(try roundTrip([UInt8]([0, 1, 255])) == [0, 1, 255])
    let id = UUID()
    #expect(try roundTrip(id) == id)
    #expect(try roundTrip(Timestamp(microseconds: -1)) == Timestamp(microseconds: -1))
    #expect(try roundTrip(JSONB("{}")) == JSONB("{}"))
    #expect(try roundTrip([1, 2, 3]) == [1, 2, 3])
    #expect(try roundTrip([Int]()) == [])
    #expect(try roundTrip(["a", nil, ""]) == ["a", nil, ""])
    #expect(try roundTrip([[UInt8(1)], []]) == [[1], []])
    #expect(try roundTrip([id, id]) == [id, id])
    #expect(try roundTrip([JSONB("1")]) == [JSONB("1")])
    #expect(try roundTrip([nil, Timestamp(microseconds: 5)]) == [nil, Timestamp(microseconds: 5)])
  }

  @Test func typesOfArrays() {
    #expect([String].postgresType == .textArray)
    #expect([UUID?].postgresType == .uuidArray)
    #expect([UInt8].postgresType == .bytea)
    #expect([[UInt8]].postgresType == .byteaArray)
    #expect([Int].postgresType == .int8Array)
  }

  /// Any bytes as any type: an error or a value, never a trap.
  @Test(arguments: [UInt64(1), 2, 3]) func hostileBytesNeverTrap(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let types: [PostgresType] = [
      .bool, .int2, .int4, .int8, .float8, .text, .uuid, .bytea, .timestamptz, .jsonb, .textArray,
      .int8Array, .byteaArray, .oid, .unknown,
    ]
    var values = 0
    for _ in 0..<20_000 {
      var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      // Often enough a header that passes for an array's.
      if bytes.count >= 20, Bool.random(using: &random) {
        bytes.replaceSubrange(0..<4, with: [0, 0, 0, 1])
        bytes.replaceSubrange(12..<16, with: [0, 0, 0, UInt8.random(in: 0...6, using: &random)])
      }
      let type = types.randomElement(using: &random)!
      func attempt<T: PostgresDecodable>(_: T.Type) {
        let value = try? bytes.withUnsafeBytes { try T.decode($0, type: type) }
        if value != nil { values += 1 }
      }
      attempt(Bool.self)
      attempt(Int.self)
      attempt(Int16.self)
      attempt(Double.self)
      attempt(String.self)
      attempt(UUID.self)
      attempt(Timestamp.self)
      attempt(JSONB.self)
      attempt([Int].self)
      attempt([String?].self)
      attempt([UInt8].self)
      attempt([[UInt8]?].self)
    }
    #expect(values > 100)
  }

  @Test func badValuesAreRefusedBeforeSending() {
    let text = Statement(name: "t", sql: "SELECT $1", parameters: [.text])
    let nul = Work(.read, [Step(text, Parameters("a\u{0}b"))], deadline: .max)
    #expect(nul.flaw?.code == .badParameter)
    #expect(nul.flaw?.description.contains("NUL") == true)
    #expect(nul.flaw?.description.contains("a\u{0}b") == false)
    let few = Work(.read, [Step(text, Parameters())], deadline: .max)
    #expect(few.flaw?.code == .badParameter)
    #expect(Work(.read, [Step(text, Parameters(String?.none))], deadline: .max).flaw == nil)
    let array = Parameters(["fine", "a\u{0}"])
    #expect(array.flaw?.code == .badParameter)
    #expect(Parameters(Timestamp(microseconds: .min)).flaw?.code == .badParameter)
  }

  @Test func backoffDoublesUpToItsCapWithJitter() {
    var random = SeededRandom(seed: 7)
    var backoff = Backoff(base: .milliseconds(100), cap: .seconds(1))
    for ceiling: UInt64 in [100, 200, 400, 800, 1000, 1000] {
      let wait = backoff.next(using: &random)
      #expect((ceiling * 500_000...ceiling * 1_000_000).contains(wait))
    }
    for _ in 0..<100 { _ = backoff.next(using: &random) }
    backoff.reset()
    #expect(backoff.next(using: &random) <= 100_000_000)
  }

  @Test func quoting() {
    #expect(quotedIdentifier("a\"b") == "\"a\"\"b\"")
    #expect(quotedIdentifier("a\"\u{301}") == "\"a\"\"\u{301}\"")
    #expect(quotedLiteral("it's \\ '\u{301}") == " E'it''s \\\\ ''\u{301}'")
  }
}
