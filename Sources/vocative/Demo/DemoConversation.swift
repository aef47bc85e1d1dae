import FoundationEssentials
import Identity
import VocativeModel
import VocativeServer
import VocativeStorage

/// A small conversation to try the service with. Loading it again changes nothing: its ids are
/// fixed, and so is what is said.
struct DemoConversation {
  private let composition: Composition
  private let storage: Storage

  init(_ composition: Composition, _ storage: Storage) {
    self.composition = composition
    self.storage = storage
  }

  private static let ada = UserID(trusted: "ada")
  private static let jon = UserID(trusted: "jon")
  private static let mei = UserID(trusted: "mei")

  private struct Line {
    var sender: UserID
    var text: String
  }

  private static let picnic = [
    Line(sender: ada, text: "Morning! Are we still on for the picnic on Saturday?"),
    Line(sender: jon, text: "Yes! I asked 一然 too, she can bring the big blanket."),
    Line(sender: ada, text: "Lovely. I'll make the lemon tart."),
    Line(sender: jon, text: "Meet at the boathouse at noon?"),
    Line(sender: ada, text: "Noon it is. If it rains, my kitchen table."),
    Line(sender: jon, text: "Bringing the chess set either way ♟"),
  ]
  private static let train = [
    Line(sender: mei, text: "Dein Zug kommt um 18:40 an, oder?"),
    Line(sender: ada, text: "Oui, à 18 h 40, quai 3. 车站见!"),
  ]

  private static func id(_ group: UInt8, _ number: UInt8) -> UUID {
    UUID(uuid: (0xde, 0x30, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, group, number))
  }

  /// Stores what is not there yet, and writes a token for each of the two devices.
  func load() async throws -> DemoSession {
    let picnic = ThreadID(Self.id(1, 0))
    try await store(
      picnic, group: 1, by: Self.ada, subject: "Picnic",
      [
        CreateThread.Draft(
          userId: Self.ada, role: .owner,
          name: PersonName(givenName: "Ada", familyName: "Byron", display: "Ada Byron")),
        CreateThread.Draft(
          userId: Self.jon, role: .admin,
          name: PersonName(givenName: "Jon", familyName: "Reyes", display: "Jon Reyes")),
      ], Self.picnic)
    try await store(
      ThreadID(Self.id(2, 0)), group: 2, by: Self.mei, subject: "Train",
      [
        CreateThread.Draft(userId: Self.ada, name: PersonName(display: "Ada Byron")),
        CreateThread.Draft(userId: Self.jon, name: PersonName(display: "Jon Reyes")),
        CreateThread.Draft(
          userId: Self.mei, role: .owner, name: PersonName(display: "Mei Lindqvist")),
      ], Self.train)
    let issuer = try composition.developmentIssuer()
    var session = DemoSession(
      thread: picnic, devices: [],
      caFile: composition.configuration.plaintext ? nil : composition.dataPath("tls/ca.pem"))
    for (user, name, device) in [
      (Self.ada, "Ada Byron", "Ada’s phone"), (Self.jon, "Jon Reyes", "Jon’s laptop"),
    ] {
      let token = try await issuer.token(userID: user.string, lifetime: .seconds(30 * 86_400))
      try writeToken(token, for: user)
      session.devices.append(
        DemoSession.Device(userID: user, name: name, device: device, token: token))
    }
    return session
  }

  private func store(
    _ thread: ThreadID, group: UInt8, by creator: UserID, subject: String,
    _ people: [CreateThread.Draft], _ lines: [Line]
  ) async throws {
    let request = CreateThread(kind: .message, subject: subject, participants: people)
    switch try await storage.threads.create(thread, by: creator, request) {
    case .created, .replayed: break
    case .conflict, .absent:
      throw ExitWithMessage("the demo's thread \(thread) is taken by another one")
    }
    for (index, line) in lines.enumerated() {
      let outcomes = try await storage.entries.send(
        [(EntryID(Self.id(group, UInt8(index + 1))), SendEntry(text: line.text))], to: thread,
        from: line.sender)
      switch outcomes[0] {
      // Absent: somebody has left the thread since, by the page's own buttons.
      case .created, .replayed, .absent: continue
      default: throw ExitWithMessage("the demo's conversation cannot be stored")
      }
    }
  }

  private func writeToken(_ token: String, for user: UserID) throws {
    let directory = composition.dataPath("demo")
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let path = composition.dataPath("demo/\(user.string).token")
    try Data(token.utf8).write(to: URL(filePath: path), options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }

  /// What a newcomer reads when the service has started.
  static func welcome(_ composition: Composition, port: Int) -> String {
    let scheme = composition.configuration.plaintext ? "http" : "https"
    let base = "\(scheme)://localhost:\(port)"
    let authority =
      composition.configuration.plaintext ? "" : "--cacert \(composition.dataPath("tls/ca.pem")) "
    let token = composition.dataPath("demo/ada.token")
    let call = "curl \(authority)-H \"Authorization: Bearer $(cat \(token))\""
    let thread = ThreadID(id(1, 0))
    return """

      Vocative is running. Open \(base)/ and type on one device: it arrives on the other.
      (The browser warns once, as the certificate's authority was made on this machine just now:
      go on, or import \(composition.dataPath("tls/ca.pem")).)

      Or in another terminal, as Ada:
        1. all that changed        \(call) \(base)/v1/changes
        2. follow it, live         \(call) -N \(base)/v1/events
        3. say something           \(call) --json '{"kind":"text","text":"Hello from curl"}' \
      -X PUT \(base)/v1/threads/\(thread)/entries/$(cat /proc/sys/kernel/random/uuid)

      Ctrl-C stops it.

      """
  }
}
