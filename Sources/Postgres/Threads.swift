import CLibPQ
import Glibc
import NIOConcurrencyHelpers

/// Starts a detached thread of this name (at most 15 bytes).
func startThread(named name: String, _ body: @escaping @Sendable () -> Void) {
  final class Start {
    let name: String
    let body: @Sendable () -> Void
    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
  let start = Unmanaged.passRetained(Start(name, body)).toOpaque()
  var thread = pthread_t()
  let status = pthread_create(
    &thread, nil,
    { pointer in
      let start = Unmanaged<Start>.fromOpaque(pointer!).takeRetainedValue()
      clibpq_name_thread(start.name)
      start.body()
      return nil
    }, start)
  precondition(status == 0, "no thread can be started: errno \(status)")
  pthread_detach(thread)
}

/// Runs blocking calls one after another on a thread that is there only while there are any.
final class BlockingThread: Sendable {
  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var running = false
  }
  private let name: String
  private let state = NIOLockedValueBox(State())

  init(named name: String) { self.name = name }

  func run(_ job: @escaping @Sendable () -> Void) {
    let start = state.withLockedValue { state in
      state.jobs.append(job)
      defer { state.running = true }
      return !state.running
    }
    guard start else { return }
    startThread(named: name) { [self] in
      while true {
        let jobs = state.withLockedValue { state in
          defer { state.jobs = [] }
          if state.jobs.isEmpty { state.running = false }
          return state.jobs
        }
        if jobs.isEmpty { return }
        for job in jobs { job() }
      }
    }
  }
}

/// The numeric addresses of a host name, in the order of getaddrinfo (RFC 6724). Blocks.
func lookUp(_ name: String) -> [String] {
  var hints = addrinfo()
  hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
  hints.ai_flags = AI_ADDRCONFIG
  var list: UnsafeMutablePointer<addrinfo>?
  guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
  defer { freeaddrinfo(list) }
  var addresses: [String] = []
  var next = list
  while let info = next?.pointee {
    next = info.ai_next
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { buffer in
      getnameinfo(
        info.ai_addr, info.ai_addrlen, buffer.baseAddress, socklen_t(NI_MAXHOST), nil, 0,
        NI_NUMERICHOST) == 0 ? String(cString: buffer.baseAddress!) : nil
    }
    if let text, !addresses.contains(text) { addresses.append(text) }
  }
  return addresses
}
