/// What all users of an app share, in one locale: the content of an `AppIntentVocabulary.plist`
/// (Apple, "App Intent Vocabulary File Format").
public struct AppVocabulary: Hashable, Sendable, Codable {
  /// Something that a parameter of an intent can be, under all that it is called.
  public struct Term: Hashable, Sendable, Codable {
    /// Which parameters: "INStartWorkoutIntent.workoutName".
    public var parameters: [String]
    /// The app's own id.
    public var identifier: String
    public var synonyms: [Synonym]

    public init(parameters: [String], identifier: String, synonyms: [Synonym]) {
      self.parameters = parameters
      self.identifier = identifier
      self.synonyms = synonyms
    }

    /// The types of vocabulary that its parameters take.
    public var types: Set<VocabularyType> {
      Set(parameters.compactMap { VocabularyType(parameter: $0) })
    }
  }

  /// One name of a term.
  public struct Synonym: Hashable, Sendable, Codable {
    public var phrase: String
    public var pronunciation: String?
    /// Whole phrases that a user may say.
    public var examples: [String]?

    public init(_ phrase: String, pronunciation: String? = nil, examples: [String]? = nil) {
      self.phrase = phrase
      self.pronunciation = pronunciation
      self.examples = examples
    }
  }

  /// Whole phrases by which users reach an intent.
  public struct IntentExamples: Hashable, Sendable, Codable {
    public var intent: String
    public var examples: [String]

    public init(intent: String, examples: [String]) {
      self.intent = intent
      self.examples = examples
    }
  }

  public var terms: [Term]
  public var examples: [IntentExamples]

  public init(terms: [Term], examples: [IntentExamples]) {
    self.terms = terms
    self.examples = examples
  }

  /// The strings that it gives to a type, in order.
  public func strings(of type: VocabularyType) -> [VocabularyString] {
    terms.filter { $0.types.contains(type) }.flatMap { term in
      term.synonyms.map {
        VocabularyString(
          $0.phrase, identifier: term.identifier, pronunciationHint: $0.pronunciation)
      }
    }
  }
}

extension VocabularyType {
  /// The type of what an intent's parameter takes; nil for parameters without one.
  ///
  /// - Parameter parameter: its intent and name: "INStartWorkoutIntent.workoutName".
  public init?(parameter: String) {
    guard let name = parameter.split(separator: ".").last else { return nil }
    switch name {
    case "workoutName": self = .workoutActivityName
    case "profileName": self = .carProfileName
    case "carName": self = .carName
    case "albumName": self = .photoAlbumName
    case "searchTerms", "photoTags": self = .photoTag
    case "targetTaskList": self = .notebookItemGroupName
    case "title", "taskTitles", "targetNote": self = .notebookItemTitle
    case "groupName":
      self = parameter.contains("Message") ? .contactGroupName : .notebookItemGroupName
    case "billPayee", "organizationName": self = .paymentsOrganizationName
    case "accountNickname", "fromAccount", "toAccount": self = .paymentsAccountNickname
    default: return nil
    }
  }
}
