import Glibc
import NIOConcurrencyHelpers

/// A TCP proxy to a port of 127.0.0.1 that can cut its connections, hold back one direction, or
/// refuse new ones.
final class Proxy: Sendable {
  let port: UInt16
  private struct State {
    var pairs: [(client: Int32, server: Int32)] = []
    var refusing = false
    /// What the server sends is thrown away and the connection then cut.
    var cutsAnswers = false
    /// What the client sends is not passed on any more.
    var isSilent = false
    var accepted = 0
    var closed = false
  }
  private let state = NIOLockedValueBox(State())
  private let listener: Int32
  private let target: UInt16

  init(to target: UInt16) throws {
    self.target = target
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    port = try freePort()
    var one: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, 4)
    var address = loopback(port: port)
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard bound, listen(listener, 64) == 0 else { throw Failure("proxy: errno \(errno)") }
    thread { [self] in acceptLoop() }
  }

  var uri: String { "host=127.0.0.1 port=\(port) user=postgres dbname=postgres" }
  var accepted: Int { state.withLockedValue { $0.accepted } }

  /// Cuts all connections now.
  func cut() { state.withLockedValue { $0.pairs.forEach { Self.shut($0) } } }
  /// Lets statements through and cuts each connection instead of passing an answer on.
  func cutAnswers(_ on: Bool) { state.withLockedValue { $0.cutsAnswers = on } }
  /// Swallows what clients send, without closing anything.
  func silence(_ on: Bool) { state.withLockedValue { $0.isSilent = on } }
  /// Closes new connections at once.
  func refuse(_ on: Bool) { state.withLockedValue { $0.refusing = on } }

  func stop() {
    state.withLockedValue { $0.closed = true }
    shutdown(listener, Int32(SHUT_RDWR))
    cut()
  }

  private static func shut(_ pair: (client: Int32, server: Int32)) {
    shutdown(pair.client, Int32(SHUT_RDWR))
    shutdown(pair.server, Int32(SHUT_RDWR))
  }

  private func acceptLoop() {
    while !state.withLockedValue({ $0.closed }) {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { break }
      let refused = state.withLockedValue { state in
        state.accepted += 1
        return state.refusing
      }
      let server = refused ? -1 : connectTarget()
      guard server >= 0 else {
        close(client)
        continue
      }
      state.withLockedValue { $0.pairs.append((client, server)) }
      thread { [self] in pump(from: client, to: server, answers: false) }
      thread { [self] in
        pump(from: server, to: client, answers: true)
        state.withLockedValue { $0.pairs.removeAll { $0.client == client } }
        // The other direction may still be in a call on them: they are only shut here, and closed
        // with the process.
        Self.shut((client, server))
      }
    }
    close(listener)
  }

  private func connectTarget() -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = loopback(port: target)
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    if !connected { close(descriptor) }
    return connected ? descriptor : -1
  }

  private func pump(from source: Int32, to sink: Int32, answers: Bool) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    // A connection that has lost bytes never gets on.
    var isMute = false
    while true {
      let count = recv(source, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      let (cut, silent) = state.withLockedValue { ($0.cutsAnswers, $0.isSilent) }
      if answers && cut { break }
      isMute = isMute || silent
      if !answers && isMute { continue }
      var sent = 0
      while sent < count {
        let result = buffer.withUnsafeBytes {
          send(sink, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
        }
        guard result > 0 else { break }
        sent += result
      }
    }
    Self.shut((source, sink))
  }
}

private func thread(_ body: @escaping @Sendable () -> Void) {
  final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var id = pthread_t()
  pthread_create(
    &id, nil,
    { pointer in
      Unmanaged<Box>.fromOpaque(pointer!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Box(body)).toOpaque())
  pthread_detach(id)
}
