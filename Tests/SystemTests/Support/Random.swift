import Foundation
import TestSupport

extension SeededGenerator {
  /// A UUID of version 4 that replays.
  mutating func uuid() -> UUID {
    let (high, low) = (next(), next())
    func byte(_ word: UInt64, _ index: UInt64) -> UInt8 {
      UInt8(truncatingIfNeeded: word >> (8 * index))
    }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
        byte(high, 6) & 0x0f | 0x40, byte(high, 7), byte(low, 0) & 0x3f | 0x80, byte(low, 1),
        byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
      ))
  }

  /// A generator of a task's own, so that what the task does replays whatever the others do.
  mutating func split() -> SeededGenerator { SeededGenerator(seed: next()) }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  /// Text as people write it, in several scripts, never empty.
  mutating func text() -> String {
    let words = ["Hallo", "picnic", "早上好", "тост", "🥖🧀", "naïve", "\"quoted\\", "<b>", "\u{2028}"]
    return (0..<Int.random(in: 1...6, using: &self))
      .map { _ in words.randomElement(using: &self) ?? "" }.joined(separator: " ")
  }
}

/// A JSON object from members that are JSON values.
func json(_ value: [String: Any]) -> String {
  // The values are the tests' own.
  String(
    decoding: (try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys]))
      ?? Data(),
    as: UTF8.self)
}

func lowercased(_ id: UUID) -> String { id.uuidString.lowercased() }
