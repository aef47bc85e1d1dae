import Glibc

/// A TCP port on 127.0.0.1 that nothing listens on at the moment of the call.
///
/// Another process may take it before the caller does; a test that can bind to port 0 itself
/// should.
public func freeLoopbackPort() throws -> Int {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  guard descriptor >= 0 else { throw SystemCallFailed(call: "socket", number: errno) }
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let status = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
    }
  }
  guard status == 0 else { throw SystemCallFailed(call: "bind", number: errno) }
  return Int(UInt16(bigEndian: address.sin_port))
}

/// A system call that failed, with its `errno`.
public struct SystemCallFailed: Error, CustomStringConvertible {
  public let call: String
  public let number: Int32

  public init(call: String, number: Int32) {
    self.call = call
    self.number = number
  }

  public var description: String { "\(call): \(String(cString: strerror(number)))" }
}
