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

  /// Whether "all" may mean all strings. To write to everybody is nobody's wish.
  public var allowsAll: Bool { self != .contactName && self != .contactGroupName }
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

/// A line of the answer of `POST /v1/jobs/vocabulary`: what became of a line of the request.
public struct VocabularyJobResult: Hashable, Sendable, Codable {
  public enum Status: String, Hashable, Sendable, Codable {
    case stored, unchanged, failed
  }

  /// The number of the line, from 1.
  public var line: Int64
  /// Absent where the line could not be read.
  public var userId: UserID?
  public var type: VocabularyType?
  public var status: Status
  public var revision: Int64?
  public var count: Int?
  /// Why it failed.
  public var problem: Problem?

  public init(line: Int64, status: Status) {
    self.line = line
    self.status = status
  }

  /// Writes the result as an object, without the line's end.
  public func write(to json: inout JSONWriter) {
    json.beginObject()
    json.name("line")
    json.value(line)
    if let userId {
      json.name("userId")
      json.value(userId.string)
    }
    if let type {
      json.name("type")
      json.value(type.rawValue)
    }
    json.name("status")
    json.value(status.rawValue)
    if let revision {
      json.name("revision")
      json.value(revision)
    }
    if let count {
      json.name("count")
      json.value(count)
    }
    if let problem {
      json.name("problem")
      problem.write(to: &json)
    }
    json.endObject()
  }
}

/// The last line of the answer of `POST /v1/jobs/vocabulary`.
public struct VocabularyJobSummary: Hashable, Sendable, Codable {
  /// True where the whole body was taken; false where the job ended before, as `problem` says.
  public var done: Bool
  /// Lines that are answered.
  public var lines: Int64 = 0
  public var stored: Int64 = 0
  public var unchanged: Int64 = 0
  public var failed: Int64 = 0
  /// Strings that are held of the lines that were stored or unchanged.
  public var strings: Int64 = 0
  public var problem: Problem?

  public init(done: Bool = false) { self.done = done }

  /// Counts a result.
  public mutating func add(_ result: VocabularyJobResult) {
    lines += 1
    switch result.status {
    case .stored: stored += 1
    case .unchanged: unchanged += 1
    case .failed: failed += 1
    }
    strings += Int64(result.count ?? 0)
  }

  /// Writes the summary as an object, without the line's end.
  public func write(to json: inout JSONWriter) {
    json.beginObject()
    json.name("done")
    json.value(done)
    json.name("lines")
    json.value(lines)
    json.name("stored")
    json.value(stored)
    json.name("unchanged")
    json.value(unchanged)
    json.name("failed")
    json.value(failed)
    json.name("strings")
    json.value(strings)
    if let problem {
      json.name("problem")
      problem.write(to: &json)
    }
    json.endObject()
  }
}
