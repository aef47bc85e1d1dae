import Foundation
import VocativeModel

/// An `AppIntentVocabulary.plist` as Xcode makes it, XML or binary.
enum AppIntentVocabulary {
  /// Reads it.
  ///
  /// - Throws: `FileProblem`, which names the place by its keys.
  static func read(_ data: Data) throws(FileProblem) -> AppVocabulary {
    let file: File
    do {
      file = try PropertyListDecoder().decode(File.self, from: data)
    } catch let error as DecodingError {
      throw FileProblem(reason(error))
    } catch {
      throw FileProblem("it is no property list")
    }
    guard file.parameters?.isEmpty == false || file.phrases?.isEmpty == false else {
      throw FileProblem("it has neither ParameterVocabularies nor IntentPhrases")
    }
    return AppVocabulary(
      terms: (file.parameters ?? []).flatMap { group in
        group.items.map { item in
          AppVocabulary.Term(
            parameters: group.names, identifier: item.identifier,
            synonyms: item.synonyms.map {
              AppVocabulary.Synonym(
                $0.phrase, pronunciation: $0.pronunciation, examples: $0.examples)
            })
        }
      },
      examples: (file.phrases ?? []).map {
        AppVocabulary.IntentExamples(intent: $0.name, examples: $0.examples)
      })
  }

  private static func reason(_ error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let key, let context):
      "\(InvalidValue.pointer(context.codingPath + [key])) must be there"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      "\(InvalidValue.pointer(context.codingPath)) is of another type"
    default: "it is no property list"
    }
  }

  private struct File: Decodable {
    var parameters: [Group]?
    var phrases: [Intent]?
    enum CodingKeys: String, CodingKey {
      case parameters = "ParameterVocabularies"
      case phrases = "IntentPhrases"
    }
  }

  private struct Group: Decodable {
    var names: [String]
    var items: [Item]
    enum CodingKeys: String, CodingKey {
      case names = "ParameterNames"
      case items = "ParameterVocabulary"
    }
  }

  private struct Item: Decodable {
    var identifier: String
    var synonyms: [Synonym]
    enum CodingKeys: String, CodingKey {
      case identifier = "VocabularyItemIdentifier"
      case synonyms = "VocabularyItemSynonyms"
    }
  }

  private struct Synonym: Decodable {
    var phrase: String
    var pronunciation: String?
    var examples: [String]?
    enum CodingKeys: String, CodingKey {
      case phrase = "VocabularyItemPhrase"
      case pronunciation = "VocabularyItemPronunciation"
      case examples = "VocabularyItemExamples"
    }
  }

  private struct Intent: Decodable {
    var name: String
    var examples: [String]
    enum CodingKeys: String, CodingKey {
      case name = "IntentName"
      case examples = "IntentExamples"
    }
  }
}
