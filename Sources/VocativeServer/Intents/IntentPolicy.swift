import FoundationEssentials
public import VocativeModel

/// What an installation allows of intents, and how it adapts what is spoken.
public struct IntentPolicy: Sendable {
  /// Whether messages are confirmed for unlocked devices only (SiriKit's
  /// `IntentsRestrictedWhileLocked`).
  public var restrictsWhileLocked: Bool
  /// What stands for special words in spoken content.
  public var adaptation: ContentAdaptation
  /// Seconds that a confirmation is valid.
  public var confirmationSeconds: Int

  /// The words that are adapted where an installation has no table of its own.
  public static let defaultAdaptation: ContentAdaptation = {
    do { return try read(Array(Resource.adaptations.utf8)) } catch {
      preconditionFailure("Resources/adaptations.json does not hold words")
    }
  }()

  public init(
    restrictsWhileLocked: Bool = false,
    adaptation: ContentAdaptation = defaultAdaptation, confirmationSeconds: Int = 300
  ) {
    self.restrictsWhileLocked = restrictsWhileLocked
    self.adaptation = adaptation
    self.confirmationSeconds = confirmationSeconds
  }

  /// Reads a table of words: a JSON object with what stands for each.
  ///
  /// - Throws: `InvalidValue` for words over a limit; `DecodingError` for what is no such object.
  public static func read(_ json: [UInt8]) throws -> ContentAdaptation {
    try ContentAdaptation(try JSONDecoder().decode([String: String].self, from: Data(json)))
  }
}
