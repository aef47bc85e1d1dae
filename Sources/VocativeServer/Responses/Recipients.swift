import FoundationEssentials
import VocativeModel

/// Whom a mail entry is addressed to, as the database has it.
struct Recipients: Decodable {
  private var primaryRecipients: [String]?
  private var cc: [String]?
  private var bcc: [String]?

  /// - Parameter json: what `SendEntry.recipients` wrote; anything else counts as no recipients.
  init(_ json: [UInt8]) {
    self = (try? JSONDecoder().decode(Recipients.self, from: Data(json))) ?? Recipients()
  }

  private init() {}

  /// Writes the members that a viewer may see: bcc is its sender's, and each recipient's own.
  func write(to json: inout JSONWriter, sender: UserID, viewer: UserID) {
    list("primaryRecipients", primaryRecipients, &json)
    list("cc", cc, &json)
    guard viewer != sender else { return list("bcc", bcc, &json) }
    if bcc?.contains(where: { UserID(trusted: $0) == viewer }) == true {
      list("bcc", [viewer.string], &json)
    }
  }

  private func list(_ name: StaticString, _ users: [String]?, _ json: inout JSONWriter) {
    guard let users else { return }
    json.name(name)
    json.beginArray()
    for user in users { json.value(user) }
    json.endArray()
  }
}
