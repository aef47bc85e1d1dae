import Foundation
import Identity
import VocativeModel

/// An upload job over TLS, from curl, against psql's `\copy` of the same rows into the same table.
///
/// Each round uploads 200,000 strings of 1,000 users who had none: names in Latin and Han script,
/// half of them with an identifier, a tenth with a pronunciation hint.
private struct Upload {
  static let users = 1000
  static let strings = 200
  static let total = users * strings

  private static let names = [
    "Zoë Fontaine", "王一然", "John Baker", "Mum", "李小龙", "Nguyễn Thị Mai", "Oleksandr K.",
    "ミ★圆圆", "Dr Lee", "Ana María Gutiérrez López",
  ]

  let lines: [VocabularyJobLine]

  /// - Parameter name: a part of the users' ids that no other round has.
  init(_ name: String) {
    lines = (0..<Self.users).map { user in
      VocabularyJobLine(
        userId: UserID(trusted: "\(name)-\(user)"), type: .contactName,
        strings: (0..<Self.strings).map { number in
          VocabularyString(
            "\(Self.names[(user + number) % Self.names.count]) \(number)",
            identifier: number % 2 == 0 ? "contact-\(user)-\(number)" : nil,
            pronunciationHint: number % 10 == 0 ? "wang yi ran" : nil)
        })
    }
  }

  /// As the job takes it.
  var ndjson: String {
    var bytes: [UInt8] = []
    for line in lines {
      var json = JSONWriter()
      line.write(to: &json)
      bytes += json.utf8
      bytes.append(UInt8(ascii: "\n"))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// As `\copy` takes it; no value needs an escape.
  var rows: String {
    var text = ""
    for line in lines {
      for (position, string) in line.strings.enumerated() {
        text += "\(line.userId)\t\(line.type.rawValue)\t\(position)\t\(string.phrase)\t"
        text += "\(string.identifier ?? "\\N")\t\(string.pronunciationHint ?? "\\N")\n"
      }
    }
    return text
  }
}

extension Stage {
  func measureVocabulary(_ seconds: Int, _ report: inout Report) async throws {
    let token = try await issuer.token(userID: "bench", scopes: [.vocabularyUpload])
    var round = 0
    var peerRound = 0
    var commands: [String] = []
    try await compare(
      "vocabulary job, strings", clients: 1, mark: 0.5, seconds: seconds, &report
    ) { _ in
      round += 1
      let body = try file("upload.ndjson", Upload("ours\(round)").ndjson)
      let arguments = [
        "--silent", "--show-error", "--cacert", service.caFile, "--header",
        "Authorization: Bearer \(token)", "--header", "Content-Type: application/x-ndjson",
        "--upload-file", body, "--request", "POST", "\(service.baseURL)/v1/jobs/vocabulary",
      ]
      commands.append(
        "curl --upload-file upload.ndjson --request POST …/v1/jobs/vocabulary")
      let before = cpuSeconds()
      let start = ContinuousClock.now
      let output = try await Tool.run("curl", arguments)
      let load = Self.load(since: start, cpu: cpuSeconds() - before)
      guard let last = output.split(separator: "\n").last,
        let summary = try? JSONDecoder().decode(
          VocabularyJobSummary.self, from: Data(last.utf8)),
        summary.done, summary.stored == Int64(Upload.users)
      else { throw BenchmarkError("the job failed:\n\(output.suffix(500))") }
      return load
    } peer: { _ in
      peerRound += 1
      let rows = try file("upload.tsv", Upload("peer\(peerRound)").rows)
      let copy =
        "\\copy vocative.vocabulary_string (user_id, type, position, phrase, identifier, "
        + "pronunciation_hint) FROM '\(rows)'"
      commands.append("psql -c \"\\copy vocative.vocabulary_string (…) FROM 'upload.tsv'\"")
      let before = databaseCPUSeconds()
      let start = ContinuousClock.now
      _ = try await Tool.run("psql", ["-X", "-d", conninfo, "-c", copy])
      return Self.load(since: start, cpu: databaseCPUSeconds() - before)
    }
    for command in commands { report.addCommand(command) }
  }

  private static func load(since start: ContinuousClock.Instant, cpu: Double) -> Load {
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    return Load(
      perSecond: Double(Upload.total) / seconds, cpu: cpu / Double(Upload.total) * 1e6)
  }
}
