/// Names and texts of the Prometheus exposition format, version 0.0.4.
enum MetricNames {
  /// `label` as a metric name, `[a-zA-Z_:][a-zA-Z0-9_:]*`: other characters become `_`.
  static func metric(_ label: String) -> String {
    sanitised(label) { $0 == UInt8(ascii: ":") }
  }

  /// `name` as a label name, `[a-zA-Z_][a-zA-Z0-9_]*`, outside of the names that Prometheus keeps
  /// for itself (a leading `__`, and `le` of histograms).
  static func label(_ name: String) -> String {
    let name = sanitised(name) { _ in false }
    if name == "le" { return "le_" }
    return name.hasPrefix("__") ? "_" + name.drop { $0 == "_" } : name
  }

  /// `name`, ending in `suffix`.
  static func ending(_ name: String, in suffix: String) -> String {
    name.hasSuffix(suffix) ? name : name + suffix
  }

  private static func sanitised(_ text: String, allowing extra: (UInt8) -> Bool) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        if bytes.isEmpty { bytes.append(UInt8(ascii: "_")) }
        bytes.append(byte)
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
        bytes.append(byte)
      case _ where extra(byte): bytes.append(byte)
      default: bytes.append(UInt8(ascii: "_"))
      }
    }
    return bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
  }

  /// A label value between its quotes.
  static func escapedValue(_ text: String) -> String {
    escaped(text, quote: true)
  }

  /// The text of a `# HELP` line.
  static func escapedHelp(_ text: String) -> String {
    escaped(text, quote: false)
  }

  private static func escaped(_ text: String, quote: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quote: result += "\\\""
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// A sample's value as Go's `ParseFloat` reads it.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value), abs(whole) < 1 << 53 { return String(whole) }
    return String(describing: value)
  }
}
