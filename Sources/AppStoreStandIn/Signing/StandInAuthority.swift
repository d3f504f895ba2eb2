/// The stand-in's own certificates: a root that nobody trusts unless told to, an intermediate,
/// and a leaf, shaped like Apple's; and the same once more for app receipts.
package struct StandInAuthority: Sendable {
    package let root: Credential
    let intermediate: Credential
    private let validity: Range<Int64>
    /// In the names of its roots.
    private let number: UInt32

    /// What signs app receipts.
    package let receipts: ReceiptAuthority

    /// What signs genuine transactions.
    package let chain: SigningChain

    private static let tenYearsSeconds: Int64 = 315_360_000

    /// - Parameter now: seconds since 1970; the certificates are valid from ten years before it
    ///   until ten years after it, so that late posts of old purchases can be tried too.
    package init(now: Int64) {
        let years = StandInAuthority.tenYearsSeconds
        self.init(validity: (now - years)..<(now + years))
    }

    /// - Parameter authorityCurve: Apple's is P-384; P-256 is ten times as fast to verify.
    package init(validity: Range<Int64>, authorityCurve: SigningKey.Curve = .p384) {
        // OpenSSL tells roots apart by their names, and several stand-ins may be trusted at once.
        let number = UInt32.random(in: .min ... .max)
        self.init(number: number, validity: validity, authorityCurve: authorityCurve)
    }

    /// Both roots as text, for whoever is to trust the stand-in's transactions and receipts.
    package var rootsPEM: String { root.pem + receipts.root.pem }

    private init(
        number: UInt32, validity: Range<Int64>, authorityCurve: SigningKey.Curve = .p384
    ) {
        func onCurve(_ profile: CertificateProfile) -> CertificateProfile {
            var profile = profile
            profile.curve = authorityCurve
            return profile
        }
        self.validity = validity
        self.number = number
        receipts = ReceiptAuthority(
            name: "Stand-in Receipt Root CA \(number)", validity: validity)
        root = Credential(
            selfSigned: onCurve(.root("Stand-in Root CA \(number)", validity: validity)))
        intermediate = root.issue(onCurve(.intermediate(validity: validity)))
        let leaf = intermediate.issue(.leaf(validity: validity))
        chain = SigningChain(
            certificates: [leaf.der, intermediate.der, root.der], key: leaf.key)
    }

    /// A chain that has exactly one thing wrong with it.
    package func chain(with fault: ChainFault) -> SigningChain {
        switch fault {
        case .wrongLeafMarker:
            return issue(leaf: with(.leaf(validity: validity)) { $0.marker = "1.2.3.4" })
        case .wrongIntermediateMarker:
            return issue(
                intermediate: with(.intermediate(validity: validity)) { $0.marker = "1.2.3.4" })
        case .intermediateIsNoAuthority:
            return issue(
                intermediate: with(.intermediate(validity: validity)) { $0.isAuthority = false })
        case .leafOnOtherCurve:
            return issue(leaf: with(.leaf(validity: validity)) { $0.curve = .p384 })
        case .twoCertificates:
            var chain = chain
            chain.certificates.removeLast()
            return chain
        case .fourCertificates:
            return fourCertificates()
        case .expired:
            let past = (validity.lowerBound - 2)..<(validity.lowerBound - 1)
            return issue(leaf: .leaf(validity: past))
        case .foreignRoot:
            // Of the same name, so that only the signature tells.
            return StandInAuthority(number: number, validity: validity).chain
        }
    }

    /// A chain whose leaf is valid only in `validity`, in seconds since 1970.
    package func chain(leafValidity: Range<Int64>) -> SigningChain {
        issue(leaf: .leaf(validity: leafValidity))
    }

    private func issue(
        intermediate profile: CertificateProfile? = nil, leaf: CertificateProfile? = nil
    ) -> SigningChain {
        let intermediate = profile.map { root.issue($0) } ?? intermediate
        let leaf = intermediate.issue(leaf ?? .leaf(validity: validity))
        return SigningChain(
            certificates: [leaf.der, intermediate.der, root.der], key: leaf.key)
    }

    private func fourCertificates() -> SigningChain {
        var second = CertificateProfile.intermediate(validity: validity)
        second.name = "Stand-in Second Intermediate"
        let lower = intermediate.issue(second)
        let leaf = lower.issue(.leaf(validity: validity))
        return SigningChain(
            certificates: [leaf.der, lower.der, intermediate.der, root.der], key: leaf.key)
    }

    private func with(
        _ profile: CertificateProfile, _ change: (inout CertificateProfile) -> Void
    ) -> CertificateProfile {
        var profile = profile
        change(&profile)
        return profile
    }
}

/// What can be wrong with a chain of certificates.
package enum ChainFault: String, CaseIterable, Sendable {
    case wrongLeafMarker = "wrong_oid"
    case wrongIntermediateMarker = "wrong_intermediate_oid"
    case intermediateIsNoAuthority = "intermediate_is_no_authority"
    case leafOnOtherCurve = "leaf_on_other_curve"
    case twoCertificates = "two_certificates"
    case fourCertificates = "four_certificates"
    case expired = "expired"
    case foreignRoot = "foreign_root"
}
