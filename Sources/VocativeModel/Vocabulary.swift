/// What the strings of a vocabulary name: the cases of Apple's `INVocabularyStringType`.
public enum VocabularyType: String, Hashable, Sendable, Codable, CaseIterable {
  case contactName, contactGroupName
  case photoTag, photoAlbumName
  case workoutActivityName
  case carProfileName, carName
  case paymentsOrganizationName, paymentsAccountNickname
  case notebookItemTitle, notebookItemGroupName
  case mediaPlaylistTitle, mediaMusicArtistName, mediaAudiobookTitle, mediaAudiobookAuthorName
  case mediaShowTitle
}

/// One string of a vocabulary.
public struct VocabularyString: Hashable, Sendable, Codable {
  /// What the user calls it.
  public var phrase: String
  /// What it stands for: a user, a thread, or an id of the app's own.
  public var identifier: String?
  /// How it is said, in the phrase's own script or a romanisation.
  public var pronunciationHint: String?

  public init(_ phrase: String, identifier: String? = nil, pronunciationHint: String? = nil) {
    self.phrase = phrase
    self.identifier = identifier
    self.pronunciationHint = pronunciationHint
  }

  /// Writes the members, for an object that may have further ones.
  public func writeMembers(to json: inout JSONWriter) {
    json.name("phrase")
    json.value(phrase)
    if let identifier {
      json.name("identifier")
      json.value(identifier)
    }
    if let pronunciationHint {
      json.name("pronunciationHint")
      json.value(pronunciationHint)
    }
  }
}

/// The body of `PUT /v1/vocabulary/{type}`: all strings of the type, the most important first.
public struct PutVocabulary: Hashable, Sendable, Codable {
  public var strings: [VocabularyString]

  public init(strings: [VocabularyString]) { self.strings = strings }
}

/// A line of `POST /v1/jobs/vocabulary`: all strings of a type of one user.
public struct VocabularyJobLine: Hashable, Sendable, Codable {
  public var userId: UserID
  public var type: VocabularyType
  public var strings: [VocabularyString]

  public init(userId: UserID, type: VocabularyType, strings: [VocabularyString]) {
    self.userId = userId
    self.type = type
    self.strings = strings
  }

  /// Writes the line as an object, without the line's end.
  public func write(to json: inout JSONWriter) {
    json.beginObject()
    json.name("userId")
    json.value(userId.string)
    json.name("type")
    json.value(type.rawValue)
    json.name("strings")
    json.beginArray()
    for string in strings {
      json.beginObject()
      string.writeMembers(to: &json)
      json.endObject()
    }
    json.endArray()
    json.endObject()
  }
}

/// What is held of a type (the answer to `PUT /v1/vocabulary/{type}`).
public struct VocabularyState: Hashable, Sendable, Codable {
  /// Counts up with every change and never restarts; 0 where there never was any.
  public var revision: Int64
  /// The strings that are held, duplicates not counted.
  public var count: Int

  public init(revision: Int64, count: Int) {
    self.revision = revision
    self.count = count
  }
}
