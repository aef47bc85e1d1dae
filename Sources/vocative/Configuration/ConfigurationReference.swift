/// The settings as text, made from their table.
enum ConfigurationReference {
  /// For `--help`: every flag with its meaning, range and default, within 78 columns.
  static var help: String {
    let entries = ConfigurationKey.all.map { key in
      let words = "\(key.help) \(facts(of: key))".replacing("`", with: "")
      return "  \(key.flag)\n"
        + wrap(words, width: 72).map { "      \($0)" }.joined(separator: "\n")
    }
    return """
      SETTINGS
      Each can be given as a flag, as an environment variable (--listen-port is
      VOCATIVE_LISTEN_PORT) or in a JSON file ({"listen": {"port": 8443}}) that
      --config or VOCATIVE_CONFIG names. Flags go before variables, and variables
      before the file.

      \(entries.joined(separator: "\n"))
      """
  }

  /// The content of `docs/configuration.md`.
  static var markdown: String {
    let rows = ConfigurationKey.all.map { key in
      let names = "`\(key.name)`<br>`\(key.flag)`<br>`\(key.variable)`"
      let common = key.commonVariable.map { "<br>or `\($0)`" } ?? ""
      let secret = key.isSecret ? " Secret: never shown or logged." : ""
      return """
        | \(names)\(common) | \(values(of: key)) | \(defaultValue(of: key)) | \(key.help)\(secret) |
        """
    }
    return """
      # Configuration

      <!-- Made from the table of settings by `make docs`; a test keeps it current. -->

      Every setting can be given in three ways; the first that gives it decides:

      1. a flag: `vocative serve --listen-port 8443`; a boolean needs no value;
      2. an environment variable: `VOCATIVE_LISTEN_PORT=8443`;
      3. a JSON file that `--config` or `VOCATIVE_CONFIG` names: `{"listen": {"port": 8443}}`.

      A value that is malformed or out of range and a name that is no setting are errors, wherever
      they stand: flags, file, and every environment variable that begins with `VOCATIVE_` (those
      that begin with `VOCATIVE_TEST_` are left to the tests). The command then ends with status 64
      when the command line is at fault, else 78. `vocative configuration` prints this table.

      | Setting, flag, variable | Values | Default | Meaning |
      |---|---|---|---|
      \(rows.joined(separator: "\n"))

      """
  }

  private static func facts(of key: ConfigurationKey) -> String {
    "(\(values(of: key)); default: \(defaultValue(of: key)))"
  }

  private static func values(of key: ConfigurationKey) -> String {
    switch (key.kind, key.unit) {
    case (.integer(let range), let unit?): "\(range.lowerBound) to \(range.upperBound) \(unit)"
    case (.integer(let range), nil): "\(range.lowerBound) to \(range.upperBound)"
    case (let kind, _): kind.requirement
    }
  }

  private static func defaultValue(of key: ConfigurationKey) -> String {
    switch key.defaultValue {
    case .string(let text): "`\(text)`"
    case .int(let number): "\(number)"
    case .bool(let flag): "\(flag)"
    default: key.absence ?? "none"
    }
  }

  private static func wrap(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + word.count < width {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append("\(word)")
      }
    }
    return lines
  }
}
