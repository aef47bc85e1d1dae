/// All series of one metric name.
struct MetricFamily: Sendable {
  enum Kind: Hashable, Sendable {
    case counter
    case gauge
    /// The name ends in `unit`.
    case histogram(unit: String)

    var typeName: String {
      switch self {
      case .counter: "counter"
      case .gauge: "gauge"
      case .histogram: "histogram"
      }
    }

    func metricName(_ label: String) -> String {
      let name = MetricNames.metric(label)
      return switch self {
      case .counter: MetricNames.ending(name, in: "_total")
      case .gauge: name
      case .histogram(let unit): MetricNames.ending(name, in: unit)
      }
    }

    /// Every name that a metric of this kind puts into the exposition.
    func names(_ name: String) -> [String] {
      switch self {
      case .counter, .gauge: [name]
      case .histogram: [name, name + "_bucket", name + "_sum", name + "_count"]
      }
    }
  }

  let name: String
  let kind: Kind
  let help: String
  /// By the rendered labels, such as `method="GET",status="200"`.
  var series: [String: any AnyObject & Sendable] = [:]

  /// Dimensions as they stand between braces: ordered by name, so that their order in code does
  /// not matter; of two with one name the first counts.
  static func labels(_ dimensions: [(String, String)]) -> String {
    var labels: [(name: String, value: String)] = []
    for (name, value) in dimensions {
      let name = MetricNames.label(name)
      if !labels.contains(where: { $0.name == name }) { labels.append((name, value)) }
    }
    return labels.sorted { $0.name < $1.name }
      .map { "\($0.name)=\"\(MetricNames.escapedValue($0.value))\"" }.joined(separator: ",")
  }

  /// Appends the family in the text format; nothing when it has no series.
  func render(into output: inout String) {
    guard !series.isEmpty else { return }
    output += "# HELP \(name) \(MetricNames.escapedHelp(help))\n"
    output += "# TYPE \(name) \(kind.typeName)\n"
    for (labels, series) in series.sorted(by: { $0.key < $1.key }) {
      switch series {
      case let series as CounterSeries: sample("", labels, series.value, into: &output)
      case let series as FloatingCounterSeries: sample("", labels, series.value, into: &output)
      case let series as GaugeSeries: sample("", labels, series.value, into: &output)
      case let series as HistogramSeries: histogram(series, labels, into: &output)
      default: preconditionFailure("a series of an unknown class")
      }
    }
  }

  private func sample(
    _ suffix: String, _ labels: String, _ value: Double, into output: inout String
  ) {
    output += name + suffix
    if !labels.isEmpty { output += "{\(labels)}" }
    output += " \(MetricNames.number(value))\n"
  }

  private func histogram(
    _ series: HistogramSeries, _ labels: String, into output: inout String
  ) {
    let (counts, sum) = series.snapshot
    let prefix = labels.isEmpty ? "" : labels + ","
    var total: UInt64 = 0
    for (bound, count) in zip(series.bounds + [.infinity], counts) {
      total += count
      sample(
        "_bucket", "\(prefix)le=\"\(MetricNames.number(bound))\"", Double(total), into: &output)
    }
    sample("_sum", labels, sum, into: &output)
    // From the buckets rather than a counter of its own, so that both always agree.
    sample("_count", labels, Double(total), into: &output)
  }
}
