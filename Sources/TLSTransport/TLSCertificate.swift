import COpenSSL
import Glibc

/// What an X.509 certificate says, as far as the service, its log and its operators need it.
public struct TLSCertificate: Hashable, Sendable {
  /// A subject alternative name (RFC 5280 section 4.2.1.6).
  public enum AlternativeName: Hashable, Sendable {
    case dns(String)
    case email(String)
    case uri(String)
    /// 4 or 16 bytes in network order.
    case address([UInt8])
  }

  /// The subject as one line in RFC 2253 order and escaping, for example `CN=upload,O=Example`.
  public let subject: String
  /// The alternative names that we know the kind of, in the certificate's order.
  public let alternativeNames: [AlternativeName]
  /// SHA-256 over the DER encoding: 32 bytes.
  public let fingerprint: [UInt8]
  /// Start of validity, in seconds since 1970-01-01 UTC.
  public let notBefore: Int64
  /// End of validity, in seconds since 1970-01-01 UTC.
  public let notAfter: Int64

  /// Whether `time`, in seconds since 1970-01-01 UTC, lies in the certificate's validity.
  public func isValid(at time: Int64) -> Bool { notBefore <= time && time <= notAfter }

  /// - Parameter certificate: an `X509*`; borrowed.
  init(_ certificate: OpaquePointer) {
    subject = Self.subject(of: certificate)
    alternativeNames = Self.alternativeNames(of: certificate)
    var digest = [UInt8](repeating: 0, count: 32)
    X509_digest(certificate, EVP_sha256(), &digest, nil)
    fingerprint = digest
    notBefore = Self.seconds(X509_get0_notBefore(certificate)) ?? .min
    notAfter = Self.seconds(X509_get0_notAfter(certificate)) ?? .min
  }

  private static func subject(of certificate: OpaquePointer) -> String {
    guard let memory = BIO_new(BIO_s_mem()) else { return "" }
    defer { BIO_free(memory) }
    X509_NAME_print_ex(
      memory, X509_get_subject_name(certificate), 0, UInt(vocative_name_flags()))
    var text = [UInt8](repeating: 0, count: BIO_ctrl_pending(memory))
    let count = BIO_read(memory, &text, Int32(text.count))
    return String(decoding: text.prefix(max(0, Int(count))), as: UTF8.self)
  }

  private static func alternativeNames(of certificate: OpaquePointer) -> [AlternativeName] {
    guard
      let raw = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil)
    else { return [] }
    let names = OpaquePointer(raw)
    defer { GENERAL_NAMES_free(names) }
    return (0..<vocative_general_name_count(names)).compactMap { index in
      guard let name = vocative_general_name(names, index) else { return nil }
      if let address = vocative_general_name_address(name) { return .address(bytes(address)) }
      guard let text = vocative_general_name_text(name) else { return nil }
      let string = String(decoding: bytes(text), as: UTF8.self)
      switch vocative_general_name_type(name) {
      case GEN_DNS: return .dns(string)
      case GEN_EMAIL: return .email(string)
      default: return .uri(string)
      }
    }
  }

  private static func bytes(_ string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
    Array(
      UnsafeBufferPointer(
        start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
  }

  private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    var parts = tm()
    guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
    return Int64(timegm(&parts))
  }
}
