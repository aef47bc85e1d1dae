import Foundation
import VocativeModel

/// A property list (XML or binary) of one user's vocabulary: an array of strings, or of dictionaries
/// with `phrase`, `identifier` and `pronunciationHint`; or a dictionary of such arrays by type.
enum PropertyListVocabulary {
  /// Reads it.
  ///
  /// - Parameter type: of an array, which does not say.
  static func read(
    _ data: Data, _ type: VocabularyType?
  ) throws(FileProblem) -> [(VocabularyType, [VocabularyString])] {
    let list: List
    do {
      list = try PropertyListDecoder().decode(List.self, from: data)
    } catch {
      throw FileProblem(
        "it is no property list of strings, of dictionaries with a phrase, or of these by type")
    }
    switch list {
    case .strings(let items):
      guard let type else { throw FileProblem("it has no type: give --type") }
      return [(type, items.map(\.string))]
    case .byType(let types):
      var vocabulary: [(VocabularyType, [VocabularyString])] = []
      for (name, items) in types.sorted(by: { $0.key < $1.key }) {
        guard let type = VocabularyType(rawValue: name) else {
          throw FileProblem("a key \(VocabularyType.reason)")
        }
        vocabulary.append((type, items.map(\.string)))
      }
      return vocabulary
    }
  }

  private enum List: Decodable {
    case strings([Item])
    case byType([String: [Item]])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let items = try? container.decode([Item].self) {
        self = .strings(items)
      } else {
        self = .byType(try container.decode([String: [Item]].self))
      }
    }
  }

  private struct Item: Decodable {
    var string: VocabularyString

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let phrase = try? container.decode(String.self) {
        string = VocabularyString(phrase)
      } else {
        string = try container.decode(VocabularyString.self)
      }
    }
  }
}
