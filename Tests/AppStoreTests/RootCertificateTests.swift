import AppStore
import AppStoreStandIn
import Base
import Testing

@Suite struct `Root certificates` {
    private let root = authority.root
    private var fingerprint: String { Hex.encode(Digest.sha256(root.der)) }

    @Test func `that aren't Apple's need to be allowed`() throws {
        #expect(
            throws: RootCertificateError.notPinned(file: 0, fingerprint: fingerprint)
        ) { try RootCertificates(files: [root.der], allowPrivate: false) }
        let roots = try RootCertificates(files: [root.der], allowPrivate: true)
        #expect(roots.privateFingerprints == [fingerprint])
    }

    @Test func `may be text, several in a file, with comments between`() throws {
        let second = StandInAuthority(now: noon / 1000)
        let file = "One\n" + root.pem + "\r\nAnother\r\n" + second.root.pem
        let roots = try RootCertificates(files: [Array(file.utf8)], allowPrivate: true)
        #expect(roots.privateFingerprints.count == 2)
        let verifier = SignedTransactionVerifier(roots: roots)
        for chain in [authority.chain, second.chain] {
            #expect(try verifier.verify(chain.sign(payload()), now: noon) == expectedTransaction())
        }
    }

    @Test func `must be certificates`() {
        let pem = root.pem
        for file in ["", "hello", String(pem.dropLast(30)), pem.replacingFirst("M", with: "*")] {
            #expect(throws: RootCertificateError.notACertificate(file: 1)) {
                try RootCertificates(files: [root.der, Array(file.utf8)], allowPrivate: true)
            }
        }
        #expect(throws: RootCertificateError.notACertificate(file: 0)) {
            try RootCertificates(files: [[0xFF, 0xFE]], allowPrivate: true)
        }
    }

    @Test func `must be at least one and at most sixteen`() {
        #expect(throws: RootCertificateError.noFile) {
            try RootCertificates(files: [], allowPrivate: true)
        }
        #expect(throws: RootCertificateError.tooMany) {
            try RootCertificates(
                files: [[UInt8]](repeating: root.der, count: 17), allowPrivate: true)
        }
    }

    @Test(
        .enabled(if: AppleTestData.isPresent, "Apple's public test data isn't here"),
        arguments: ["AppleRootCA-G3.der", "AppleRootCA.der"])
    func `of Apple are known`(name: String) throws {
        let file = try AppleTestData.bytes("certs/" + name)
        let roots = try RootCertificates(files: [file], allowPrivate: false)
        #expect(roots.privateFingerprints == [])
    }
}

extension String {
    fileprivate func replacingFirst(_ old: Character, with new: Character) -> String {
        guard let index = firstIndex(of: old) else { return self }
        return String(self[..<index]) + String(new) + self[self.index(after: index)...]
    }
}
