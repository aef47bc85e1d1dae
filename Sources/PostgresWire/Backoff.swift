/// Exponential back-off with jitter: attempt n waits between half of and all of
/// `min(cap, base · 2ⁿ)`, so that many clients of a restarted server do not return in step.
package struct Backoff: Sendable {
  package var baseNanoseconds: UInt64
  package var capNanoseconds: UInt64
  private var failures: UInt64 = 0

  package init(base: Duration, cap: Duration) {
    baseNanoseconds = max(1, base.nanoseconds)
    capNanoseconds = max(baseNanoseconds, cap.nanoseconds)
  }

  /// The nanoseconds to wait after one more failure.
  package mutating func next(using random: inout some RandomNumberGenerator) -> UInt64 {
    let shift = min(failures, 32)
    failures += 1
    let (scaled, overflow) = baseNanoseconds.multipliedReportingOverflow(by: 1 << shift)
    let ceiling = overflow ? capNanoseconds : min(capNanoseconds, scaled)
    return UInt64.random(in: ceiling / 2...ceiling, using: &random)
  }

  /// Starts again from the base.
  package mutating func reset() { failures = 0 }
}

/// SplitMix64 (Steele, Lea, Flood 2014): a small generator that replays from its seed.
package struct SeededRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64
  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

extension Duration {
  /// Whole nanoseconds; negative durations count as zero, and what does not fit as the maximum.
  package var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (scaled, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = scaled.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return overflow || carry ? .max : sum
  }
}
