/// What one check of the doctor found, and what to do about it.
struct DoctorFinding: Sendable, Equatable, Encodable {
  enum Outcome: String, Sendable, Encodable, CaseIterable {
    case ok
    /// Works, and will not for long or not well.
    case warning
    /// Does not work.
    case failure
  }

  /// What was looked at, in a few words.
  let check: String
  let outcome: Outcome
  /// What is the case; no secrets, no user content.
  let finding: String
  /// What to do; nil when nothing is to be done.
  let advice: String?

  static func ok(_ check: String, _ finding: String) -> DoctorFinding {
    DoctorFinding(check: check, outcome: .ok, finding: finding, advice: nil)
  }

  static func warning(_ check: String, _ finding: String, advice: String) -> DoctorFinding {
    DoctorFinding(check: check, outcome: .warning, finding: finding, advice: advice)
  }

  static func failure(_ check: String, _ finding: String, advice: String) -> DoctorFinding {
    DoctorFinding(check: check, outcome: .failure, finding: finding, advice: advice)
  }
}
