import Foundation
import NameMatching

/// Resolution in this process: the index of 10,000 mixed names, and phrases against it; and phrases
/// that are made to take long.
enum ResolveBenchmark {
  static let names = 10_000
  static let phrases = 2_000
  /// Hostile phrases for the mixed names, and as many for all hostile vocabularies together.
  static let hostilePhrases = 20_000
  private static let hostileNames = 20_000

  static func entries(_ cases: ResolveCases) -> [NameEntry] {
    cases.names.enumerated().map { NameEntry($1, identifier: "c\($0)") }
  }

  static func run(_ cases: ResolveCases, _ report: inout Report) {
    let entries = entries(cases)
    var build = Double.infinity
    for _ in 0..<5 { build = min(build, milliseconds { _ = NameIndex(entries) }) }
    let resolver = Resolver(NameIndex(entries))
    report.add("index of 10,000 names, built, best of 5", build, "ms", atMost: 50)
    report.add(
      "index of 10,000 names", Double(resolver.index.bytes) / 1e6, "MB", atMost: 1.5)

    // The least of three for each phrase: what else the machine does only ever adds.
    var times = [Double](repeating: .infinity, count: cases.phrases.count)
    for _ in 0..<3 {
      for (number, phrase) in cases.phrases.enumerated() {
        times[number] = min(times[number], milliseconds { _ = resolver.resolve(phrase.text) })
      }
    }
    for kind in ResolveCases.Kind.allCases {
      let some = zip(cases.phrases, times).filter { $0.0.kind == kind }.map(\.1).sorted()
      report.add("resolve in the process, \(kind.rawValue), p50", some.percentile(50) * 1e3, "µs")
    }
    times.sort()
    report.add("resolve in the process, p50", times.percentile(50) * 1e3, "µs", atMost: 100)
    report.add("resolve in the process, p99", times.percentile(99) * 1e3, "µs", atMost: 1000)
    report.add("resolve in the process, max", times[times.count - 1] * 1e3, "µs")
  }

  /// Microseconds a phrase, one after another: the best of five.
  static func lookups(_ cases: ResolveCases, _ phrases: [String]) -> Double {
    let resolver = Resolver(NameIndex(entries(cases)))
    var best = Double.infinity
    for _ in 0..<5 {
      best = min(best, milliseconds { for phrase in phrases { _ = resolver.resolve(phrase) } })
    }
    return best * 1e3 / Double(phrases.count)
  }

  /// - Parameter seed: of the first phrase; each further one has the next.
  static func runHostile(_ cases: ResolveCases, seed: UInt64, _ report: inout Report) {
    let vocabularies = HostileCases.vocabularies(mixed: cases.names, count: hostileNames)
    for (number, vocabulary) in vocabularies.enumerated() {
      let count = number == 0 ? hostilePhrases : hostilePhrases / (vocabularies.count - 1)
      let resolver = Resolver(NameIndex(vocabulary.entries))
      var times: [Double] = []
      var worst = (time: 0.0, seed: seed)
      for seed in seed..<seed + UInt64(count) {
        let phrase = HostileCases.phrase(seed: seed, from: vocabulary.entries)
        let allowsAll = seed.isMultiple(of: 5)
        func measure() -> Double {
          processorMilliseconds { _ = resolver.resolve(phrase, allowsAll: allowsAll) }
        }
        var time = measure()
        // Pages and caches that it finds cold are not its work.
        if time > 2 { time = min(time, measure(), measure()) }
        times.append(time)
        if time > worst.time { worst = (time, seed) }
      }
      times.sort()
      let name = "\(count) hostile phrases, \(vocabulary.name)"
      report.add(name + ", p99.9 of processor time", times.percentile(99.9), "ms")
      report.add(
        name + ", max of processor time, seed \(worst.seed)", worst.time, "ms", atMost: 5)
    }
  }

  private static func milliseconds(_ body: () -> Void) -> Double {
    let start = ContinuousClock.now
    body()
    return (ContinuousClock.now - start) / .milliseconds(1)
  }

  /// What this thread alone took of a processor: the machine may be shared.
  private static func processorMilliseconds(_ body: () -> Void) -> Double {
    func now() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }
    let start = now()
    body()
    return now() - start
  }
}

extension [Double] {
  /// Of values that are sorted.
  func percentile(_ percent: Double) -> Double {
    self[Swift.min(count - 1, Int(Double(count) * percent / 100))]
  }
}
