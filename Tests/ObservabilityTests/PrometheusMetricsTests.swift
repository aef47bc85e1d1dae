import CoreMetrics
import Foundation
import Observability
import Testing

@Suite struct PrometheusMetricsTests {
  let metrics = PrometheusMetrics(maximumSeries: 3)

  private func scrape() throws -> Exposition {
    var text = ""
    metrics.render(into: &text)
    return try Exposition(text)
  }

  @Test func nothingRecordedIsAnEmptyExposition() throws {
    #expect(try scrape().families.isEmpty)
  }

  @Test func countersOnlyGoUp() throws {
    let counter = Counter(label: "http.requests", dimensions: [("code", "200")], factory: metrics)
    counter.increment(by: 5)
    counter.increment(by: -3)
    let floating = FloatingPointCounter(label: "spent", factory: metrics)
    floating.increment(by: 0.5)
    floating.increment(by: -1)
    floating.increment(by: Double.nan)
    var found = try scrape()
    #expect(found.value("http_requests_total", ["code": "200"]) == 5)
    #expect(found.value("spent_total") == 0.5)
    #expect(found.families["http_requests_total"]?.type == "counter")
    counter.reset()
    found = try scrape()
    #expect(found.value("http_requests_total", ["code": "200"]) == 0)
  }

  @Test func metersAndGaugesGoBothWays() throws {
    let meter = Meter(label: "connections", factory: metrics)
    meter.set(7)
    meter.decrement(by: 2.5)
    Gauge(label: "temperature", factory: metrics).record(-Double.infinity)
    let found = try scrape()
    #expect(found.value("connections") == 4.5)
    #expect(found.value("temperature") == -.infinity)
    #expect(found.families["connections"]?.type == "gauge")
  }

  @Test func timersAreHistogramsInSeconds() throws {
    let timer = CoreMetrics.Timer(label: "request", dimensions: [("route", "/")], factory: metrics)
    timer.recordMilliseconds(5)
    timer.recordMilliseconds(5.1)
    timer.recordSeconds(60)
    let found = try scrape()
    func bucket(_ le: String) -> Double? {
      found.value("request_seconds_bucket", ["route": "/", "le": le])
    }
    // A bound belongs to its bucket.
    #expect(bucket("0.0025") == 0)
    #expect(bucket("0.005") == 1)
    #expect(bucket("0.01") == 2)
    #expect(bucket("30") == 2)
    #expect(bucket("+Inf") == 3)
    #expect(found.value("request_seconds_count", ["route": "/"]) == 3)
    let sum = try #require(found.value("request_seconds_sum", ["route": "/"]))
    #expect(abs(sum - 60.0101) < 1e-9)
  }

  @Test func recordersHaveTheirOwnBucketsWhereDescribed() throws {
    metrics.describe(
      "batch", help: "Sends a batch.\nNot \\ more.", buckets: [1, 10, 10, 5, .infinity, 100])
    let recorder = Recorder(label: "batch", factory: metrics)
    recorder.record(10)
    recorder.record(11)
    recorder.record(Double.nan)
    let found = try scrape()
    #expect(found.families["batch"]?.help == #"Sends a batch.\nNot \\ more."#)
    #expect(found.value("batch_bucket", ["le": "10"]) == 1)
    #expect(found.value("batch_bucket", ["le": "100"]) == 2)
    #expect(found.families["batch"]?.samples.filter { $0.name == "batch_bucket" }.count == 4)
  }

  @Test func sameLabelsAreTheSameSeriesInAnyOrder() throws {
    Counter(label: "c", dimensions: [("a", "1"), ("b", "2")], factory: metrics).increment()
    Counter(label: "c", dimensions: [("b", "2"), ("a", "1")], factory: metrics).increment()
    #expect(try scrape().value("c_total", ["a": "1", "b": "2"]) == 2)
  }

  @Test func namesAndValuesCannotBreakTheFormat() throws {
    let nasty = "a\"b\\c\nd{},= é\u{1F600}"
    let dimensions = [("9 x-y", nasty), ("__name__", "z"), ("9_x_y", "second"), ("", "empty")]
    Counter(label: "1 bad näme\n", dimensions: dimensions, factory: metrics).increment()
    CoreMetrics.Timer(label: "t", dimensions: [("le", "1")], factory: metrics).recordSeconds(1)
    let found = try scrape()
    #expect(
      found.value("_1_bad_n__me__total", ["_9_x_y": nasty, "_name__": "z", "_": "empty"]) == 1)
    #expect(found.value("t_seconds_count", ["le_": "1"]) == 1)
  }

  @Test func tooManySeriesAreDroppedAndCounted() throws {
    for user in 0..<10 {
      Counter(label: "c", dimensions: [("user", "\(user)")], factory: metrics).increment()
    }
    Counter(label: "c", dimensions: [("user", "0")], factory: metrics).increment()
    let found = try scrape()
    #expect(found.families["c_total"]?.samples.count == 3)
    #expect(found.value("c_total", ["user": "0"]) == 2)
    #expect(found.value("vocative_metrics_dropped_series_total", ["metric": "c_total"]) == 7)
  }

  @Test func aNameBelongsToOneKind() throws {
    Meter(label: "x_seconds", factory: metrics).set(1)
    CoreMetrics.Timer(label: "x", factory: metrics).recordSeconds(1)
    CoreMetrics.Timer(label: "y", factory: metrics).recordSeconds(1)
    Meter(label: "y_seconds_count", factory: metrics).set(1)
    Counter(label: "z", factory: metrics).increment()
    FloatingPointCounter(label: "z", factory: metrics).increment()
    let found = try scrape()
    #expect(found.value("x_seconds") == 1)
    #expect(found.value("y_seconds_count") == 1)
    #expect(found.value("z_total") == 1)
    for name in ["x_seconds", "y_seconds_count", "z_total"] {
      #expect(found.value("vocative_metrics_dropped_series_total", ["metric": name]) == 1)
    }
  }

  @Test func destroyedSeriesMakeRoom() throws {
    for user in 0..<10 {
      let counter = Counter(label: "c", dimensions: [("user", "\(user)")], factory: metrics)
      counter.increment()
      counter.destroy()
    }
    #expect(try scrape().families.isEmpty)
  }

  @Test func concurrentRecordingLosesNothing() async throws {
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask { [metrics] in
          let timer = CoreMetrics.Timer(label: "t", factory: metrics)
          let meter = Meter(label: "m", factory: metrics)
          for _ in 0..<2000 {
            Counter(label: "c", factory: metrics).increment()
            timer.recordSeconds(1)
            meter.increment(by: 1)
            meter.decrement(by: 0.5)
          }
        }
      }
    }
    let found = try scrape()
    #expect(found.value("c_total") == 16000)
    #expect(found.value("t_seconds_count") == 16000)
    #expect(found.value("t_seconds_sum") == 16000)
    #expect(found.value("m") == 8000)
  }

  @Test func processMetricsAreThoseOfThisProcess() throws {
    var text = ""
    ProcessMetrics().render(into: &text)
    let found = try Exposition(text)
    #expect(found.families.count == 6)
    let started = try #require(found.value("process_start_time_seconds"))
    let age = Date.now.timeIntervalSince1970 - started
    #expect(age > -2 && age < 3600)
    #expect(try #require(found.value("process_resident_memory_bytes")) > 1_000_000)
    let open = try #require(found.value("process_open_fds"))
    let pipe = Pipe()
    #expect(try #require(ProcessMetrics().openFileDescriptors) == open + 2)
    withExtendedLifetime(pipe) {}
  }

  /// promtool, of Debian's package prometheus, is the judge where it is installed.
  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool")))
  func promtoolAcceptsTheExposition() throws {
    Counter(label: "http.requests", dimensions: [("x", "a\"\\\n")], factory: metrics).increment()
    CoreMetrics.Timer(label: "http.request", factory: metrics).recordSeconds(1)
    Recorder(label: "batch.size", factory: metrics).record(3)
    Meter(label: "connections", factory: metrics).set(Double.nan)
    for user in 0..<10 {
      Counter(label: "c", dimensions: [("user", "\(user)")], factory: metrics).increment()
    }
    var text = ""
    metrics.render(into: &text)
    ProcessMetrics().render(into: &text)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/promtool")
    process.arguments = ["check", "metrics"]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardError = output
    process.standardOutput = output
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try input.fileHandleForWriting.close()
    let complaints = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(String(decoding: complaints, as: UTF8.self))")
  }
}
