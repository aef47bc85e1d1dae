import Glibc

/// Processor time used so far by this process, its finished children, and a local PostgreSQL server
/// with all its server processes.
///
/// On a machine that is shared with others it is the steadier measure than operations a second.
struct ProcessorTime {
  /// The process id of the server's postmaster.
  var postmaster: pid_t

  /// The postmaster of a server process on this machine; nil when there is no such process here.
  init?(serverProcess: pid_t) {
    guard let fields = Self.fields(of: serverProcess), fields.count > 1 else { return nil }
    postmaster = pid_t(fields[1])
  }

  /// Seconds, user and system together.
  func seconds() -> Double {
    var own = rusage()
    var children = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &own)
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &children)
    let times = [own.ru_utime, own.ru_stime, children.ru_utime, children.ru_stime]
    let here = times.reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    return here + Double(serverTicks()) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  private func serverTicks() -> Int {
    guard let directory = opendir("/proc") else { return 0 }
    defer { closedir(directory) }
    var ticks = 0
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let pid = pid_t(name), let fields = Self.fields(of: pid), fields.count > 14 else {
        continue
      }
      if pid == postmaster {
        ticks += fields[11] + fields[12] + fields[13] + fields[14]
      } else if fields[1] == Int(postmaster) {
        ticks += fields[11] + fields[12]
      }
    }
    return ticks
  }

  /// The fields of /proc/PID/stat from the third on (proc(5)): 1 is the parent, 11 and 12 its own
  /// time, 13 and 14 that of its finished children.
  private static func fields(of pid: pid_t) -> [Int]? {
    guard let file = fopen("/proc/\(pid)/stat", "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 1024)
    guard fgets(&line, 1024, file) != nil else { return nil }
    let text = line.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    // The name in parentheses may hold spaces.
    guard let end = text.lastIndex(of: ")") else { return nil }
    return text[text.index(after: end)...].split(separator: " ").map { Int($0) ?? 0 }
  }
}
