/// libpq connection strings (PostgreSQL's documentation, "Connection Strings").
enum Conninfo {
  static func string(host: String, port: Int, database: String, user: String) -> String {
    "host=\(quote(host)) port=\(port) dbname=\(quote(database)) user=\(quote(user))"
  }

  static func quote(_ value: String) -> String {
    var quoted = "'"
    for character in value {
      if character == "'" || character == "\\" { quoted.append("\\") }
      quoted.append(character)
    }
    return quoted + "'"
  }
}
