import CoreMetrics
import Synchronization

/// A number that many threads add to without a lock.
final class AtomicDouble: Sendable {
  private let bits = Atomic<UInt64>(0)

  var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

  func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

  func add(_ amount: Double) {
    var old = bits.load(ordering: .relaxed)
    while true {
      let new = (Double(bitPattern: old) + amount).bitPattern
      let (done, current) = bits.weakCompareExchange(
        expected: old, desired: new, ordering: .relaxed)
      if done { return }
      old = current
    }
  }
}

/// A counter of whole numbers. Negative amounts are ignored: a counter only goes up.
final class CounterSeries: CounterHandler, Sendable {
  private let count = Atomic<UInt64>(0)

  var value: Double { Double(count.load(ordering: .relaxed)) }

  func increment(by amount: Int64) {
    guard amount > 0 else { return }
    count.wrappingAdd(UInt64(amount), ordering: .relaxed)
  }

  func reset() { count.store(0, ordering: .relaxed) }
}

/// A counter of fractions. Negative amounts and those that are no number are ignored.
final class FloatingCounterSeries: FloatingPointCounterHandler, Sendable {
  private let sum = AtomicDouble()

  var value: Double { sum.value }

  func increment(by amount: Double) {
    guard amount > 0, amount.isFinite else { return }
    sum.add(amount)
  }

  func reset() { sum.set(0) }
}

/// A value that goes up and down; a meter, or a recorder that does not aggregate.
final class GaugeSeries: MeterHandler, RecorderHandler, Sendable {
  private let number = AtomicDouble()

  var value: Double { number.value }

  func set(_ value: Int64) { number.set(Double(value)) }
  func set(_ value: Double) { number.set(value) }
  func increment(by amount: Double) { number.add(amount) }
  func decrement(by amount: Double) { number.add(-amount) }
  func record(_ value: Int64) { set(value) }
  func record(_ value: Double) { set(value) }
}

/// A distribution: a timer (in seconds), or a recorder that aggregates.
final class HistogramSeries: TimerHandler, RecorderHandler, Sendable {
  /// Upper bounds, ascending and finite; a last bucket takes what is larger.
  let bounds: [Double]
  private let sum = AtomicDouble()
  // Written by initialisation only; what it points to is atomic.
  private nonisolated(unsafe) let counts: UnsafeMutablePointer<Atomic<UInt64>>

  init(bounds: [Double]) {
    self.bounds = bounds
    counts = .allocate(capacity: bounds.count + 1)
    for index in 0...bounds.count { (counts + index).initialize(to: Atomic(0)) }
  }

  deinit {
    counts.deinitialize(count: bounds.count + 1)
    counts.deallocate()
  }

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    // Neither belongs into a bucket, and each would spoil the sum for ever.
    guard value.isFinite else { return }
    var index = 0
    while index < bounds.count, value > bounds[index] { index += 1 }
    counts[index].wrappingAdd(1, ordering: .relaxed)
    sum.add(value)
  }

  /// Observations in each bucket alone, that without a bound last, and the sum of all values.
  var snapshot: (counts: [UInt64], sum: Double) {
    ((0...bounds.count).map { counts[$0].load(ordering: .relaxed) }, sum.value)
  }
}
