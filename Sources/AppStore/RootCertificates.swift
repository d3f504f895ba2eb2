import Base
import COpenSSL

/// Why a file with root certificates isn't taken.
package enum RootCertificateError: Error, Hashable {
    case noFile
    case notACertificate(file: Int)
    /// None of Apple's, and private ones aren't allowed.
    case notPinned(file: Int, fingerprint: String)
    case tooMany
}

/// The roots that signed data is trusted under: Apple's, known by their fingerprints, and others
/// only if that was asked for.
@safe package final class RootCertificates: @unchecked Sendable {
    // Sendable: the store isn't changed after `init`, and OpenSSL locks it for look-ups.
    /// Freed with this object.
    let store: OpaquePointer
    /// The fingerprints of roots that aren't Apple's, so that the operator can be warned.
    package let privateFingerprints: [String]
    /// Whether any of them can vouch for an app receipt, all of which are signed with RSA.
    package let hasReceiptRoot: Bool

    package static let certificatesMax = 16

    /// SHA-256 of Apple's roots (apple.com/certificateauthority).
    private static let pinned: Set<String> = [
        // Apple Root CA - G3
        "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179",
        // Apple Root CA
        "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024",
    ]

    /// Reads files of one DER certificate, or of any number of PEM ones, each.
    ///
    /// - Throws: `RootCertificateError`, where `file` is an index into `files`.
    package init(files: [[UInt8]], allowPrivate: Bool) throws(RootCertificateError) {
        guard !files.isEmpty else { throw .noFile }
        var roots: [Certificate] = []
        var privateFingerprints: [String] = []
        for (index, file) in files.enumerated() {
            guard let found = RootCertificates.read(file) else {
                throw .notACertificate(file: index)
            }
            for root in found {
                let fingerprint = Hex.encode(Digest.sha256(root.der))
                if !RootCertificates.pinned.contains(fingerprint) {
                    guard allowPrivate else {
                        throw .notPinned(file: index, fingerprint: fingerprint)
                    }
                    privateFingerprints.append(fingerprint)
                }
                roots.append(root)
            }
        }
        guard roots.count <= RootCertificates.certificatesMax else { throw .tooMany }
        guard let store = unsafe X509_STORE_new() else {
            preconditionFailure("OpenSSL has no memory for a certificate store")
        }
        for root in roots { unsafe X509_STORE_add_cert(store, root.handle) }
        unsafe self.store = store
        self.privateFingerprints = privateFingerprints
        hasReceiptRoot = roots.contains(where: \.isRSA)
    }

    deinit { unsafe X509_STORE_free(store) }

    private static func read(_ file: [UInt8]) -> [Certificate]? {
        if let root = Certificate(der: file) { return [root] }
        guard let text = String(validating: file, as: UTF8.self) else { return nil }
        var roots: [Certificate] = []
        var base64: String?
        for line in text.split(whereSeparator: \.isNewline) {
            switch (line.trimmedOfSpace, base64) {
            case ("-----BEGIN CERTIFICATE-----", nil): base64 = ""
            case ("-----END CERTIFICATE-----", let content?):
                guard let der = Base64.decode(content), let root = Certificate(der: der) else {
                    return nil
                }
                roots.append(root)
                base64 = nil
            case (let part, let content?): base64 = content + part
            // What stands between certificates is a comment (RFC 7468, section 2).
            case (_, nil): break
            }
        }
        return roots.isEmpty || base64 != nil ? nil : roots
    }
}

extension Substring {
    fileprivate var trimmedOfSpace: Substring {
        var text = self
        while text.last?.isWhitespace == true { text.removeLast() }
        return text.drop { $0.isWhitespace }
    }
}
