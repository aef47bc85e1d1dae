/// Thrown by ``eventually(within:_:file:line:)``.
public struct ConditionNotMet: Error, CustomStringConvertible {
  public let description: String
}

/// Returns as soon as `condition` holds, and throws ``ConditionNotMet`` when it does not within
/// `duration`. The condition is tried at least once, and again after pauses of 2 to 50 ms.
public nonisolated(nonsending) func eventually(
  within duration: Duration = .seconds(10), file: String = #fileID, line: Int = #line,
  _ condition: () async throws -> Bool
) async throws {
  let deadline = ContinuousClock.now + duration
  var pause = Duration.milliseconds(2)
  while try await !condition() {
    guard ContinuousClock.now < deadline else {
      throw ConditionNotMet(description: "Not met within \(duration) at \(file):\(line)")
    }
    try await Task.sleep(for: pause)
    pause = min(pause * 2, .milliseconds(50))
  }
}
