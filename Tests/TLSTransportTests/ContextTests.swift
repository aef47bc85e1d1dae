import Foundation
import TLSTransport
import Testing

@Suite struct ContextTests {
  let certificates = try! TestCertificates.shared.get()

  private func error(_ chain: String, _ key: String) -> TLSError? {
    Result { () throws(TLSError) in
      try TLSContext(
        .init(identities: [.init(certificateChainFile: chain, privateKeyFile: key)]))
    }.failure
  }

  private func write(_ text: String, _ name: String) throws -> String {
    let path = certificates.path(name)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  @Test func unreadableFiles() {
    let missing = certificates.path("missing.pem")
    let noCertificate = error(missing, certificates.path("ecdsa.key"))
    #expect(noCertificate?.code == .unreadableFile)
    #expect(noCertificate?.description == "cannot read \(missing): No such file or directory")
    let noKey = error(certificates.path("ecdsa.pem"), missing)
    #expect(noKey?.code == .unreadableFile)
    #expect(noKey?.description == "cannot read \(missing): No such file or directory")
    let directory = error(certificates.directory, certificates.path("ecdsa.key"))
    #expect(directory?.code == .unreadableFile)
    #expect(directory?.description == "\(certificates.directory) is not a regular file")
  }

  @Test func filesThatAreNoPEM() throws {
    let text = try write("not a certificate\n", "text.pem")
    let empty = try write("", "empty.pem")
    let key = certificates.path("ecdsa.key")
    let chain = certificates.path("ecdsa.pem")
    for file in [text, empty, key] {
      #expect(error(file, key)?.code == .notPEM)
      #expect(error(file, key)?.description == "\(file) holds no certificate in PEM form")
    }
    for file in [text, empty, chain] {
      #expect(error(chain, file)?.description == "\(file) holds no private key in PEM form")
    }
    let whole = try String(contentsOfFile: chain, encoding: .utf8)
    let damaged = try write(String(whole.dropLast(40)), "damaged.pem")
    #expect(error(damaged, key)?.code == .notPEM)
    let oneGoodOneDamaged = try write(whole + whole.dropLast(40), "half.pem")
    #expect(
      error(oneGoodOneDamaged, key)?.message == "\(oneGoodOneDamaged) holds a damaged certificate")
  }

  @Test func encryptedKey() throws {
    let path = certificates.path("encrypted.key")
    try certificates.openssl(
      ["pkey", "-in", certificates.path("ecdsa.key"), "-aes256", "-passout", "pass:secret"]
        + ["-out", path])
    let found = error(certificates.path("ecdsa.pem"), path)
    #expect(found?.code == .encryptedKey)
    #expect(found?.description == "\(path) is encrypted; decrypt it with: openssl pkey -in \(path)")
  }

  @Test(arguments: [("ecdsa", "client"), ("rsa", "ecdsa"), ("ecdsa", "rsa")])
  func keyOfAnotherCertificate(chain: String, key: String) {
    let found = error(certificates.path("\(chain).pem"), certificates.path("\(key).key"))
    #expect(found?.code == .mismatchedKey)
    #expect(
      found?.description
        == "\(certificates.path("\(key).key")) is not the key of the certificate in "
        + certificates.path("\(chain).pem"))
  }

  @Test func weakKey() throws {
    try certificates.certificate(
      "weak", key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"])
    let found = error(certificates.path("weak.pem"), certificates.path("weak.key"))
    #expect(found?.code == .weakKey)
    #expect(found?.message.contains("1024 bits give 80 bits of security") == true)
  }

  @Test func validityIsAWarning() throws {
    try certificates.certificate("expired", key: TestCertificates.ec, days: -1)
    let expired = try TLSContext(.init(certificates, "expired"))
    #expect(
      expired.warnings == ["the certificate in \(certificates.path("expired.pem")) has expired"])
    let good = try TLSContext(.init(certificates, "ecdsa", "rsa"))
    #expect(good.warnings == [])
    #expect(good.certificates.map(\.subject) == ["CN=ecdsa,O=Vocative", "CN=rsa,O=Vocative"])
    let now = Int64(Date().timeIntervalSince1970)
    #expect(good.certificates.allSatisfy { $0.isValid(at: now) })
    #expect(good.certificates.allSatisfy { !$0.isValid(at: now + 31 * 86400) })
  }

  @Test func keyThatAnybodyMayReadIsAWarning() throws {
    let path = certificates.path("open.key")
    try FileManager.default.copyItem(atPath: certificates.path("ecdsa.key"), toPath: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    let context = try TLSContext(
      .init(identities: [
        .init(certificateChainFile: certificates.path("ecdsa.pem"), privateKeyFile: path)
      ]))
    #expect(
      context.warnings == ["\(path) can be read or written by anybody; run: chmod o= \(path)"])
  }

  @Test func configurationsThatMakeNoSense() {
    func code(_ configuration: TLSContext.Configuration) -> TLSError.Code? {
      Result { () throws(TLSError) in try TLSContext(configuration) }.failure?.code
    }
    #expect(code(.init(identities: [])) == .badConfiguration)
    #expect(code(.init(certificates, "ecdsa", "ecdsa")) == .badConfiguration)
    var configuration = TLSContext.Configuration(certificates, "ecdsa")
    configuration.sessionLifetime = 604_801
    #expect(code(configuration) == .badConfiguration)
    configuration = .init(certificates, "ecdsa")
    configuration.applicationProtocols = [""]
    #expect(code(configuration) == .badConfiguration)
    configuration = .init(certificates, "ecdsa")
    configuration.clientCertificates = .required(authoritiesFile: certificates.path("ecdsa.key"))
    #expect(code(configuration) == .notPEM)
  }
}

@Suite struct TicketKeyRingTests {
  let certificates = try! TestCertificates.shared.get()

  private func path() -> String { certificates.path("ring-\(UUID().uuidString)") }
  private func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  @Test func rotationKeepsTheNewest() throws {
    let path = path()
    var history: [[UInt8]] = []
    for round in 1...5 {
      let ring = try TicketKeyRing.rotate(file: path, keeping: 3)
      let now = try bytes(path)
      #expect(ring.count == min(round, 3))
      #expect(now.count == ring.count * 80)
      history.insert(Array(now[..<80]), at: 0)
      #expect(now == Array(history.prefix(3).joined()))
      #expect(try TicketKeyRing(file: path).count == ring.count)
    }
    #expect(Set(history).count == 5)
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(!FileManager.default.fileExists(atPath: path + ".new"))
  }

  @Test(arguments: [0, 1, 79, 81, 17 * 80])
  func wrongSizes(size: Int) throws {
    let path = path()
    _ = FileManager.default.createFile(
      atPath: path, contents: Data((0..<size).map { UInt8(truncatingIfNeeded: $0 / 7) }),
      attributes: [.posixPermissions: 0o600])
    let error = Result { () throws(TLSError) in try TicketKeyRing(file: path) }.failure
    #expect(error?.code == .badTicketKeys)
    #expect(
      error?.description == "\(path): ticket keys take 1 to 16 times 80 bytes, not \(size)")
  }

  @Test(arguments: [0o640, 0o604, 0o620, 0o666])
  func readableByOthers(mode: Int) throws {
    let path = path()
    try TicketKeyRing.rotate(file: path, keeping: 1)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    let errors = [
      Result { () throws(TLSError) in try TicketKeyRing(file: path) }.failure,
      Result { () throws(TLSError) in try TicketKeyRing.rotate(file: path, keeping: 2) }.failure,
    ]
    for error in errors {
      #expect(error?.code == .insecurePermissions)
      #expect(error?.description.hasSuffix("run: chmod 600 \(path)") == true)
    }
  }

  @Test func repeatedNames() {
    let key = [UInt8](repeating: 7, count: 80)
    let error = Result { () throws(TLSError) in try TicketKeyRing(bytes: key + key) }.failure
    #expect(error?.code == .badTicketKeys)
  }

  @Test func keysAreNotPrinted() throws {
    let ring = try TicketKeyRing(bytes: [UInt8](repeating: 0xAB, count: 80))
    var dumped = ""
    dump(ring, to: &dumped)
    for text in ["\(ring)", String(reflecting: ring), dumped] {
      #expect(!text.contains("171") && !text.lowercased().contains("abab"))
    }
  }
}
