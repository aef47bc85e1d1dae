import FoundationEssentials

/// All findings, as a text for a terminal or as JSON.
struct DoctorReport: Sendable, Equatable {
  let findings: [DoctorFinding]

  /// The worst outcome of all.
  var outcome: DoctorFinding.Outcome {
    if findings.contains(where: { $0.outcome == .failure }) { return .failure }
    return findings.contains { $0.outcome == .warning } ? .warning : .ok
  }

  /// 1 when something does not work, else 0.
  var exitCode: Int32 { outcome == .failure ? 1 : 0 }

  /// One line a finding, in columns, advice below it; a count at the end. The outcome is a sign
  /// and a word, so that colour is never needed to read it.
  ///
  /// - Parameter color: Whether to use ANSI colours; only on a terminal that wants them.
  func text(color: Bool) -> String {
    let width = findings.map(\.check.count).max() ?? 0
    let indent = String(repeating: " ", count: 13 + width)
    var lines: [String] = []
    for finding in findings {
      let mark = "\(Self.sign(finding.outcome)) \(Self.pad(finding.outcome.rawValue, to: 7))"
      let colored = color ? "\u{1B}[\(Self.color(finding.outcome))m\(mark)\u{1B}[0m" : mark
      lines.append("\(colored)  \(Self.pad(finding.check, to: width))  \(finding.finding)")
      if let advice = finding.advice { lines.append("\(indent)→ \(advice)") }
    }
    let counts = DoctorFinding.Outcome.allCases.map { outcome in
      "\(findings.count { $0.outcome == outcome }) \(outcome.rawValue)"
    }
    lines += ["", "\(findings.count) checks: \(counts.joined(separator: ", "))", ""]
    return lines.joined(separator: "\n")
  }

  /// `{"outcome": …, "findings": [{"check", "outcome", "finding", "advice"?}]}`, keys sorted.
  func json() throws -> String {
    struct Document: Encodable {
      let outcome: DoctorFinding.Outcome
      let findings: [DoctorFinding]
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let data = try encoder.encode(Document(outcome: outcome, findings: findings))
    return String(decoding: data, as: UTF8.self)
  }

  /// Whether to use colour: on a terminal, unless it or its user wants none
  /// (https://no-color.org).
  static func wantsColor(isTerminal: Bool, environment: [String: String]) -> Bool {
    isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  private static func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func sign(_ outcome: DoctorFinding.Outcome) -> String {
    switch outcome {
    case .ok: "✓"
    case .warning: "!"
    case .failure: "✗"
    }
  }

  private static func color(_ outcome: DoctorFinding.Outcome) -> String {
    switch outcome {
    case .ok: "32"
    case .warning: "33"
    case .failure: "31"
    }
  }
}
