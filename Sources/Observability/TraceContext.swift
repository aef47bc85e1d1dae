public import Logging

/// Where a piece of work stands in a distributed trace (W3C Trace Context, Level 2).
///
/// A request is served in the context of ``serving(traceparent:tracestate:random:)``, bound to
/// ``current``; an outgoing request carries that of ``child(random:)``.
public struct TraceContext: Sendable, Hashable {
  /// The trace's id: 32 lower-case hexadecimal digits, not all zero.
  public let traceID: String
  /// The id of this piece of work: 16 lower-case hexadecimal digits, not all zero.
  public let spanID: String
  /// Bit 0: the caller may have recorded the trace. Bit 1: the trace id is random. No others.
  public let flags: UInt8
  /// What other tracing systems hand on: a valid `tracestate`, or empty.
  public let tracestate: String

  /// The context of the work in progress in this task.
  @TaskLocal public static var current: TraceContext?

  /// Adds `trace_id` and `span_id` of ``current`` to every line of a log.
  public static let metadataProvider = Logger.MetadataProvider {
    guard let current else { return [:] }
    return ["trace_id": .string(current.traceID), "span_id": .string(current.spanID)]
  }

  /// The context of serving a request: a new span in the caller's trace, or in a new trace when
  /// the caller sent none that is valid.
  /// - Parameters:
  ///   - traceparent: the values of all headers of this name; more than one is not valid.
  ///   - tracestate: the values of all headers of this name, in order.
  ///   - random: gives 64 random bits.
  public static func serving(
    traceparent: [String], tracestate: [String], random: () -> UInt64
  ) -> TraceContext {
    if traceparent.count == 1, let parent = TraceParent(traceparent[0]) {
      return TraceContext(
        traceID: parent.traceID, spanID: newSpanID(random), flags: parent.flags,
        tracestate: TraceState.normalised(tracestate) ?? "")
    }
    return TraceContext(
      traceID: hexadecimal(nonZero(random)) + hexadecimal(random()), spanID: newSpanID(random),
      flags: randomFlag, tracestate: "")
  }

  /// The context of a request that is made in the course of this work.
  /// - Parameter random: gives 64 random bits.
  public func child(random: () -> UInt64) -> TraceContext {
    TraceContext(
      traceID: traceID, spanID: Self.newSpanID(random), flags: flags, tracestate: tracestate)
  }

  /// The value of the `traceparent` header that names this work as the parent.
  public var traceparent: String {
    "00-\(traceID)-\(spanID)-0\(String(flags, radix: 16))"
  }

  private static let randomFlag: UInt8 = 0b10

  private static func newSpanID(_ random: () -> UInt64) -> String {
    hexadecimal(nonZero(random))
  }

  private static func nonZero(_ random: () -> UInt64) -> UInt64 {
    let value = random()
    return value == 0 ? 1 : value
  }

  private static func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// A valid `traceparent` header (section 3.2).
struct TraceParent {
  let traceID: String
  let flags: UInt8

  /// Flags that mean something to us; others are not handed on.
  private static let knownFlags: UInt8 = 0b11

  init?(_ text: String) {
    let bytes = Array(text.utf8)
    let dash = UInt8(ascii: "-")
    // A later version may have more fields, after another dash.
    guard bytes.count == 55 || bytes.count > 55 && bytes[55] == dash,
      bytes[2] == dash, bytes[35] == dash, bytes[52] == dash,
      let version = Self.hexadecimal(bytes[0..<2]), version != 0xFF,
      version != 0 || bytes.count == 55,
      Self.isID(bytes[3..<35]), Self.isID(bytes[36..<52]),
      let flags = Self.hexadecimal(bytes[53..<55])
    else { return nil }
    traceID = String(decoding: bytes[3..<35], as: UTF8.self)
    self.flags = UInt8(flags) & Self.knownFlags
  }

  private static func isID(_ digits: ArraySlice<UInt8>) -> Bool {
    digits.allSatisfy { value(of: $0) != nil } && digits.contains { $0 != UInt8(ascii: "0") }
  }

  private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> Int? {
    var result = 0
    for digit in digits {
      guard let value = value(of: digit) else { return nil }
      result = result << 4 | value
    }
    return result
  }

  /// Upper-case digits are not valid here.
  private static func value(of digit: UInt8) -> Int? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(digit - UInt8(ascii: "a")) + 10
    default: nil
    }
  }
}
