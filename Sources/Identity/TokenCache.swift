import Crypto
import FoundationEssentials
import Synchronization

/// Verified tokens by the SHA-256 of their text, bounded in number.
///
/// Eviction is that of two generations: when the younger one is full it becomes the older one, and
/// what nobody asked for since is dropped with the older one, in O(1). Lookup compares hashes only,
/// so its time tells nothing about a token.
final class TokenCache: Sendable {
  typealias Key = SHA256Digest

  private struct Entry {
    var principal: Principal
    var validUntil: Date
    var signer: VerificationKey.Identity
    /// The generation of the key set in which the signer was last seen.
    var generation: UInt64
  }

  private struct Generations {
    var young: [Key: Entry] = [:]
    var old: [Key: Entry] = [:]
  }

  private let generations = Mutex(Generations())
  private let capacityOfHalf: Int

  /// A cache of at most `capacity` tokens; 0 keeps none.
  init(capacity: Int) { capacityOfHalf = capacity / 2 }

  static func key(of token: some ContiguousBytes) -> Key {
    token.withUnsafeBytes { bytes in
      var hash = SHA256()
      hash.update(bufferPointer: bytes)
      return hash.finalize()
    }
  }

  /// The principal of a token that was verified before, unless it has expired since, or its key is
  /// no longer in `keys`.
  func principal(for key: Key, keys: LoadedKeys, now: Date) -> Principal? {
    generations.withLock { state in
      let isYoung: Bool
      var entry: Entry
      if let found = state.young[key] {
        (entry, isYoung) = (found, true)
      } else if let found = state.old.removeValue(forKey: key) {
        (entry, isYoung) = (found, false)
      } else {
        return nil
      }
      let isCurrent = entry.generation == keys.generation
      guard now < entry.validUntil, isCurrent || keys.set.contains(entry.signer) else {
        if isYoung { state.young.removeValue(forKey: key) }
        return nil
      }
      if !isYoung || !isCurrent {
        entry.generation = keys.generation
        insert(entry, for: key, into: &state)
      }
      return entry.principal
    }
  }

  /// Keeps `principal` until `validUntil`.
  func insert(
    _ principal: Principal, for key: Key, signer: VerificationKey.Identity, generation: UInt64,
    validUntil: Date
  ) {
    guard capacityOfHalf > 0 else { return }
    let entry = Entry(
      principal: principal, validUntil: validUntil, signer: signer, generation: generation)
    generations.withLock { insert(entry, for: key, into: &$0) }
  }

  /// Entries held, both generations together.
  var count: Int { generations.withLock { $0.young.count + $0.old.count } }

  private func insert(_ entry: Entry, for key: Key, into state: inout Generations) {
    if state.young.count >= capacityOfHalf, state.young[key] == nil {
      state.old = state.young
      state.young = [:]
      state.young.reserveCapacity(capacityOfHalf)
    }
    state.young[key] = entry
  }
}
