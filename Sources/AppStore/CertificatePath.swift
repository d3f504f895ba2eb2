import COpenSSL
import Glibc

/// Three certificates of the App Store that were verified: what signs, its issuer, and a root that
/// is trusted.
package struct CertificatePath: Sendable {
    let leaf: Certificate
    let intermediate: Certificate
    let root: Certificate
    /// When all of them were valid: seconds since 1970.
    let validity: Range<Int64>

    static let length = 3
    private static let leafMarker = "1.2.840.113635.100.6.11.1"
    private static let intermediateMarker = "1.2.840.113635.100.6.2.1"

    /// Why there's no such path.
    enum Failure: Error, Hashable {
        case wrongLength
        case malformed
        case notValidThen
        case untrusted
        case missingLeafMarker
        case missingIntermediateMarker
        case notAnAuthority
    }

    /// What signatures in a path may be like.
    enum Strength {
        /// What OpenSSL takes where it isn't told.
        case usual
        /// SHA-1 too, which Apple's authority signed with until 2023, however strict the system's
        /// settings are. The root is pinned, so that nobody else's SHA-1 is ever looked at.
        case withSHA1
    }

    /// Builds and verifies the path from `leaf` to one of `roots` (RFC 5280, section 6), as it was
    /// at `instant`, with issuers out of `others`. Roots among those are worth nothing.
    init(
        leaf: Certificate, others: [Certificate], roots: RootCertificates, at instant: Int64,
        _ strength: Strength = .usual
    ) throws(Failure) {
        (intermediate, root) = try verify(leaf, others, roots, instant, strength)
        guard leaf.hasExtension(CertificatePath.leafMarker), leaf.maySign else {
            throw .missingLeafMarker
        }
        guard intermediate.hasExtension(CertificatePath.intermediateMarker) else {
            throw .missingIntermediateMarker
        }
        guard intermediate.isAuthority else { throw .notAnAuthority }
        guard let a = leaf.validity, let b = intermediate.validity, let c = root.validity else {
            throw .malformed
        }
        self.leaf = leaf
        validity = a.clamped(to: b).clamped(to: c)
    }
}

private func verify(
    _ leaf: Certificate, _ others: [Certificate], _ roots: RootCertificates, _ instant: Int64,
    _ strength: CertificatePath.Strength
) throws(CertificatePath.Failure) -> (intermediate: Certificate, root: Certificate) {
    guard let context = unsafe X509_STORE_CTX_new(), let untrusted = unsafe x509_stack_new()
    else { preconditionFailure("OpenSSL has no memory for a chain") }
    defer {
        // The stack doesn't own what is in it.
        unsafe X509_STORE_CTX_free(context)
        unsafe x509_stack_free(untrusted)
        ERR_clear_error()
    }
    for other in others {
        guard unsafe x509_stack_push(untrusted, other.handle) > 0 else { throw .malformed }
    }
    guard unsafe X509_STORE_CTX_init(context, roots.store, leaf.handle, untrusted) == 1 else {
        throw .untrusted
    }
    guard let parameters = unsafe X509_STORE_CTX_get0_param(context) else { throw .untrusted }
    unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(instant))
    if strength == .withSHA1 { unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 0) }
    guard unsafe X509_verify_cert(context) == 1 else {
        throw CertificatePath.Failure(unsafe X509_STORE_CTX_get_error(context))
    }
    // Longer or shorter paths can't be: a leaf that is itself a root, say.
    guard let path = unsafe X509_STORE_CTX_get0_chain(context),
        unsafe x509_stack_count(path) == CertificatePath.length,
        let intermediate = unsafe x509_stack_at(path, 1).flatMap({
            unsafe Certificate(sharing: $0)
        }),
        let root = unsafe x509_stack_at(path, 2).flatMap({ unsafe Certificate(sharing: $0) })
    else { throw .wrongLength }
    return (intermediate, root)
}

extension CertificatePath.Failure {
    fileprivate init(_ error: Int32) {
        switch error {
        case X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED: self = .notValidThen
        case X509_V_ERR_INVALID_CA: self = .notAnAuthority
        default: self = .untrusted
        }
    }
}
