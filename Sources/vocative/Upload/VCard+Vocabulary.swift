import Foundation
import VocativeModel

/// What a user calls those in their address book.
extension VCard {
  /// The strings of cards: people and organisations, and the groups that they are in.
  static func vocabulary(
    of cards: [VCard]
  ) -> [(type: VocabularyType, strings: [VocabularyString])] {
    var contacts: [VocabularyString] = []
    var groups: [VocabularyString] = []
    for card in cards {
      if card.isGroup {
        let identifier = card.text("UID")
        groups += card.names.map { VocabularyString($0, identifier: identifier) }
      } else {
        contacts += card.strings
        groups += card.properties.filter { $0.name == "CATEGORIES" }
          .flatMap { parts($0.value, by: ",") }
          // What address books call everybody.
          .filter { !$0.isEmpty && $0.lowercased() != "mycontacts" }
          .map { VocabularyString($0) }
      }
    }
    var vocabulary: [(VocabularyType, [VocabularyString])] = []
    if !contacts.isEmpty { vocabulary.append((.contactName, contacts)) }
    if !groups.isEmpty { vocabulary.append((.contactGroupName, groups)) }
    return vocabulary
  }

  private var isGroup: Bool {
    ["KIND", "X-ADDRESSBOOKSERVER-KIND"].contains { text($0)?.lowercased() == "group" }
  }

  private var strings: [VocabularyString] {
    let identifier = text("UID")
    let hint = pronunciation
    return names.enumerated().map { index, name in
      // How the whole name is said is not how a nickname is.
      VocabularyString(
        name, identifier: identifier, pronunciationHint: index == 0 ? hint : nil)
    }
  }

  /// The name as shown, given and family name, nicknames; of who has none the organisation.
  private var names: [String] {
    var names: [String] = []
    func add(_ name: String?) {
      guard let name, !name.isEmpty, !names.contains(name) else { return }
      names.append(name)
    }
    let parts = nameParts
    add(text("FN"))
    add(PersonName(givenName: parts.given, familyName: parts.family).phrases.first)
    for property in properties where property.name == "NICKNAME" {
      for nickname in Self.parts(property.value, by: ",") { add(nickname) }
    }
    if names.isEmpty || text("KIND")?.lowercased() == "org" {
      add(properties.first { $0.name == "ORG" }.flatMap { Self.parts($0.value, by: ";").first })
    }
    return names
  }

  /// The first two parts of `N` (RFC 6350, section 6.2.2).
  private var nameParts: (family: String?, given: String?) {
    guard let name = properties.first(where: { $0.name == "N" }) else { return (nil, nil) }
    let parts = Self.rawParts(name.value, by: ";")
      .map { Self.parts(String($0), by: ",").joined(separator: " ") }
    func part(_ index: Int) -> String? {
      parts.indices.contains(index) && !parts[index].isEmpty ? parts[index] : nil
    }
    return (part(0), part(1))
  }

  /// How the name is said: the phonetic names of address books, else what it is sorted as where
  /// that has other letters than the name itself.
  private var pronunciation: String? {
    let phonetic = ["X-PHONETIC-LAST-NAME", "X-PHONETIC-FIRST-NAME"].compactMap(text)
    if !phonetic.isEmpty { return phonetic.joined(separator: " ") }
    let sorted =
      properties.lazy.filter { ["N", "FN"].contains($0.name) }
      .compactMap { $0.parameters["SORT-AS"]?.first }.first ?? text("SORT-STRING")
    guard let sorted, !sorted.isEmpty else { return nil }
    let hint = sorted.replacing(",", with: " ")
    let known = Set(names.joined().lowercased().unicodeScalars)
    return hint.lowercased().unicodeScalars.allSatisfy {
      $0 == " " || known.contains($0)
    } ? nil : hint
  }
}
