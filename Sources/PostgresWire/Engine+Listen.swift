// LISTEN on a connection of its own, which is there only while somebody listens.

extension Engine {
  /// Brings what the connection listens to in line with what is wanted.
  func updateListening(now: UInt64) {
    let link = listenLink
    guard link.isIdle, wantedChannels != heardChannels else { return }
    let added = wantedChannels.subtracting(heardChannels).sorted()
    let removed = heardChannels.subtracting(wantedChannels).sorted()
    let script =
      added.map { "LISTEN \(quotedIdentifier($0))" }
      + removed.map { "UNLISTEN \(quotedIdentifier($0))" }
    pendingChannels = wantedChannels
    beginScript(
      Work(.housekeeping, [], deadline: .max), script.joined(separator: ";"), .results, on: link,
      now: now)
    if link.script != nil { link.cancelDeadline = now &+ settings.cleanUpTimeout }
  }

  func listenScriptEnded(_ link: Link, _ failure: PostgresError?, now: UInt64) {
    link.cancelDeadline = .max
    if let failure { return lose(link, "LISTEN failed: \(failure)", now: now) }
    for channel in pendingChannels.subtracting(heardChannels).sorted() {
      effects.append(.listening(channel))
    }
    heardChannels = pendingChannels
  }
}
