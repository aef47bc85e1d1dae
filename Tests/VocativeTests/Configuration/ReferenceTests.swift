import ArgumentParser
import FoundationEssentials
import Testing

@testable import vocative

@Suite struct ReferenceTests {
  @Test func namesFollowFromTheKey() {
    let key = ConfigurationKey.databaseStatementDeadline
    #expect(key.flag == "--database-statement-deadline-seconds")
    #expect(key.variable == "VOCATIVE_DATABASE_STATEMENT_DEADLINE_SECONDS")
  }

  @Test func everyKeyIsNamedOnceAndItsDefaultIsAllowed() {
    #expect(Set(ConfigurationKey.all.map(\.name)).count == ConfigurationKey.all.count)
    #expect(Set(ConfigurationKey.all.map(\.variable)).count == ConfigurationKey.all.count)
    for key in ConfigurationKey.all {
      #expect((key.defaultValue == nil) != (key.absence == nil), "\(key.name)")
      if let value = key.defaultValue { #expect(key.check(value) == value, "\(key.name)") }
      if case .integer = key.kind { #expect(key.unit != nil || key.name.hasSuffix("port")) }
    }
  }

  @Test func everySettingIsRead() throws {
    // A value other than the default in each, so that a setting nobody reads would show.
    let base = ["--mode=development", "--limits-page-maximum=1000"]
    func load(_ more: [String]) throws -> ServiceConfiguration {
      try ServiceConfiguration.load(
        arguments: more, environment: [:], isRoot: false, readFile: { _ in Data() })
    }
    let before = try load(base)
    let pairs = ["--tls-certificate=/c", "--tls-key=/k"]
    for key in ConfigurationKey.all where !base.contains(where: { $0.hasPrefix(key.flag) }) {
      let value =
        switch key.kind {
        case .integer(let range):
          "\(range.upperBound - (key.defaultValue == .int(range.upperBound) ? 1 : 0))"
        case .choice(let choices): choices.last!
        case .boolean: "true"
        case .databaseURL: "postgres://h/d"
        default: "/other"
        }
      var arguments = base + ["\(key.flag)=\(value)"]
      if key.name.hasPrefix("tls.c") || key.name == "tls.key" {
        arguments += pairs.filter { !$0.hasPrefix(key.flag + "=") }
      }
      if key.name.hasPrefix("tls.second") {
        arguments += pairs
        arguments += ["--tls-second-certificate=/c", "--tls-second-key=/k"].filter {
          !$0.hasPrefix(key.flag + "=")
        }
      }
      if key == .limitsTextBytes { arguments.append("--limits-body-bytes=67108864") }
      #expect(try load(arguments) != before, "\(key.name) changes nothing")
    }
  }

  @Test func helpFitsATerminalAndListsEveryFlag() {
    let lines = ConfigurationReference.help.split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 80 })
    for key in ConfigurationKey.all { #expect(lines.contains("  \(key.flag)")) }
  }

  @Test func theReferenceInTheDocumentsIsCurrent() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let file = root.appending(path: "docs/configuration.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text == ConfigurationReference.markdown, "run `make docs`")
  }

  @Test func subcommandsTakeSettingsBesideTheirOwnOptions() throws {
    struct Serve: ParsableCommand {
      @Flag var demo = false
      @OptionGroup var configuration: ConfigurationOptions
    }
    let serve = try Serve.parse([
      "--listen-port", "1", "--demo", "--mode=development", "--listen-plaintext",
    ])
    #expect(serve.demo)
    #expect(
      serve.configuration.settings == [
        "--listen-port", "1", "--mode=development", "--listen-plaintext",
      ])
  }
}
