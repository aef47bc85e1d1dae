/// Metadata of a file that lies elsewhere, or a place on earth. The service never fetches it.
public struct Attachment: Hashable, Sendable, Codable {
  /// Where the file is: an `https` or `http` URL of at most 2,048 bytes.
  public var url: String?
  /// Its media type, such as `image/jpeg` (RFC 6838).
  public var mediaType: String?
  public var sizeBytes: Int64?
  /// A digest of the file in a form of the app's choice, such as `sha-256=…` (RFC 9530).
  public var digest: String?
  /// The file's or the place's name.
  public var name: String?
  /// Pixels.
  public var width: Int64?
  /// Pixels.
  public var height: Int64?
  public var durationMs: Int64?
  /// Degrees (WGS 84), -90 to 90.
  public var latitude: Double?
  /// Degrees (WGS 84), -180 to 180.
  public var longitude: Double?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case url, mediaType, sizeBytes, digest, name, width, height, durationMs, latitude, longitude
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys, limit: Int) throws -> String? {
      guard let text = try container.decodeIfPresent(String.self, forKey: key) else { return nil }
      guard !text.isEmpty, text.utf8.count <= limit, !text.utf8.contains(0) else {
        throw InvalidValue(
          at: decoder.codingPath + [key], "must have 1 to \(limit) bytes and no NUL character")
      }
      return text
    }
    func count(_ key: CodingKeys) throws -> Int64? {
      guard let value = try container.decodeIfPresent(Int64.self, forKey: key) else { return nil }
      guard value >= 0, value <= 1 << 53 else {
        throw InvalidValue(at: decoder.codingPath + [key], "must be 0 to 2^53")
      }
      return value
    }
    func degrees(_ key: CodingKeys, _ limit: Double) throws -> Double? {
      guard let value = try container.decodeIfPresent(Double.self, forKey: key) else { return nil }
      guard value.magnitude <= limit else {
        throw InvalidValue(at: decoder.codingPath + [key], "must be -\(limit) to \(limit) degrees")
      }
      return value
    }
    url = try text(.url, limit: Limits.urlBytes)
    if let url, !url.lowercased().hasPrefix("https://"), !url.lowercased().hasPrefix("http://") {
      throw InvalidValue(
        at: decoder.codingPath + [CodingKeys.url], "must be an https or http URL")
    }
    mediaType = try text(.mediaType, limit: Limits.attachmentTextBytes)
    sizeBytes = try count(.sizeBytes)
    digest = try text(.digest, limit: Limits.attachmentTextBytes)
    name = try text(.name, limit: Limits.attachmentTextBytes)
    width = try count(.width)
    height = try count(.height)
    durationMs = try count(.durationMs)
    latitude = try degrees(.latitude, 90)
    longitude = try degrees(.longitude, 180)
  }

  /// Throws `InvalidValue` unless it has what an attachment of an entry of `kind` needs.
  func validate(for kind: EntryKind, at pointer: String) throws {
    if kind == .location {
      guard latitude != nil, longitude != nil, url == nil else {
        throw InvalidValue(pointer, "must have latitude and longitude, and no url")
      }
    } else {
      guard url != nil, mediaType != nil, sizeBytes != nil, latitude == nil, longitude == nil else {
        throw InvalidValue(pointer, "must have url, mediaType and sizeBytes, and no coordinates")
      }
    }
  }

  /// Writes the attachment as an object, its members in a fixed order.
  public func write(to json: inout JSONWriter) {
    json.beginObject()
    if let url {
      json.name("url")
      json.value(url)
    }
    if let mediaType {
      json.name("mediaType")
      json.value(mediaType)
    }
    if let sizeBytes {
      json.name("sizeBytes")
      json.value(sizeBytes)
    }
    if let digest {
      json.name("digest")
      json.value(digest)
    }
    if let name {
      json.name("name")
      json.value(name)
    }
    if let width {
      json.name("width")
      json.value(width)
    }
    if let height {
      json.name("height")
      json.value(height)
    }
    if let durationMs {
      json.name("durationMs")
      json.value(durationMs)
    }
    if let latitude {
      json.name("latitude")
      json.value(json: "\(latitude)".utf8)
    }
    if let longitude {
      json.name("longitude")
      json.value(json: "\(longitude)".utf8)
    }
    json.endObject()
  }
}
