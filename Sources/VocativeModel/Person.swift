/// What a participant is called in a thread. At least one part is there.
public struct PersonName: Hashable, Sendable, Codable {
  public var givenName: String?
  public var familyName: String?
  public var nickname: String?
  /// The whole name as it is to be shown.
  public var display: String?

  public init(
    givenName: String? = nil, familyName: String? = nil, nickname: String? = nil,
    display: String? = nil
  ) {
    self.givenName = givenName
    self.familyName = familyName
    self.nickname = nickname
    self.display = display
  }

  enum CodingKeys: String, CodingKey, CaseIterable {
    case givenName, familyName, nickname, display
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
    func part(_ key: CodingKeys) throws -> String? {
      guard let text = try container.decodeIfPresent(String.self, forKey: key) else { return nil }
      guard text.utf8.count <= Limits.nameBytes, !text.isEmpty, !text.utf8.contains(0) else {
        throw InvalidValue(
          at: decoder.codingPath + [key],
          "must have 1 to \(Limits.nameBytes) bytes and no NUL character")
      }
      return text
    }
    givenName = try part(.givenName)
    familyName = try part(.familyName)
    nickname = try part(.nickname)
    display = try part(.display)
    if givenName == nil, familyName == nil, nickname == nil, display == nil {
      throw InvalidValue(at: decoder.codingPath, "must have at least one part")
    }
  }

  /// What the person may be called, the fullest first, without repeats: the name as shown, given
  /// and family name together as far as they are there, the nickname.
  public var phrases: [String] {
    var phrases: [String] = []
    for phrase in [display, givenName.map { whole(givenName: $0) } ?? familyName, nickname] {
      if let phrase, !phrases.contains(phrase) { phrases.append(phrase) }
    }
    return phrases
  }

  /// Names in Han, kana and Hangul have the family name first and no space.
  private func whole(givenName: String) -> String {
    guard let familyName else { return givenName }
    let isEastAsian = (givenName + familyName).unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      case 0x2E80...0x9FFF, 0xAC00...0xD7FF, 0xF900...0xFAFF, 0x20000...0x3FFFF: true
      default: false
      }
    }
    return isEastAsian ? familyName + givenName : "\(givenName) \(familyName)"
  }

  /// Writes the name as an object, its members in a fixed order.
  public func write(to json: inout JSONWriter) {
    json.beginObject()
    if let givenName {
      json.name("givenName")
      json.value(givenName)
    }
    if let familyName {
      json.name("familyName")
      json.value(familyName)
    }
    if let nickname {
      json.name("nickname")
      json.value(nickname)
    }
    if let display {
      json.name("display")
      json.value(display)
    }
    json.endObject()
  }
}

/// What a participant may do in a thread. Owners and admins change participants and may delete
/// others' entries; only owners make owners and change them.
public enum Role: String, Hashable, Sendable, Codable, CaseIterable {
  case owner, admin, member
}

/// Somebody in a thread.
public struct Participant: Hashable, Sendable, Codable {
  public var userId: UserID
  public var role: Role
  public var name: PersonName?

  public init(userId: UserID, role: Role, name: PersonName? = nil) {
    self.userId = userId
    self.role = role
    self.name = name
  }
}
