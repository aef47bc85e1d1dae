extension ConfigurationKey {
  // MARK: Intents

  static let intentsAdaptations = ConfigurationKey(
    name: "intents.adaptations", kind: .path, absence: "生气 and a few names of emoji",
    help: "A JSON object of special words in spoken content and what stands for each.")
  static let intentsRestrictWhileLocked = ConfigurationKey(
    name: "intents.restrictWhileLocked", kind: .boolean, defaultValue: .bool(false),
    help: "Whether messages that are spoken are confirmed for unlocked devices only.")
  static let intentsConfirmation = ConfigurationKey(
    name: "intents.confirmationSeconds", kind: .integer(10...3600), unit: "seconds",
    defaultValue: .int(300), help: "How long a confirmed message may be sent.")
}
