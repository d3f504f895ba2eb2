import COpenSSL

/// A certificate with its private RSA key, as the signer of app receipts has them.
package struct ReceiptCredential: Sendable {
    package let der: [UInt8]
    let key: RSASigningKey
    let name: String

    /// Issues a certificate that signs itself.
    init(selfSigned profile: CertificateProfile, _ key: RSASigningKey, _ digest: Digest) {
        self.key = key
        name = profile.name
        der = unsafe makeCertificate(
            profile, key: key.handle, issuer: profile.name, issuerKey: key.handle,
            digest: digest.function)
    }

    typealias Digest = RSASigningKey.Digest

    private init(
        _ profile: CertificateProfile, _ key: RSASigningKey, issuer: ReceiptCredential,
        _ digest: Digest
    ) {
        self.key = key
        name = profile.name
        der = unsafe makeCertificate(
            profile, key: key.handle, issuer: issuer.name, issuerKey: issuer.key.handle,
            digest: digest.function)
    }

    /// Issues a certificate signed by this one, whether it may or not.
    func issue(
        _ profile: CertificateProfile, _ key: RSASigningKey, _ digest: Digest = .sha256
    ) -> ReceiptCredential {
        ReceiptCredential(profile, key, issuer: self, digest)
    }

    package var pem: String { CertificateText.pem(der) }
}
