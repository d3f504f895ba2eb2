/// What a certificate of the stand-in says.
package struct CertificateProfile: Sendable {
    package var name: String
    /// Unless its key is RSA.
    package var curve: SigningKey.Curve
    package var isAuthority: Bool
    /// The type of an extension of Apple's that says what the certificate is for.
    package var marker: String?
    /// Seconds since 1970.
    package var validity: Range<Int64>
    /// Where to ask whether it was revoked.
    package var revocationURL: String?

    package static let intermediateMarker = "1.2.840.113635.100.6.2.1"
    package static let leafMarker = "1.2.840.113635.100.6.11.1"

    /// Like Apple Root CA - G3.
    package static func root(_ name: String, validity: Range<Int64>) -> CertificateProfile {
        CertificateProfile(
            name: name, curve: .p384, isAuthority: true, marker: nil,
            validity: validity)
    }

    /// Like Apple Worldwide Developer Relations G6.
    package static func intermediate(validity: Range<Int64>) -> CertificateProfile {
        CertificateProfile(
            name: "Stand-in Developer Relations", curve: .p384, isAuthority: true,
            marker: intermediateMarker, validity: validity)
    }

    /// Like the one that signs transactions.
    package static func leaf(validity: Range<Int64>) -> CertificateProfile {
        CertificateProfile(
            name: "Stand-in Receipt Signing", curve: .p256, isAuthority: false,
            marker: leafMarker, validity: validity)
    }
}
