import HTTPTypes
import Hummingbird

/// Which methods each address knows, so that a wrong method is told apart from a wrong address
/// (405 with `Allow`, RFC 9110, section 15.5.6). Hummingbird's router answers 404 to both.
struct MethodTable: Sendable {
  private var methods: [(pattern: [Substring], methods: Set<String>)] = []

  init(_ routes: [(path: String, method: String)]) {
    for route in routes {
      let pattern = route.path.split(separator: "/")
      if let index = methods.firstIndex(where: { $0.pattern == pattern }) {
        methods[index].methods.insert(route.method)
      } else {
        methods.append((pattern, [route.method]))
      }
    }
  }

  /// The value of `Allow` for a path that other methods are known at; nil for an unknown path.
  func allowed(at path: String) -> String? {
    let parts = path.split(separator: "/")
    let match = methods.first { known in
      known.pattern.count == parts.count
        && zip(known.pattern, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
    return match.map { $0.methods.sorted().joined(separator: ", ") }
  }
}
