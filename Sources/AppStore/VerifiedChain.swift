import COpenSSL
import Glibc

/// A chain of certificates of the App Store that ends at a trusted root.
struct VerifiedChain: Sendable {
    /// The leaf's.
    let key: VerifiedKey
    /// When all of its certificates were valid: seconds since 1970.
    let validity: Range<Int64>

    private static let leafMarker = "1.2.840.113635.100.6.11.1"
    private static let intermediateMarker = "1.2.840.113635.100.6.2.1"

    /// Verifies the first two of `certificates`, leaf and intermediate. The third, the root that
    /// the sender names, is worth nothing: only `roots` count.
    ///
    /// Takes about 1.7 ms.
    init(
        _ certificates: [[UInt8]], roots: RootCertificates, at instant: Int64
    ) throws(SignedDataError) {
        guard certificates.count == CompactJWS.chainLength else { throw .wrongChainLength }
        guard let leaf = Certificate(der: certificates[0]),
            let intermediate = Certificate(der: certificates[1])
        else { throw .malformedCertificate }
        let root = try verifyPath(leaf, intermediate, roots, at: instant)
        guard leaf.hasExtension(VerifiedChain.leafMarker) else { throw .missingLeafMarker }
        guard intermediate.hasExtension(VerifiedChain.intermediateMarker) else {
            throw .missingIntermediateMarker
        }
        guard intermediate.isAuthority else { throw .notAnAuthority }
        guard let key = VerifiedKey(leaf) else { throw .unsupportedAlgorithm }
        guard let a = leaf.validity, let b = intermediate.validity, let c = root.validity else {
            throw .malformedCertificate
        }
        self.key = key
        validity = a.clamped(to: b).clamped(to: c)
    }
}

/// Builds and verifies the path from `leaf` through `intermediate` to one of `roots` (RFC 5280,
/// section 6), and returns that root.
private func verifyPath(
    _ leaf: Certificate, _ intermediate: Certificate, _ roots: RootCertificates, at instant: Int64
) throws(SignedDataError) -> Certificate {
    guard let context = unsafe X509_STORE_CTX_new(), let untrusted = unsafe x509_stack_new(),
        unsafe x509_stack_push(untrusted, intermediate.handle) > 0
    else { preconditionFailure("OpenSSL has no memory for a chain") }
    defer {
        // The stack doesn't own what is in it.
        unsafe X509_STORE_CTX_free(context)
        unsafe x509_stack_free(untrusted)
        ERR_clear_error()
    }
    guard unsafe X509_STORE_CTX_init(context, roots.store, leaf.handle, untrusted) == 1 else {
        throw .untrustedChain
    }
    unsafe X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(context), time_t(instant))
    guard unsafe X509_verify_cert(context) == 1 else {
        throw SignedDataError(path: unsafe X509_STORE_CTX_get_error(context))
    }
    // Longer or shorter paths can't be: a leaf that is itself a root, say.
    guard let path = unsafe X509_STORE_CTX_get0_chain(context),
        unsafe x509_stack_count(path) == CompactJWS.chainLength,
        let root = unsafe x509_stack_at(path, 2).flatMap({ unsafe Certificate(copy: $0) })
    else { throw .wrongChainLength }
    return root
}

extension SignedDataError {
    fileprivate init(path error: Int32) {
        switch error {
        case X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED:
            self = .certificateNotValidThen
        case X509_V_ERR_INVALID_CA: self = .notAnAuthority
        default: self = .untrustedChain
        }
    }
}
