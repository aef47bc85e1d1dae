import Glibc

/// How far a job is, on one line of a terminal.
struct ProgressBar {
  private let total: Int
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var lines = 0
  private var strings = 0
  private var drawn = ContinuousClock.now

  /// - Parameter isShown: nil where standard error is a terminal.
  init(total: Int, isShown: Bool? = nil) {
    self.total = total
    self.isShown = isShown ?? (isatty(STDERR_FILENO) == 1)
  }

  /// Counts a line that is answered.
  mutating func advance(strings count: Int) {
    lines += 1
    strings += count
    guard isShown, lines == total || drawn.duration(to: .now) > .milliseconds(100) else { return }
    drawn = .now
    StandardError.write("\r\(text(after: start.duration(to: .now)))\u{1B}[K")
  }

  /// Leaves the line, so that what is printed next stands alone.
  func clear() { if isShown { StandardError.write("\r\u{1B}[K") } }

  /// Bar, share, rate, and time left as it has gone so far.
  func text(after elapsed: Duration) -> String {
    let width = 24
    let share = total == 0 ? 1 : Double(lines) / Double(total)
    let full = Int(share * Double(width))
    let seconds = elapsed / .seconds(1)
    let rate = seconds > 0 ? Double(strings) / seconds : 0
    let left = lines == 0 ? nil : Int(seconds / share - seconds)
    let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
    let time = left.map { "\($0 / 60):\($0 % 60 < 10 ? "0" : "")\($0 % 60) left" } ?? "…"
    return "\(bar) \(Int(share * 100))%  \(lines)/\(total)  \(Int(rate)) strings/s  \(time)"
  }
}
