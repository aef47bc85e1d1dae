import Foundation

/// What processes have used, from /proc (proc(5)).
enum ProcessUsage {
  /// CPU time of a process and of its children that have ended and were waited for, in seconds; nil
  /// where there is no such process.
  static func cpuSeconds(_ processID: Int32) -> Double? {
    guard let fields = stat(processID) else { return nil }
    // utime, stime, cutime, cstime: fields 14 to 17 of the line.
    return fields[11...14].compactMap { Double($0) }.reduce(0, +) / ticksPerSecond
  }

  /// The processes that a process has started and that still run.
  static func children(of processID: Int32) -> [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int32($0) }.filter { stat($0)?[1] == "\(processID)" }
  }

  /// Memory of a process that is in RAM, in bytes.
  static func residentBytes(_ processID: Int32) -> Double? {
    let status = try? String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
    return status?.firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Double($0.1) }.map { $0 * 1024 }
  }

  private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))

  /// The fields behind the command's name, which may hold anything: state, parent, and so on.
  private static func stat(_ processID: Int32) -> [Substring]? {
    guard let text = try? String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8),
      let name = text.lastIndex(of: ")")
    else { return nil }
    return text[text.index(after: name)...].split(separator: " ")
  }
}

extension Stage {
  /// CPU time that service and database have taken so far.
  func cpuSeconds() -> Double {
    (ProcessUsage.cpuSeconds(service.processID) ?? 0) + databaseCPUSeconds()
  }

  /// CPU time that the database has taken so far, all of its processes together.
  func databaseCPUSeconds() -> Double {
    ([postmasterID] + ProcessUsage.children(of: postmasterID))
      .compactMap(ProcessUsage.cpuSeconds).reduce(0, +)
  }

  /// An argument without the temporary directory's name, to be shown.
  func anonymous(_ argument: String) -> String {
    argument.replacingOccurrences(of: directory + "/", with: "")
      .replacingOccurrences(of: ":\(service.port)", with: ":PORT")
  }
}
