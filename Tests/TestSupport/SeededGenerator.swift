import FoundationEssentials

/// A random number generator that replays from its seed: SplitMix64 (Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", OOPSLA 2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  /// The variable that replays a run: a decimal number.
  public static let variable = "VOCATIVE_TEST_SEED"

  /// What the generator was started with.
  public let seed: UInt64
  private var state: UInt64

  public init(seed: UInt64) {
    self.seed = seed
    self.state = seed
  }

  /// A generator with the seed of `VOCATIVE_TEST_SEED`, else a random one. Prints the seed, so
  /// that a failure can be replayed.
  ///
  /// - Parameter name: What the generator is for, as printed; by default the calling function.
  public static func announced(_ name: String = #function) -> SeededGenerator {
    let seed: UInt64
    if let text = ProcessInfo.processInfo.environment[variable] {
      guard let number = UInt64(text) else {
        fatalError("\(variable) must be a number from 0 to \(UInt64.max)")
      }
      seed = number
    } else {
      seed = UInt64.random(in: .min ... .max)
    }
    print("\(name): replay with \(variable)=\(seed)")
    return SeededGenerator(seed: seed)
  }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
