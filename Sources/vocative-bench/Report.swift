import Foundation

/// What one side of a comparison did in its best round.
struct Load: Sendable {
  var perSecond = 0.0
  /// Latencies in milliseconds; nil where the tool does not tell.
  var p50: Double?
  var p99: Double?
  /// CPU time of service and database for one operation, in microseconds.
  var cpu: Double?

  /// Takes the other round's rate and latencies if it was the faster one, and the smaller CPU time:
  /// what else the machine does only ever makes a round worse.
  mutating func improve(with other: Load) {
    let cpu = [cpu, other.cpu].compactMap { $0 }.min()
    if other.perSecond > perSecond { self = other }
    self.cpu = cpu
  }
}

/// A line of the table: ours against a peer's.
struct Comparison: Sendable, Encodable {
  var benchmark: String
  var clients: Int
  var ours: Double
  var peer: Double
  /// The least ratio that is good enough; nil where none was set.
  var mark: Double?
  var p50Milliseconds: Double?
  var p99Milliseconds: Double?
  var cpuMicroseconds: Double?
  var peerCPUMicroseconds: Double?

  init(_ benchmark: String, clients: Int, ours: Load, peer: Load, mark: Double?) {
    self.benchmark = benchmark
    self.clients = clients
    self.ours = ours.perSecond
    self.peer = peer.perSecond
    self.mark = mark
    p50Milliseconds = ours.p50
    p99Milliseconds = ours.p99
    cpuMicroseconds = ours.cpu
    peerCPUMicroseconds = peer.cpu
  }

  var ratio: Double { ours / peer }
  var verdict: String {
    guard let mark else { return "" }
    return ratio >= mark ? "met" : "MISSED"
  }

  private enum CodingKeys: String, CodingKey {
    case benchmark, clients, ours, peer, ratio, mark, met, p50Milliseconds, p99Milliseconds
    case cpuMicroseconds, peerCPUMicroseconds
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(benchmark, forKey: .benchmark)
    try container.encode(clients, forKey: .clients)
    try container.encode(ours, forKey: .ours)
    try container.encode(peer, forKey: .peer)
    try container.encode(ratio, forKey: .ratio)
    try container.encodeIfPresent(mark, forKey: .mark)
    try container.encodeIfPresent(mark.map { ratio >= $0 }, forKey: .met)
    try container.encodeIfPresent(p50Milliseconds, forKey: .p50Milliseconds)
    try container.encodeIfPresent(p99Milliseconds, forKey: .p99Milliseconds)
    try container.encodeIfPresent(cpuMicroseconds, forKey: .cpuMicroseconds)
    try container.encodeIfPresent(peerCPUMicroseconds, forKey: .peerCPUMicroseconds)
  }
}

/// A number without a peer.
struct Figure: Sendable, Encodable {
  var name: String
  var value: Double
  var unit: String
  /// The most that is good enough; nil where none was set.
  var atMost: Double?

  var text: String {
    let verdict =
      atMost.map { "  mark \(Report.number($0)), \(value <= $0 ? "met" : "MISSED")" } ?? ""
    return "\(name): \(Report.number(value)) \(unit)\(verdict)"
  }
}

/// All that a run found.
struct Report: Sendable, Encodable {
  var date = Date()
  var processors = ProcessInfo.processInfo.activeProcessorCount
  var seconds: Int
  var comparisons: [Comparison] = []
  var figures: [Figure] = []
  /// The commands that loads came from, each once.
  var commands: [String] = []

  init(seconds: Int) { self.seconds = seconds }

  mutating func add(_ comparison: Comparison) {
    comparisons.append(comparison)
    print(Self.line(comparison))
  }

  mutating func add(_ name: String, _ value: Double, _ unit: String, atMost: Double? = nil) {
    let figure = Figure(name: name, value: value, unit: unit, atMost: atMost)
    figures.append(figure)
    print("  \(figure.text)")
  }

  mutating func addCommand(_ command: String) {
    if !commands.contains(command) { commands.append(command) }
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    encoder.dateEncodingStrategy = .iso8601
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  func text() -> String {
    var lines: [String] = []
    if !comparisons.isEmpty {
      lines += ["", Self.header] + comparisons.map(Self.line)
    }
    if !figures.isEmpty {
      lines.append("")
      lines += figures.map(\.text)
    }
    if !commands.isEmpty { lines += ["", "Commands:"] + commands.map { "  \($0)" } }
    lines += ["", "\(date.ISO8601Format()), \(processors) processors, --seconds \(seconds)"]
    return lines.joined(separator: "\n")
  }

  private static let header = columns(
    [
      "", "clients", "ours/s", "peer/s", "ratio", "mark", "", "p50 ms", "p99 ms", "CPU µs",
      "peer's",
    ])

  private static func line(_ line: Comparison) -> String {
    columns([
      line.benchmark, "\(line.clients)", number(line.ours), number(line.peer),
      String(format: "%.2f", line.ratio), line.mark.map { String(format: "%.2f", $0) } ?? "",
      line.verdict, line.p50Milliseconds.map(number) ?? "",
      line.p99Milliseconds.map(number) ?? "", line.cpuMicroseconds.map(number) ?? "",
      line.peerCPUMicroseconds.map(number) ?? "",
    ])
  }

  private static func columns(_ cells: [String]) -> String {
    let widths = [30, 7, 9, 9, 6, 5, 6, 7, 7, 7, 7]
    return zip(cells, widths).enumerated().map { index, cell in
      let space = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
      return index == 0 ? cell.0 + space : space + cell.0
    }.joined(separator: " ")
  }

  /// Three digits or more.
  fileprivate static func number(_ value: Double) -> String {
    switch value {
    case ..<10: String(format: "%.2f", value)
    case ..<100: String(format: "%.1f", value)
    default: String(format: "%.0f", value)
    }
  }
}
