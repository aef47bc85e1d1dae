/// An event as the WHATWG HTML standard (section 9.2.6) dispatches it.
struct ServerSentEvent: Sendable {
  var type: String
  var id: String?
  var data: String

  struct Parser {
    private var line: [UInt8] = []
    private var type = "message"
    private var id: String?
    private var data: [String] = []
    /// Comment lines so far, which keep a stream alive.
    private(set) var comments = 0

    mutating func feed(_ bytes: some Sequence<UInt8>) -> [ServerSentEvent] {
      var events: [ServerSentEvent] = []
      for byte in bytes {
        guard byte == UInt8(ascii: "\n") else {
          line.append(byte)
          continue
        }
        let text = String(decoding: line, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        if text.isEmpty {
          if let event = dispatched() { events.append(event) }
        } else {
          take(text)
        }
      }
      return events
    }

    private mutating func dispatched() -> ServerSentEvent? {
      defer {
        type = "message"
        data = []
      }
      guard !data.isEmpty else { return nil }
      return ServerSentEvent(type: type, id: id, data: data.joined(separator: "\n"))
    }

    private mutating func take(_ line: String) {
      guard let colon = line.firstIndex(of: ":") else { return }
      guard colon != line.startIndex else {
        comments += 1
        return
      }
      var value = line[line.index(after: colon)...]
      if value.first == " " { value.removeFirst() }
      switch line[..<colon] {
      case "event": type = String(value)
      case "id": id = String(value)
      case "data": data.append(String(value))
      default: break
      }
    }
  }
}
