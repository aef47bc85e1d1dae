/// Judgements on what ``HostFacts`` reads; pure.
enum HostChecks {
  private static let gibibyte = 1 << 30

  static func secretFile(_ check: String, path: String, _ file: HostFacts.File?) -> DoctorFinding {
    guard let file, !file.isDirectory else {
      return .failure(check, "there is no file \(path)", advice: "Correct the path.")
    }
    guard file.isReadable else {
      return .failure(
        check, "\(path) cannot be read", advice: "Give it to the user that runs the service.")
    }
    guard file.byteCount > 0 else {
      return .failure(check, "\(path) is empty", advice: "Put the keys into it.")
    }
    guard file.permissions & 0o077 == 0 else {
      let shown = String(file.permissions & 0o777, radix: 8)
      return .warning(
        check, "others may use \(path) (mode \(shown))", advice: "Run: chmod 600 \(path)")
    }
    return .ok(check, "\(path) is private")
  }

  static func dataDirectory(
    path: String, _ directory: HostFacts.File?, nearest: (path: String, isWritable: Bool)
  ) -> DoctorFinding {
    guard let directory else {
      return nearest.isWritable
        ? .ok("Data directory", "\(path) will be made")
        : .failure(
          "Data directory", "\(path) cannot be made in \(nearest.path)",
          advice: "Choose another data.directory, or make it and give it to this user.")
    }
    guard directory.isDirectory else {
      return .failure(
        "Data directory", "\(path) is no directory", advice: "Choose another data.directory.")
    }
    guard nearest.isWritable else {
      return .failure(
        "Data directory", "\(path) cannot be written",
        advice: "Give it to the user that runs the service.")
    }
    guard directory.permissions & 0o022 == 0 else {
      return .warning(
        "Data directory", "others may write to \(path)", advice: "Run: chmod go-w \(path)")
    }
    return .ok("Data directory", path)
  }

  static func disk(freeBytes: Int?) -> DoctorFinding {
    guard let freeBytes else {
      return .warning("Disk", "free space is unknown", advice: "Look at it with: df -h")
    }
    let shown = "\(freeBytes * 10 / gibibyte / 10).\(freeBytes * 10 / gibibyte % 10) GiB free"
    if freeBytes < gibibyte {
      return .failure("Disk", shown, advice: "Make room: PostgreSQL stops when the disk is full.")
    }
    if freeBytes < 10 * gibibyte {
      return .warning("Disk", shown, advice: "Make room before PostgreSQL runs out of it.")
    }
    return .ok("Disk", shown)
  }

  static func openFiles(limit: Int) -> DoctorFinding {
    let shown = limit == .max ? "no limit" : "at most \(limit)"
    let advice = "Run: ulimit -n 65536; under systemd, set LimitNOFILE=65536."
    if limit < 1024 { return .failure("Open files", shown, advice: advice) }
    if limit < 16_384 {
      return .warning("Open files", "\(shown): each connected device takes one", advice: advice)
    }
    return .ok("Open files", shown)
  }

  static func port(_ check: String, _ endpoint: ServiceConfiguration.Endpoint, problem: String?)
    -> DoctorFinding
  {
    let address = "\(endpoint.host):\(endpoint.port)"
    guard let problem else { return .ok(check, "\(address) is free") }
    return .warning(
      check, "cannot listen on \(address): \(problem)",
      advice: "Fine when this service is running already; else choose another port.")
  }
}
