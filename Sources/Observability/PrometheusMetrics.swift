public import CoreMetrics
import Synchronization

/// A backend of swift-metrics that answers scrapes of Prometheus.
///
/// - Counters end in `_total`.
/// - Timers become histograms in seconds, and end in `_seconds`; see ``defaultTimerBuckets``.
/// - Meters, gauges and recorders that do not aggregate become gauges.
/// - Recorders that aggregate become histograms; see ``defaultRecorderBuckets``.
///
/// Making a metric looks its series up under a lock, so that the same label and dimensions always
/// mean the same series; recording a value is a few atomic operations. Metrics that are used often
/// are best made once and kept.
///
/// A metric has a bounded number of series. What is beyond the bound, or has the name of a metric
/// of another kind, is not exported, and counted in `vocative_metrics_dropped_series_total`.
public final class PrometheusMetrics: MetricsFactory, Sendable {
  /// Upper bounds of timers in seconds: 100 µs to 30 s.
  public static let defaultTimerBuckets: [Double] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    30,
  ]
  /// Upper bounds of aggregating recorders, for counts and sizes: powers of 4 up to 1 Mi.
  public static let defaultRecorderBuckets: [Double] = (0...10).map { Double(1 << (2 * $0)) }
  /// The content type of what ``render(into:)`` appends.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private struct State {
    var families: [String: MetricFamily] = [:]
    /// Which family has taken a name of the exposition; a histogram takes four.
    var takenNames: [String: String] = [:]
    var help: [String: String] = [:]
    var buckets: [String: [Double]] = [:]
    var dropped: [String: UInt64] = [:]
  }

  private let state = Mutex(State())
  private let maximumSeries: Int

  /// An empty registry.
  /// - Parameter maximumSeries: most combinations of label values that a metric may have.
  public init(maximumSeries: Int = 1000) { self.maximumSeries = maximumSeries }

  /// Sets the `HELP` text of a metric, and the upper bounds of its buckets if it is a histogram.
  /// Has to come before the metric is made for the first time.
  /// - Parameters:
  ///   - label: the label that the metric is made with.
  ///   - buckets: ascending and finite; what is not, is left out.
  public func describe(_ label: String, help: String, buckets: [Double]? = nil) {
    state.withLock { state in
      state.help[label] = help
      guard let buckets else { return }
      var bounds: [Double] = []
      for bound in buckets where bound.isFinite && bound > bounds.last ?? -.infinity {
        bounds.append(bound)
      }
      state.buckets[label] = bounds
    }
  }

  /// Appends all metrics in the text format, version 0.0.4, ordered by name.
  public func render(into output: inout String) {
    let (families, dropped) = state.withLock { ($0.families, $0.dropped) }
    for (_, family) in families.sorted(by: { $0.key < $1.key }) { family.render(into: &output) }
    guard !dropped.isEmpty else { return }
    let name = Self.droppedName
    output +=
      "# HELP \(name) Metrics not exported: too many series, or a name twice.\n"
    output += "# TYPE \(name) counter\n"
    for (metric, count) in dropped.sorted(by: { $0.key < $1.key }) {
      output += "\(name){metric=\"\(metric)\"} \(count)\n"
    }
  }

  // MARK: MetricsFactory

  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, dimensions, .counter) { _ in CounterSeries() } ?? NOOPMetricsHandler.instance
  }

  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    series(label, dimensions, .counter) { _ in FloatingCounterSeries() }
      ?? NOOPMetricsHandler.instance
  }

  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(label, dimensions, .gauge) { _ in GaugeSeries() } ?? NOOPMetricsHandler.instance
  }

  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    guard aggregate else {
      return series(label, dimensions, .gauge) { _ in GaugeSeries() }
        ?? NOOPMetricsHandler.instance
    }
    return series(label, dimensions, .histogram(unit: "")) {
      HistogramSeries(bounds: $0 ?? Self.defaultRecorderBuckets)
    } ?? NOOPMetricsHandler.instance
  }

  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label, dimensions, .histogram(unit: "_seconds")) {
      HistogramSeries(bounds: $0 ?? Self.defaultTimerBuckets)
    } ?? NOOPMetricsHandler.instance
  }

  public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
    remove(handler)
  }
  public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
  public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
  public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

  // MARK: Series

  private static let droppedName = "vocative_metrics_dropped_series_total"

  /// The series of a metric; nil when it may not be exported.
  private func series<Series: AnyObject & Sendable>(
    _ label: String, _ dimensions: [(String, String)], _ kind: MetricFamily.Kind,
    make: (_ buckets: [Double]?) -> Series
  ) -> Series? {
    let name = kind.metricName(label)
    let labels = MetricFamily.labels(dimensions)
    return state.withLock { state in
      if let known = state.families[name]?.series[labels] as? Series { return known }
      let owners = kind.names(name).compactMap { state.takenNames[$0] }
      guard owners.allSatisfy({ $0 == name }), name != Self.droppedName,
        state.families[name]?.kind ?? kind == kind,
        state.families[name]?.series[labels] == nil,
        state.families[name]?.series.count ?? 0 < maximumSeries
      else {
        // Families are few, being written in code; so are the entries here.
        state.dropped[name, default: 0] += 1
        return nil
      }
      let series = make(state.buckets[label])
      for taken in kind.names(name) { state.takenNames[taken] = name }
      state.families[
        name, default: MetricFamily(name: name, kind: kind, help: state.help[label] ?? label)
      ].series[labels] = series
      return series
    }
  }

  private func remove(_ handler: AnyObject) {
    state.withLock { state in
      for (name, family) in state.families {
        for (labels, series) in family.series where series === handler {
          state.families[name]?.series[labels] = nil
        }
      }
    }
  }
}
