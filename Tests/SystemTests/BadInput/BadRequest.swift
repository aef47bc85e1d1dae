import Foundation
import NIOHTTP1

/// A request that must be refused, and how.
struct BadRequest: Sendable, CustomStringConvertible {
  var name: String
  var method: HTTPMethod
  var path: String
  var body: Data?
  var headers: [(String, String)] = []
  var status: Int
  var code: String
  /// Where in the body, for 422 and conflicts of batches.
  var pointer: String?

  var description: String { name }

  init(
    _ name: String, _ method: HTTPMethod, _ path: String, _ body: String? = nil,
    headers: [(String, String)] = [], _ status: Int, _ code: String, at pointer: String? = nil
  ) {
    self.init(
      name, method, path, bytes: body.map { Data($0.utf8) }, headers: headers, status, code,
      at: pointer)
  }

  init(
    _ name: String, _ method: HTTPMethod, _ path: String, bytes: Data?,
    headers: [(String, String)] = [], _ status: Int, _ code: String, at pointer: String? = nil
  ) {
    self.name = name
    self.method = method
    self.path = path
    body = bytes
    self.headers = headers
    self.status = status
    self.code = code
    self.pointer = pointer
  }

  /// Stands in every text of these requests: neither an answer nor the log may have it.
  static let canary = "zyxwv-canary"
}

/// What the bad requests are about: a thread that the caller is in, and an entry of theirs.
struct Target {
  let thread = UUID()
  let mail = UUID()
  let entry = UUID()
  let others = UUID()

  var threadPath: String { "/v1/threads/\(lowercased(thread))" }
  var mailPath: String { "/v1/threads/\(lowercased(mail))" }
  var entryPath: String { "\(threadPath)/entries/\(lowercased(entry))" }
  var othersPath: String { "\(threadPath)/entries/\(lowercased(others))" }
  /// Never used before.
  var newThread: String { "/v1/threads/\(lowercased(UUID()))" }
  var newEntry: String { "\(threadPath)/entries/\(lowercased(UUID()))" }
  var newMail: String { "\(mailPath)/entries/\(lowercased(UUID()))" }

  /// Makes it, with `ada` as the caller and `jon` as the other.
  func make(_ ada: APIClient, _ jon: APIClient) async throws {
    let people = [["userId": "jon"]]
    for (path, kind) in [(threadPath, "message"), (mailPath, "mail")] {
      let answer = try await ada.call(.PUT, path, json(["kind": kind, "participants": people]))
      guard answer.status == 201 else {
        throw UnexpectedStatus(status: answer.status, code: answer.problem)
      }
    }
    for (client, path) in [(ada, entryPath), (jon, othersPath)] {
      let answer = try await client.call(.PUT, path, json(["kind": "text", "text": "good"]))
      guard answer.status == 201 else {
        throw UnexpectedStatus(status: answer.status, code: answer.problem)
      }
    }
  }
}

extension Target {
  private var text: String { "\"\(BadRequest.canary)\"" }
  private var send: String { #"{"kind":"text","text":\#(text)}"# }

  /// What is no JSON, or no JSON of the right shape.
  var badBodies: [BadRequest] {
    let whole = Array(send.utf8)
    var bad: [BadRequest] = [
      BadRequest("empty body", .PUT, newEntry, "", 400, "malformed-json"),
      BadRequest("not JSON", .PUT, newEntry, "kind=text", 400, "malformed-json"),
      BadRequest("an array", .PUT, newEntry, "[]", 422, "invalid-request", at: ""),
      BadRequest("a number", .PUT, newEntry, "1", 422, "invalid-request", at: ""),
      BadRequest("null", .PUT, newEntry, "null", 422, "invalid-request", at: ""),
      BadRequest("two values", .PUT, newEntry, send + send, 400, "malformed-json"),
      BadRequest(
        "single quotes", .PUT, newEntry, "{'kind':'text','text':'x'}", 400, "malformed-json"),
      BadRequest(
        "a comment", .PUT, newEntry, #"{"kind":"text",/* */"text":\#(text)}"#, 400,
        "malformed-json"),
      BadRequest(
        "a trailing comma", .PUT, newEntry, #"{"kind":"text","text":\#(text),}"#, 400,
        "malformed-json"),
      BadRequest(
        "a raw control character", .PUT, newEntry, "{\"kind\":\"text\",\"text\":\"a\nb\"}", 400,
        "malformed-json"),
      BadRequest(
        "invalid UTF-8", .PUT, newEntry,
        bytes: Data(#"{"kind":"text","text":""#.utf8) + [0xc3, 0x28] + Data("\"}".utf8), 400,
        "malformed-json"),
      BadRequest(
        "overlong UTF-8", .PUT, newEntry,
        bytes: Data(#"{"kind":"text","text":""#.utf8) + [0xc0, 0xaf] + Data("\"}".utf8), 400,
        "malformed-json"),
      BadRequest(
        "a lone surrogate", .PUT, newEntry, #"{"kind":"text","text":"\ud800"}"#, 422,
        "invalid-request", at: ""),
      BadRequest(
        "UTF-16", .PUT, newEntry, bytes: send.data(using: .utf16LittleEndian), 400,
        "malformed-json"),
      BadRequest(
        "nested too deep", .PUT, newEntry,
        String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000), 400,
        "malformed-json"),
      BadRequest(
        "wrong media type", .PUT, newEntry, send, headers: [("Content-Type", "text/plain")], 415,
        "unsupported-media-type"),
      BadRequest(
        "a form", .PUT, newEntry, send,
        headers: [("Content-Type", "application/x-www-form-urlencoded")], 415,
        "unsupported-media-type"),
    ]
    for count in stride(from: 1, to: whole.count, by: 7) {
      bad.append(
        BadRequest(
          "cut off after \(count) bytes", .PUT, newEntry, bytes: Data(whole[..<count]), 400,
          "malformed-json"))
    }
    return bad
  }

  /// JSON that is not what the call takes.
  var badMembers: [BadRequest] {
    func entry(_ name: String, _ body: String, at pointer: String) -> BadRequest {
      BadRequest(name, .PUT, newEntry, body, 422, "invalid-request", at: pointer)
    }
    func thread(_ name: String, _ body: String, at pointer: String) -> BadRequest {
      BadRequest(name, .PUT, newThread, body, 422, "invalid-request", at: pointer)
    }
    let long = String(repeating: "x", count: 65_537)
    let wide = String(repeating: "é", count: 32_769)
    let file = #"{"url":"https://example.org/a","mediaType":"image/png","sizeBytes":1}"#
    return [
      entry("no kind", #"{"text":\#(text)}"#, at: "/kind"),
      entry("unknown kind", #"{"kind":"\#(BadRequest.canary)","text":"x"}"#, at: "/kind"),
      entry("kind system", #"{"kind":"system","text":\#(text)}"#, at: "/kind"),
      entry("kind a number", #"{"kind":1,"text":\#(text)}"#, at: "/kind"),
      entry("no text", #"{"kind":"text"}"#, at: "/text"),
      entry("text null", #"{"kind":"text","text":null}"#, at: "/text"),
      entry("empty text", #"{"kind":"text","text":""}"#, at: "/text"),
      entry("text a number", #"{"kind":"text","text":1}"#, at: "/text"),
      entry("text an object", #"{"kind":"text","text":{}}"#, at: "/text"),
      entry("NUL in text", #"{"kind":"text","text":"a\u0000b"}"#, at: "/text"),
      entry("65,537 bytes of text", #"{"kind":"text","text":"\#(long)"}"#, at: "/text"),
      entry(
        "65,538 bytes in 32,769 characters", #"{"kind":"text","text":"\#(wide)"}"#, at: "/text"),
      entry(
        "unknown field", #"{"kind":"text","text":\#(text),"colour":"red"}"#, at: "/colour"),
      entry(
        "sender chosen", #"{"kind":"text","text":\#(text),"senderId":"jon"}"#, at: "/senderId"),
      entry("seq chosen", #"{"kind":"text","text":\#(text),"seq":1}"#, at: "/seq"),
      entry("a time of day", #"{"kind":"text","text":\#(text),"sentAt":"noon"}"#, at: "/sentAt"),
      entry(
        "no such day", #"{"kind":"text","text":\#(text),"sentAt":"2026-02-30T00:00:00Z"}"#,
        at: "/sentAt"),
      entry("sentAt a number", #"{"kind":"text","text":\#(text),"sentAt":0}"#, at: "/sentAt"),
      entry("replyTo no UUID", #"{"kind":"text","text":\#(text),"replyTo":"x"}"#, at: "/replyTo"),
      entry(
        "replyTo unknown", #"{"kind":"text","text":\#(text),"replyTo":"\#(UUID())"}"#,
        at: "/replyTo"),
      entry("image without attachments", #"{"kind":"image"}"#, at: "/attachments"),
      entry("no attachments", #"{"kind":"image","attachments":[]}"#, at: "/attachments"),
      entry(
        "33 attachments",
        #"{"kind":"image","attachments":[\#(Array(repeating: file, count: 33).joined(separator: ","))]}"#,
        at: "/attachments"),
      entry(
        "attachment without url",
        #"{"kind":"file","attachments":[{"mediaType":"a/b","sizeBytes":1}]}"#, at: "/attachments/0"),
      entry(
        "attachment of another scheme",
        #"{"kind":"file","attachments":[{"url":"javascript:x","mediaType":"a/b","sizeBytes":1}]}"#,
        at: "/attachments/0/url"),
      entry(
        "negative size",
        #"{"kind":"file","attachments":[{"url":"https://a.example","mediaType":"a/b","sizeBytes":-1}]}"#,
        at: "/attachments/0/sizeBytes"),
      entry(
        "latitude 91",
        #"{"kind":"location","attachments":[{"latitude":91,"longitude":0}]}"#,
        at: "/attachments/0/latitude"),
      entry(
        "unknown field of an attachment",
        #"{"kind":"location","attachments":[{"latitude":1,"longitude":0,"altitude":1}]}"#,
        at: "/attachments/0/altitude"),
      entry(
        "recipients in a chat", #"{"kind":"text","text":\#(text),"cc":["jon"]}"#, at: ""),
      BadRequest(
        "a stranger as recipient", .PUT, newMail,
        #"{"kind":"text","text":\#(text),"bcc":["nobody"]}"#, 422, "invalid-request", at: ""),

      thread("thread without kind", #"{"participants":[]}"#, at: "/kind"),
      thread("unknown kind of thread", #"{"kind":"group","participants":[]}"#, at: "/kind"),
      thread("no participants", #"{"kind":"message"}"#, at: "/participants"),
      thread(
        "participants a string", #"{"kind":"message","participants":"jon"}"#, at: "/participants"),
      thread(
        "participant a string", #"{"kind":"message","participants":["jon"]}"#, at: "/participants/0"
      ),
      thread(
        "participant twice",
        #"{"kind":"message","participants":[{"userId":"jon"},{"userId":"jon"}]}"#,
        at: "/participants/1/userId"),
      thread(
        "unknown role", #"{"kind":"message","participants":[{"userId":"jon","role":"god"}]}"#,
        at: "/participants/0/role"),
      thread(
        "empty user id", #"{"kind":"message","participants":[{"userId":""}]}"#,
        at: "/participants/0/userId"),
      thread(
        "user id of 129 bytes",
        #"{"kind":"message","participants":[{"userId":"\#(String(repeating: "u", count: 129))"}]}"#,
        at: "/participants/0/userId"),
      thread(
        "NUL in a user id", #"{"kind":"message","participants":[{"userId":"a\u0000"}]}"#,
        at: "/participants/0/userId"),
      thread(
        "empty name", #"{"kind":"message","participants":[{"userId":"jon","name":{}}]}"#,
        at: "/participants/0/name"),
      thread(
        "unknown part of a name",
        #"{"kind":"message","participants":[{"userId":"jon","name":{"nick":"J"}}]}"#,
        at: "/participants/0/name/nick"),
      thread(
        "NUL in a subject", #"{"kind":"mail","participants":[],"subject":"\u0000"}"#, at: "/subject"
      ),
      thread(
        "subject of 999 bytes",
        #"{"kind":"mail","participants":[],"subject":"\#(String(repeating: "s", count: 999))"}"#,
        at: "/subject"),
      thread(
        "unknown history", #"{"kind":"mail","participants":[],"history":"none"}"#, at: "/history"),
      thread(
        "1,000 others",
        #"{"kind":"mail","participants":[\#((0..<1000).map { "{\"userId\":\"u\($0)\"}" }.joined(separator: ","))]}"#,
        at: "/participants"),

      BadRequest("empty edit", .PATCH, entryPath, "{}", 422, "invalid-request", at: ""),
      BadRequest(
        "edit to null", .PATCH, entryPath, #"{"text":null}"#, 422, "invalid-request", at: "/text"),
      BadRequest(
        "edit of the kind", .PATCH, entryPath, #"{"kind":"image"}"#, 422, "invalid-request",
        at: "/kind"),
      BadRequest(
        "edit of another's", .PATCH, othersPath, #"{"text":\#(text)}"#, 403, "forbidden"),
      BadRequest(
        "edit of nothing", .PATCH, newEntry, #"{"text":\#(text)}"#, 404, "no-such-entry"),
      BadRequest(
        "the last owner made less", .PUT, "\(threadPath)/participants/ada", #"{"role":"member"}"#,
        409, "last-owner"),
      BadRequest(
        "removal of nobody", .DELETE, "\(threadPath)/participants/nobody", nil, 404,
        "no-such-participant"),
      BadRequest(
        "unknown role of a participant", .PUT, "\(threadPath)/participants/jon",
        #"{"role":"king"}"#, 422, "invalid-request", at: "/role"),
      BadRequest(
        "read without a number", .PUT, "\(threadPath)/read", "{}", 422, "invalid-request", at: ""),
      BadRequest(
        "read both ways", .PUT, "\(threadPath)/read", #"{"upTo":1,"unreadFrom":1}"#, 422,
        "invalid-request", at: ""),
      BadRequest(
        "read up to -1", .PUT, "\(threadPath)/read", #"{"upTo":-1}"#, 422, "invalid-request",
        at: "/upTo"),
      BadRequest(
        "read up to a fraction", .PUT, "\(threadPath)/read", #"{"upTo":1.5}"#, 422,
        "invalid-request", at: ""),
      BadRequest(
        "read up to 2^64", .PUT, "\(threadPath)/read", #"{"upTo":18446744073709551616}"#, 422,
        "invalid-request", at: ""),
      BadRequest(
        "read up to a string", .PUT, "\(threadPath)/read", #"{"upTo":"1"}"#, 422,
        "invalid-request", at: "/upTo"),
      BadRequest(
        "unread from 0", .PUT, "\(threadPath)/read", #"{"unreadFrom":0}"#, 422,
        "invalid-request", at: "/unreadFrom"),
    ]
  }

  /// Batches of which one item, or the whole, is wrong.
  var badBatches: [BadRequest] {
    func batch(_ name: String, _ items: [String], at pointer: String) -> BadRequest {
      BadRequest(
        name, .POST, "\(threadPath)/entries", #"{"entries":[\#(items.joined(separator: ","))]}"#,
        422, "invalid-request", at: pointer)
    }
    func good(_ id: UUID = UUID()) -> String { #"{"id":"\#(id)","kind":"text","text":\#(text)}"# }
    let twice = UUID()
    return [
      batch("empty batch", [], at: "/entries"),
      batch("101 entries", (0..<101).map { _ in good() }, at: "/entries"),
      batch("the same id twice", [good(twice), good(twice)], at: "/entries/1/id"),
      batch("item without id", [good(), send], at: "/entries/1/id"),
      batch("item with a bad id", [#"{"id":"1","kind":"text","text":"x"}"#], at: "/entries/0/id"),
      batch(
        "unknown field of an item",
        [good(), #"{"id":"\#(UUID())","kind":"text","text":"x","to":"y"}"#], at: "/entries/1/to"),
      batch(
        "empty text in an item", [good(), #"{"id":"\#(UUID())","kind":"text","text":""}"#],
        at: "/entries/1/text"),
      batch(
        "reply to a later item",
        [
          #"{"id":"\#(UUID())","kind":"text","text":"x","replyTo":"\#(twice)"}"#, good(twice),
        ], at: "/entries/0/replyTo"),
      BadRequest(
        "batch that is an array", .POST, "\(threadPath)/entries", "[\(good())]", 422,
        "invalid-request", at: ""),
      BadRequest(
        "batch with an entry that is taken", .POST, "\(threadPath)/entries",
        #"{"entries":[\#(good()),\#(good(entry))]}"#, 409, "entry-exists", at: "/entries/1"),
    ]
  }

  /// Query parameters, unknown addresses and methods.
  var badAddresses: [BadRequest] {
    var bad: [BadRequest] = []
    for query in [
      "limit=0", "limit=201", "limit=x", "limit=", "limit=-1", "limit=1.5", "limit=%201",
      "limit=99999999999999999999", "limit=1&limit=1", "colour=red", "Limit=1",
    ] {
      for path in ["/v1/threads", "/v1/changes", "/v1/events", "\(threadPath)/entries"] {
        bad.append(
          BadRequest("\(path.prefix(11))?\(query)", .GET, "\(path)?\(query)", nil, 400, "bad-query")
        )
      }
    }
    for query in ["before=-1", "after=x", "after=9223372036854775808", "before=1&before=2"] {
      bad.append(
        BadRequest(
          "entries?\(query)", .GET, "\(threadPath)/entries?\(query)", nil, 400, "bad-query"))
    }
    for query in ["wait=-1", "wait=31", "wait=x"] {
      bad.append(
        BadRequest("changes?\(query)", .GET, "/v1/changes?\(query)", nil, 400, "bad-query"))
    }
    for after in ["x", "1", "1.2", ".", "1.\(UUID()).1", "x.\(UUID())"] {
      bad.append(
        BadRequest(
          "threads?after=\(after)", .GET, "/v1/threads?after=\(after)", nil, 400, "bad-query"))
    }
    bad += [
      BadRequest("a query on a write", .PUT, newEntry + "?a=b", send, 400, "bad-query"),
      BadRequest("a query on a thread", .GET, threadPath + "?limit=1", nil, 400, "bad-query"),
      BadRequest("no route", .GET, "/v1/nothing", nil, 404, "no-such-resource"),
      BadRequest("no version", .GET, "/threads", nil, 404, "no-such-resource"),
      BadRequest("the admin's metrics", .GET, "/metrics", nil, 404, "no-such-resource"),
      BadRequest("a demo that is not on", .GET, "/demo/session.json", nil, 404, "no-such-resource"),
      BadRequest("a POST of a thread", .POST, threadPath, "{}", 405, "method-not-allowed"),
      BadRequest("a DELETE of the list", .DELETE, "/v1/threads", nil, 405, "method-not-allowed"),
      BadRequest(
        "an unknown method", .RAW(value: "BREW"), threadPath, nil, 405, "method-not-allowed"),
    ]
    return bad
  }

  /// Phrases to be resolved.
  var badResolution: [BadRequest] {
    func post(_ name: String, _ body: String, at pointer: String) -> BadRequest {
      BadRequest(name, .POST, "/v1/resolve", body, 422, "invalid-request", at: pointer)
    }
    let many = (0..<101).map { _ in "\"a\"" }.joined(separator: ",")
    let long = String(repeating: "a", count: 1025)
    return [
      post("a type that is none", #"{"type":\#(text),"phrases":["a"]}"#, at: "/type"),
      post("no phrases", #"{"type":"contactName"}"#, at: "/phrases"),
      post("phrases that are none", #"{"type":"contactName","phrases":[]}"#, at: "/phrases"),
      post("101 phrases", #"{"type":"contactName","phrases":[\#(many)]}"#, at: "/phrases"),
      post(
        "a phrase of 1025 bytes", #"{"type":"contactName","phrases":["a","\#(long)"]}"#,
        at: "/phrases/1"),
      post(
        "a phrase that is a number", #"{"type":"contactName","phrases":[1]}"#, at: "/phrases/0"),
      post(
        "21 candidates", #"{"type":"contactName","phrases":["a"],"limit":21}"#, at: "/limit"),
      post(
        "a revision below 0",
        #"{"type":"contactName","phrases":["a"],"atLeast":{"vocabularyRevision":-1}}"#,
        at: "/atLeast/vocabularyRevision"),
      post(
        "an unknown field", #"{"type":"contactName","phrases":["a"],"user":\#(text)}"#,
        at: "/user"),
    ]
  }

  /// Vocabulary: bodies, types, preconditions and pages.
  var badVocabulary: [BadRequest] {
    let path = "/v1/vocabulary/contactName"
    let good = #"{"strings":["good"]}"#
    func put(_ name: String, _ body: String, at pointer: String) -> BadRequest {
      BadRequest(name, .PUT, path, body, 422, "invalid-request", at: pointer)
    }
    var bad: [BadRequest] = [
      put("strings that are none", #"{"strings":\#(text)}"#, at: "/strings"),
      put("a phrase that is a number", #"{"strings":["a",1]}"#, at: "/strings/1"),
      put("an empty phrase", #"{"strings":[{"phrase":""}]}"#, at: "/strings/0/phrase"),
      put("a phrase with NUL", #"{"strings":["a\u0000b"]}"#, at: "/strings/0"),
      put(
        "a phrase of 1025 bytes", #"{"strings":["\#(String(repeating: "a", count: 1025))"]}"#,
        at: "/strings/0"),
      put("no phrase", #"{"strings":[{"identifier":\#(text)}]}"#, at: "/strings/0/phrase"),
      put("an unknown field", #"{"strings":[],"type":\#(text)}"#, at: "/type"),
      put(
        "an unknown field of a string", #"{"strings":[{"phrase":"a","pronunciation":\#(text)}]}"#,
        at: "/strings/0/pronunciation"),
      put(
        "20001 strings",
        #"{"strings":[\#((0..<20_001).map { "\"\($0)\"" }.joined(separator: ","))]}"#,
        at: "/strings"),
      put("a lone surrogate in a phrase", #"{"strings":["\ud800"]}"#, at: "/strings/0"),
      BadRequest(
        "a wrong place before the end of JSON", .PUT, path, #"{"strings":5"#, 400,
        "malformed-json"),
      BadRequest(
        "a trailing comma in strings", .PUT, path, #"{"strings":["a",]}"#, 400, "malformed-json"),
      BadRequest(
        "vocabulary as a form", .PUT, path, good,
        headers: [("Content-Type", "application/x-www-form-urlencoded")], 415,
        "unsupported-media-type"),
      BadRequest(
        "another revision", .PUT, path, good, headers: [("If-Match", "\"7\"")], 412,
        "revision-mismatch"),
      BadRequest(
        "a revision without quotes", .PUT, path, good, headers: [("If-Match", "7")], 400,
        "bad-request"),
      BadRequest(
        "a revision that must not be", .PUT, path, good, headers: [("If-None-Match", "\"7\"")],
        400, "bad-request"),
      BadRequest(
        "an unknown type", .PUT, "/v1/vocabulary/ContactName", good, 404,
        "no-such-vocabulary-type"),
      BadRequest(
        "a POST of vocabulary", .POST, path, good, 405, "method-not-allowed"),
    ]
    for query in [
      "limit=0", "limit=20001", "after=x", "after=1", "after=1.-1", "derived=yes", "derived=",
    ] {
      bad.append(
        BadRequest("vocabulary?\(query)", .GET, "\(path)?\(query)", nil, 400, "bad-query"))
    }
    return bad
  }

  /// Ids in the path, as they stand on the wire: a client's library would put some of them right.
  var badIdentifiers: [BadRequest] {
    var bad: [BadRequest] = []
    for id in [
      "1", "not-a-uuid", lowercased(thread) + "0", "%00", "..%2f..", "%ff", "%", "%4", "%zz",
    ] {
      bad.append(
        BadRequest("thread id \(id)", .GET, "/v1/threads/\(id)", nil, 400, "bad-identifier"))
      bad.append(
        BadRequest(
          "entry id \(id)", .PUT, "\(threadPath)/entries/\(id)", send, 400, "bad-identifier"))
    }
    for (name, id) in [
      ("NUL", "a%00b"), ("a line break", "a%0Ab"),
      ("129 bytes", String(repeating: "u", count: 129)),
      ("129 bytes in 43 characters", String(repeating: "%E6%97%A9", count: 43)),
      ("half a character", "%E6%97"), ("half an escape", "a%4"), ("no escape", "a%zz"),
      ("a surrogate", "%ED%A0%80"),
    ] {
      let path = "\(threadPath)/participants/\(id)"
      bad.append(BadRequest("user id with \(name)", .PUT, path, "{}", 400, "bad-identifier"))
      bad.append(BadRequest("removal with \(name)", .DELETE, path, nil, 400, "bad-identifier"))
    }
    return bad
  }
}
