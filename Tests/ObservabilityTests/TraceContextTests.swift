import Logging
import Observability
import Testing

@Suite struct TraceContextTests {
  private let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private let parent = "00f067aa0ba902b7"

  private func serve(_ traceparent: [String], _ tracestate: [String] = []) -> TraceContext {
    var next: UInt64 = 0
    return .serving(traceparent: traceparent, tracestate: tracestate) {
      next += 1
      return next
    }
  }

  @Test func aValidParentIsContinued() {
    let context = serve(["00-\(trace)-\(parent)-01"], ["congo=t61rcWkgMzE"])
    #expect(context.traceID == trace)
    #expect(context.spanID == "0000000000000001")
    #expect(context.flags == 1)
    #expect(context.traceparent == "00-\(trace)-0000000000000001-01")
    #expect(context.tracestate == "congo=t61rcWkgMzE")
  }

  @Test func withoutAParentATraceBegins() {
    let context = serve([], ["congo=t61rcWkgMzE"])
    #expect(context.traceparent == "00-00000000000000010000000000000002-0000000000000003-02")
    #expect(context.tracestate.isEmpty)
  }

  @Test func idsAreNeverZero() {
    let context = TraceContext.serving(traceparent: [], tracestate: []) { 0 }
    #expect(context.traceparent == "00-00000000000000010000000000000000-0000000000000001-02")
  }

  @Test(arguments: [
    "", "00", "00-TRACE-PARENT", "00-TRACE-PARENT-1", "00-TRACE-PARENT-01-", "00-TRACE-PARENT-01-x",
    "00-TRACE-PARENT-0G", "00-TRACE-PARENT-0A", "ff-TRACE-PARENT-01", "0A-TRACE-PARENT-01",
    "01-TRACE-PARENT-01x", "00_TRACE-PARENT-01", " 00-TRACE-PARENT-01", "00-TRACE-PARENT-01 ",
    "00-00000000000000000000000000000000-PARENT-01", "00-TRACE-0000000000000000-01",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-PARENT-01", "00-TRACE-00f067aa0ba902bé-01",
    "00-TRACE-00f067aa0ba902-01", "00-TRACEa-PARENT-01",
  ])
  func badParentsAreIgnored(pattern: String) {
    let value = pattern.replacing("TRACE", with: trace).replacing("PARENT", with: parent)
    let context = serve([value], ["a=b"])
    #expect(context.traceID == "00000000000000010000000000000002")
    #expect(context.tracestate.isEmpty)
  }

  @Test func twoParentsAreNone() {
    let value = "00-\(trace)-\(parent)-01"
    #expect(serve([value, value]).traceID != trace)
  }

  @Test(arguments: [("cc", ""), ("cc", "-what-the-future-holds"), ("01", "-")])
  func laterVersionsAreReadAsThisOne(version: String, more: String) {
    let context = serve(["\(version)-\(trace)-\(parent)-ff\(more)"])
    #expect(context.traceparent == "00-\(trace)-0000000000000001-03")
  }

  @Test(arguments: [
    (["foo=1,bar=2"], "foo=1,bar=2"), (["foo=1", "bar=2"], "foo=1,bar=2"),
    (["foo=1 \t, \tbar=2, ", ""], "foo=1,bar=2"), (["foo@bar=1,0a=2"], "foo@bar=1,0a=2"),
    (["foo= 1"], "foo= 1"), (["a_-*/z=!\"~"], "a_-*/z=!\"~"),
    // One bad member spoils all.
    (["foo=1,foo=2"], ""), (["foo"], ""), (["foo="], ""), (["=1"], ""), (["Foo=1"], ""),
    (["foo =1"], ""), (["foo=a=b"], ""), (["foo=\u{7}"], ""), (["foo=é"], ""), (["_a=1"], ""),
  ])
  func tracestates(headers: [String], expected: String) {
    #expect(serve(["00-\(trace)-\(parent)-00"], headers).tracestate == expected)
  }

  @Test func tracestateIsBounded() {
    let members = (0..<32).map { "k\($0)=v" }
    let header = ["00-\(trace)-\(parent)-00"]
    #expect(
      serve(header, [members.joined(separator: ",")]).tracestate.split(separator: ",").count == 32)
    #expect(serve(header, [(members + ["k32=v"]).joined(separator: ",")]).tracestate.isEmpty)
    #expect(serve(header, [String(repeating: "k", count: 257) + "=v"]).tracestate.isEmpty)
    #expect(serve(header, ["k=" + String(repeating: "v", count: 257)]).tracestate.isEmpty)
    // Long members go first, then the last.
    let long = "long=" + String(repeating: "v", count: 200)
    let short = (0..<8).map { "k\($0)=" + String(repeating: "v", count: 77) }
    let kept = serve(header, [([long] + short).joined(separator: ",")]).tracestate
    #expect(kept == short.prefix(6).joined(separator: ","))
  }

  @Test func childrenStayInTheTrace() {
    let context = serve(["00-\(trace)-\(parent)-01"], ["a=b"])
    let child = context.child { 0xABC }
    #expect(child.traceparent == "00-\(trace)-0000000000000abc-01")
    #expect(child.tracestate == "a=b")
  }

  @Test func theCurrentContextIsAddedToLogs() {
    let context = serve(["00-\(trace)-\(parent)-01"])
    #expect(TraceContext.metadataProvider.get().isEmpty)
    TraceContext.$current.withValue(context) {
      #expect(
        TraceContext.metadataProvider.get()
          == ["trace_id": "\(trace)", "span_id": "0000000000000001"])
    }
  }
}
