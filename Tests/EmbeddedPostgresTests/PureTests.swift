import Testing

@testable import EmbeddedPostgres

@Suite struct PureTests {
  @Test func conninfoValuesAreQuoted() {
    #expect(
      Conninfo.string(host: "/a b", port: 1, database: #"it's \ "x""#, user: "u")
        == #"host='/a b' port=1 dbname='it\'s \\ "x"' user='u'"#)
  }

  @Test func statusFilesAreReadByTheirLines() {
    let ready = PostmasterStatus(contents: "12\n/d\n1\n5432\n/s\n\n1 2\nready   \n")
    #expect(ready?.processID == 12)
    #expect(ready?.isReady == true)
    #expect(PostmasterStatus(contents: "12\n/d\n1\n5432\n/s\n\n1 2\nstarting\n")?.isReady == false)
    #expect(PostmasterStatus(contents: "12\n/d\n")?.isReady == false)
    #expect(PostmasterStatus(contents: "") == nil)
  }

  @Test(arguments: [81, 82, 200]) func socketPathsStayBelowTheLimit(length: Int) {
    let path = "/" + String(repeating: "d", count: length - 1)
    let socket = ClusterDirectory.socketDirectory(for: path, userID: 7, port: 5432)
    #expect("\(socket)/.s.PGSQL.5432".utf8.count <= 107)
    #expect(socket == ClusterDirectory.socketDirectory(for: path, userID: 7, port: 5432))
  }

  @Test func settingsOfTheCallerOverrideOurs() {
    var configuration = EmbeddedPostgres.Configuration(directory: "/d")
    configuration.settings = ["jit": "off", "max_connections": "9"]
    let settings = configuration.serverSettings(socketDirectory: "/s")
    #expect(settings.contains("max_connections=9"))
    #expect(settings.contains("jit=off"))
    #expect(!settings.contains("fsync=off"))
  }

  @Test func keepsTheLastMessagesOnly() {
    let messages = ServerMessages(logger: quiet)
    for number in 1...100 { messages.record("LOG:  \(number)") }
    #expect(messages.lastLines.split(separator: "\n").count == ServerMessages.keptLines)
    #expect(messages.lastLines.hasSuffix("LOG:  100"))
    #expect(ServerMessages.level(of: "PANIC:  x") == .critical)
  }
}
