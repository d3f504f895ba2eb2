/// What signs the stand-in's app receipts: an RSA root of its own, an intermediate and a leaf, as
/// Apple's receipts have them beside the elliptic curves of signed transactions.
package struct ReceiptAuthority: Sendable {
    package let root: ReceiptCredential
    let intermediate: ReceiptCredential
    private let validity: Range<Int64>

    /// What signs genuine receipts.
    package let signer: ReceiptSigner

    init(name: String, validity: Range<Int64>, revocationURL: String? = nil) {
        self.init(name: name, validity: validity, rootKey: .root, revocationURL: revocationURL)
    }

    private init(
        name: String, validity: Range<Int64>, rootKey: RSASigningKey, revocationURL: String? = nil
    ) {
        var intermediateProfile = CertificateProfile.intermediate(validity: validity)
        intermediateProfile.revocationURL = revocationURL
        var leafProfile = CertificateProfile.leaf(validity: validity)
        leafProfile.revocationURL = revocationURL
        self.validity = validity
        root = ReceiptCredential(
            selfSigned: .root(name, validity: validity), rootKey, .sha256)
        intermediate = root.issue(intermediateProfile, .intermediate)
        let leaf = intermediate.issue(leafProfile, .leaf)
        signer = ReceiptSigner(
            leaf: leaf.der, others: [intermediate.der, root.der], key: leaf.key)
    }

    /// A signer all of whose certificates are signed with SHA-1, as those before 2023 are.
    package var oldSigner: ReceiptSigner {
        let intermediate = root.issue(.intermediate(validity: validity), .intermediate, .sha1)
        return signer(
            intermediate, leaf: intermediate.issue(.leaf(validity: validity), .leaf, .sha1))
    }

    /// A signer whose leaf is valid only in `validity`, in seconds since 1970.
    package func signer(leafValidity: Range<Int64>) -> ReceiptSigner {
        signer(intermediate, leaf: intermediate.issue(.leaf(validity: leafValidity), .leaf))
    }

    /// A signer that has exactly one thing wrong with it.
    package func signer(with fault: ChainFault) -> ReceiptSigner {
        switch fault {
        case .wrongLeafMarker:
            var profile = CertificateProfile.leaf(validity: validity)
            profile.marker = nil
            return signer(intermediate, leaf: intermediate.issue(profile, .leaf))
        case .wrongIntermediateMarker:
            return signerUnder { $0.marker = "1.2.3.4" }
        case .intermediateIsNoAuthority:
            return signerUnder { $0.isAuthority = false }
        case .leafOnOtherCurve:
            // RSA has no curves, but lengths that aren't accepted.
            return signer(
                intermediate, leaf: intermediate.issue(.leaf(validity: validity), .short))
        case .twoCertificates:
            var signer = signer
            signer.others = [root.der]
            return signer
        case .fourCertificates:
            return fourCertificates()
        case .expired:
            let past = (validity.lowerBound - 2)..<(validity.lowerBound - 1)
            return signer(leafValidity: past)
        case .foreignRoot:
            // Of the same name, so that only the signature tells.
            return ReceiptAuthority(name: root.name, validity: validity, rootKey: .foreign).signer
        }
    }

    /// Signs as Xcode does: with one certificate, which vouches for itself.
    package var xcodeSigner: ReceiptSigner {
        var profile = CertificateProfile.leaf(validity: validity)
        (profile.name, profile.marker) = ("StoreKit", nil)
        let leaf = ReceiptCredential(selfSigned: profile, .foreign, .sha256)
        return ReceiptSigner(leaf: leaf.der, others: [], key: leaf.key)
    }

    private func signer(
        _ intermediate: ReceiptCredential, leaf: ReceiptCredential
    ) -> ReceiptSigner {
        ReceiptSigner(leaf: leaf.der, others: [intermediate.der, root.der], key: leaf.key)
    }

    private func signerUnder(_ change: (inout CertificateProfile) -> Void) -> ReceiptSigner {
        var profile = CertificateProfile.intermediate(validity: validity)
        change(&profile)
        let intermediate = root.issue(profile, .intermediate)
        return signer(intermediate, leaf: intermediate.issue(.leaf(validity: validity), .leaf))
    }

    private func fourCertificates() -> ReceiptSigner {
        var profile = CertificateProfile.intermediate(validity: validity)
        profile.name = "Stand-in Second Intermediate"
        let lower = intermediate.issue(profile, .foreign)
        let leaf = lower.issue(.leaf(validity: validity), .leaf)
        return ReceiptSigner(
            leaf: leaf.der, others: [lower.der, intermediate.der, root.der], key: leaf.key)
    }
}
