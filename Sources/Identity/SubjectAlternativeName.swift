import SwiftASN1
import X509

#if canImport(Musl)
  import Musl
#elseif canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The subject alternative name (RFC 5280, section 4.2.1.6) for a host: an IPv4 or IPv6 address,
/// or a DNS name in the preferred syntax of RFC 1034, in lower case.
func subjectAlternativeName(_ host: String) throws(DevelopmentError) -> GeneralName {
  if let address = addressBytes(host) {
    return .ipAddress(ASN1OctetString(contentBytes: address[...]))
  }
  let labels = host.split(separator: ".", omittingEmptySubsequences: false)
  let isName = labels.allSatisfy { label in
    (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
      && label.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
  guard isName, host.utf8.count <= 253 else {
    throw DevelopmentError("a host name of the certificate is neither a DNS name nor an address")
  }
  return .dnsName(host.lowercased())
}

private func addressBytes(_ text: String) -> [UInt8]? {
  for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
    var bytes = [UInt8](repeating: 0, count: count)
    if inet_pton(family, text, &bytes) == 1 { return bytes }
  }
  return nil
}
