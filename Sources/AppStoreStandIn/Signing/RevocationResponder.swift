import Base
import COpenSSL
import Glibc

/// Answers whether the stand-in's certificates were revoked (OCSP, RFC 6960), as each of their
/// issuers.
package final class RevocationResponder: Sendable {
    package enum Answer: String, CaseIterable, Sendable {
        case good
        case revoked
        case unknown
    }

    /// One certificate that's known, and who answers for it.
    private struct Entry: Sendable {
        let certificate: [UInt8]
        let issuer: [UInt8]
        let key: IssuerKey
    }

    private enum IssuerKey: Sendable {
        case curve(SigningKey)
        case rsa(RSASigningKey)

        /// Lives as long as the key.
        var handle: OpaquePointer {
            switch self {
            case .curve(let key): unsafe key.handle
            case .rsa(let key): unsafe key.handle
            }
        }
    }

    private let entries: [Entry]
    private let answer = Lock(Answer.good)

    private static let validSeconds = 3600

    package init(_ authority: StandInAuthority) {
        let (root, intermediate) = (authority.root, authority.intermediate)
        let receipts = authority.receipts
        func entry(_ certificate: [UInt8], _ issuer: Credential) -> Entry {
            Entry(certificate: certificate, issuer: issuer.der, key: .curve(issuer.key))
        }
        func entry(_ certificate: [UInt8], _ issuer: ReceiptCredential) -> Entry {
            Entry(certificate: certificate, issuer: issuer.der, key: .rsa(issuer.key))
        }
        entries = [
            entry(authority.chain.certificates[0], intermediate), entry(intermediate.der, root),
            entry(receipts.signer.leaf, receipts.intermediate),
            entry(receipts.intermediate.der, receipts.root),
        ]
    }

    /// What is said of every certificate from now on.
    package func set(_ answer: Answer) { self.answer.withLock { $0 = answer } }

    /// The response to a request about one certificate; nil if it isn't one that's known.
    package func respond(to request: [UInt8]) -> [UInt8]? {
        let request = unsafe request.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var position = buffer.baseAddress
            return unsafe d2i_OCSP_REQUEST(nil, &position, buffer.count)
        }
        guard let request = unsafe request else {
            ERR_clear_error()
            return nil
        }
        defer { unsafe OCSP_REQUEST_free(request) }
        guard unsafe OCSP_request_onereq_count(request) == 1,
            let one = unsafe OCSP_request_onereq_get0(request, 0),
            let id = unsafe OCSP_onereq_get0_id(one)
        else { return nil }
        for entry in entries {
            if let response = unsafe respond(to: id, as: entry) { return response }
        }
        return nil
    }

    private func respond(to id: OpaquePointer, as entry: Entry) -> [UInt8]? {
        guard let certificate = unsafe read(entry.certificate),
            let issuer = unsafe read(entry.issuer)
        else { return nil }
        defer {
            unsafe X509_free(certificate)
            unsafe X509_free(issuer)
        }
        guard let own = unsafe OCSP_cert_to_id(EVP_sha1(), certificate, issuer) else { return nil }
        defer { unsafe OCSP_CERTID_free(own) }
        guard unsafe OCSP_id_cmp(own, id) == 0, let response = unsafe OCSP_BASICRESP_new() else {
            return nil
        }
        defer { unsafe OCSP_BASICRESP_free(response) }
        unsafe addStatus(of: id, to: response)
        defer { extendLifetime(entry) }
        guard
            unsafe OCSP_basic_sign(response, issuer, entry.key.handle, EVP_sha256(), nil, 0) == 1,
            let whole = unsafe OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, response)
        else { return nil }
        defer { unsafe OCSP_RESPONSE_free(whole) }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_OCSP_RESPONSE(whole, &bytes)
        // Allocated by OpenSSL, freed here.
        defer { unsafe CRYPTO_free(bytes, #file, #line) }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(max(0, count))))
    }

    private func addStatus(of id: OpaquePointer, to response: OpaquePointer) {
        let now = time(nil)
        let madeAt = unsafe ASN1_TIME_set(nil, now)
        let nextAt = unsafe ASN1_TIME_set(nil, now + RevocationResponder.validSeconds)
        defer {
            unsafe ASN1_STRING_free(madeAt)
            unsafe ASN1_STRING_free(nextAt)
        }
        let status: Int32 =
            switch answer.withLock({ $0 }) {
            case .good: V_OCSP_CERTSTATUS_GOOD
            case .revoked: V_OCSP_CERTSTATUS_REVOKED
            case .unknown: V_OCSP_CERTSTATUS_UNKNOWN
            }
        unsafe OCSP_basic_add1_status(response, id, status, 0, madeAt, madeAt, nextAt)
    }

    /// The caller frees it.
    private func read(_ der: [UInt8]) -> OpaquePointer? {
        unsafe der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var position = buffer.baseAddress
            return unsafe d2i_X509(nil, &position, buffer.count)
        }
    }
}
