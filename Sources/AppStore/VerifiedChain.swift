/// A chain of certificates of the App Store that ends at a trusted root, for ES256.
struct VerifiedChain: Sendable {
    /// The leaf's.
    let key: VerifiedKey
    let path: CertificatePath
    /// When all of its certificates were valid: seconds since 1970.
    var validity: Range<Int64> { path.validity }

    /// Verifies the first two of `certificates`, leaf and intermediate. The third, the root that
    /// the sender names, is worth nothing: only `roots` count.
    ///
    /// Takes about 1.7 ms.
    init(
        _ certificates: [[UInt8]], roots: RootCertificates, at instant: Int64
    ) throws(SignedDataError) {
        guard certificates.count == CertificatePath.length else { throw .wrongChainLength }
        guard let leaf = Certificate(der: certificates[0]),
            let intermediate = Certificate(der: certificates[1])
        else { throw .malformedCertificate }
        do throws(CertificatePath.Failure) {
            path = try CertificatePath(
                leaf: leaf, others: [intermediate], roots: roots, at: instant)
        } catch {
            throw SignedDataError(error)
        }
        guard let key = VerifiedKey(leaf) else { throw .unsupportedAlgorithm }
        self.key = key
    }
}

extension SignedDataError {
    fileprivate init(_ failure: CertificatePath.Failure) {
        switch failure {
        case .wrongLength: self = .wrongChainLength
        case .malformed: self = .malformedCertificate
        case .notValidThen: self = .certificateNotValidThen
        case .untrusted: self = .untrustedChain
        case .missingLeafMarker: self = .missingLeafMarker
        case .missingIntermediateMarker: self = .missingIntermediateMarker
        case .notAnAuthority: self = .notAnAuthority
        }
    }
}
