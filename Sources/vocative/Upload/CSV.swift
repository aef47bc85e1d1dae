/// Comma-separated values (RFC 4180), with commas, semicolons or tabs, whichever the first line has.
struct CSV {
  /// A row's fields, and the line of the file on which it begins.
  struct Row: Equatable {
    var line: Int
    var fields: [String]
  }

  /// All rows, blank lines left out.
  static func rows(of text: String) throws(FileProblem) -> [Row] {
    var reader = CSV(text)
    return try reader.read()
  }

  private let scalars: String.UnicodeScalarView
  private var index: String.UnicodeScalarView.Index
  private let delimiter: Unicode.Scalar
  private var line = 1

  private init(_ text: String) {
    scalars = text.unicodeScalars
    index = scalars.startIndex
    if scalars.first == "\u{FEFF}" { index = scalars.index(after: index) }
    let header = scalars[index...].prefix { $0 != "\n" && $0 != "\r" }
    delimiter = [",", ";", "\t"].max { left, right in
      header.count { $0 == left } < header.count { $0 == right }
    }!
  }

  private mutating func read() throws(FileProblem) -> [Row] {
    var rows: [Row] = []
    while index < scalars.endIndex {
      let start = line
      var fields: [String] = []
      repeat { fields.append(try field()) } while take(delimiter)
      guard index == scalars.endIndex || takeLineEnd() else {
        throw FileProblem(line: line, "a quoted field goes on behind its quotes")
      }
      if fields != [""] { rows.append(Row(line: start, fields: fields)) }
    }
    return rows
  }

  private mutating func field() throws(FileProblem) -> String {
    var text = String.UnicodeScalarView()
    if !take("\"") {
      while index < scalars.endIndex, scalars[index] != delimiter, !atLineEnd {
        text.append(scalars[index])
        index = scalars.index(after: index)
      }
      return String(text)
    }
    let start = line
    while index < scalars.endIndex {
      if take("\"") {
        guard take("\"") else { return String(text) }
        text.append("\"")
        continue
      }
      if scalars[index] == "\n" { line += 1 }
      text.append(scalars[index])
      index = scalars.index(after: index)
    }
    throw FileProblem(line: start, "a quoted field does not end")
  }

  private var atLineEnd: Bool { scalars[index] == "\n" || scalars[index] == "\r" }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard index < scalars.endIndex, scalars[index] == scalar else { return false }
    index = scalars.index(after: index)
    return true
  }

  private mutating func takeLineEnd() -> Bool {
    let hadReturn = take("\r")
    guard take("\n") || hadReturn else { return false }
    line += 1
    return true
  }
}

/// What is wrong with a file, without what stands in it.
struct FileProblem: Error, Equatable, CustomStringConvertible {
  /// From 1; nil where it is about the whole file.
  var line: Int?
  var reason: String

  init(line: Int? = nil, _ reason: String) {
    self.line = line
    self.reason = reason
  }

  var description: String { line.map { "line \($0): \(reason)" } ?? reason }
}
