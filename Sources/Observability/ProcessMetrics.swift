#if canImport(Musl)
  import Musl
#elseif canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The metrics of the process itself that every Prometheus client library has:
/// `process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_virtual_memory_bytes`,
/// `process_open_fds`, `process_max_fds` and `process_start_time_seconds`.
///
/// Read from `/proc/self` (proc(5)); what cannot be read is left out.
public struct ProcessMetrics: Sendable {
  /// Seconds of processor time, user and system.
  public var cpuSeconds: Double?
  /// Bytes of memory in use.
  public var residentBytes: Double?
  /// Bytes of address space.
  public var virtualBytes: Double?
  /// Open file descriptors.
  public var openFileDescriptors: Double?
  /// Most file descriptors that may be open.
  public var maximumFileDescriptors: Double?
  /// When the process began, in seconds since 1970.
  public var startTime: Double?

  /// Reads them now.
  public init() {
    var limit = rlimit()
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    if getrlimit(resource, &limit) == 0 {
      maximumFileDescriptors = limit.rlim_cur == rlim_t.max ? .infinity : Double(limit.rlim_cur)
    }
    // The listing itself holds one descriptor while it is read.
    openFileDescriptors = entries(of: "/proc/self/fd").map { Double($0 - 1) }
    // The name in parentheses may contain anything, spaces and parentheses too.
    guard let stat = contents(of: "/proc/self/stat"), let end = stat.lastIndex(of: ")") else {
      return
    }
    let fields = stat[stat.index(after: end)...].split(separator: " ").map { Double($0) }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    // Numbered as in proc(5), where the third field is the first after the name.
    func field(_ number: Int) -> Double? {
      fields.indices.contains(number - 3) ? fields[number - 3] : nil
    }
    if let user = field(14), let system = field(15) { cpuSeconds = (user + system) / ticks }
    virtualBytes = field(23)
    residentBytes = field(24).map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) }
    if let started = field(22),
      let boot = contents(of: "/proc/stat")?.split(separator: "\n")
        .first(where: { $0.hasPrefix("btime ") }).flatMap({ Double($0.dropFirst(6)) })
    {
      startTime = boot + started / ticks
    }
  }

  /// Appends them in the Prometheus text format, version 0.0.4.
  public func render(into output: inout String) {
    func metric(_ name: String, _ type: String, _ help: String, _ value: Double?) {
      guard let value else { return }
      output += "# HELP process_\(name) \(help)\n# TYPE process_\(name) \(type)\n"
      output += "process_\(name) \(MetricNames.number(value))\n"
    }
    metric("cpu_seconds_total", "counter", "Processor time used, in seconds.", cpuSeconds)
    metric("max_fds", "gauge", "Most file descriptors that may be open.", maximumFileDescriptors)
    metric("open_fds", "gauge", "Open file descriptors.", openFileDescriptors)
    metric("resident_memory_bytes", "gauge", "Memory in use, in bytes.", residentBytes)
    metric("start_time_seconds", "gauge", "Start of the process, Unix time.", startTime)
    metric("virtual_memory_bytes", "gauge", "Address space, in bytes.", virtualBytes)
  }
}

private func contents(of path: String) -> String? {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var bytes: [UInt8] = []
  var part = [UInt8](repeating: 0, count: 16384)
  while true {
    let count = read(file, &part, part.count)
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
    bytes.append(contentsOf: part.prefix(count))
  }
}

private func entries(of directory: String) -> Int? {
  guard let stream = opendir(directory) else { return nil }
  defer { closedir(stream) }
  var count = 0
  while readdir(stream) != nil { count += 1 }
  // Without "." and "..".
  return count - 2
}
