import COpenSSL

/// A question to an authority whether it has revoked a certificate (OCSP, RFC 6960).
package struct RevocationQuestion: Sendable {
    /// The body to send with `mediaType`.
    package let body: [UInt8]
    /// Where the certificate says that its authority answers.
    package let url: String?
    private let certificate: Certificate
    private let issuer: Certificate

    package static let mediaType = "application/ocsp-request"
    /// An answer has 1 to 3 kB.
    package static let answerBytesMax = 64 << 10
    /// How far the authority's clock may be from ours.
    private static let skewSeconds = 300

    init?(_ certificate: Certificate, issuer: Certificate) {
        guard let request = unsafe OCSP_REQUEST_new() else { return nil }
        defer {
            unsafe OCSP_REQUEST_free(request)
            ERR_clear_error()
        }
        guard let id = unsafe identifier(certificate, issuer) else { return nil }
        // The request owns the id once it's added.
        guard unsafe OCSP_request_add0_id(request, id) != nil else {
            unsafe OCSP_CERTID_free(id)
            return nil
        }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_OCSP_REQUEST(request, &bytes)
        // Allocated by OpenSSL, freed here.
        defer { unsafe CRYPTO_free(bytes, #file, #line) }
        guard count > 0, let bytes = unsafe bytes else { return nil }
        body = unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
        url = certificate.revocationURL
        self.certificate = certificate
        self.issuer = issuer
    }

    /// Whether there can be an answer: an authority may forget a certificate that has expired, and
    /// nothing can be verified any more that an expired issuer signs.
    ///
    /// - Parameter now: seconds since 1970.
    package func isAnswerable(at now: Int64) -> Bool {
        certificate.validity?.contains(now) == true && issuer.validity?.contains(now) == true
    }

    /// What `answer` says, if it is one: signed by the issuer or whom it has charged with that,
    /// under one of `roots`, and current by the system's clock.
    package func status(in answer: [UInt8], roots: RootCertificates) -> RevocationStatus {
        guard answer.count <= RevocationQuestion.answerBytesMax else { return .unknown }
        defer { ERR_clear_error() }
        guard let response = unsafe verifiedResponse(answer, roots) else { return .unknown }
        defer { unsafe OCSP_BASICRESP_free(response) }
        switch unsafe status(in: response) {
        case V_OCSP_CERTSTATUS_GOOD: return .good
        case V_OCSP_CERTSTATUS_REVOKED: return .revoked
        default: return .unknown
        }
    }

    /// The caller frees it.
    private func verifiedResponse(
        _ answer: [UInt8], _ roots: RootCertificates
    ) -> OpaquePointer? {
        let response = unsafe answer.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var position = buffer.baseAddress
            return unsafe d2i_OCSP_RESPONSE(nil, &position, buffer.count)
        }
        guard let response = unsafe response else { return nil }
        defer { unsafe OCSP_RESPONSE_free(response) }
        guard unsafe OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL,
            let basic = unsafe OCSP_response_get1_basic(response)
        else { return nil }
        guard let known = unsafe x509_stack_new(),
            unsafe x509_stack_push(known, issuer.handle) > 0
        else { preconditionFailure("OpenSSL has no memory for a certificate") }
        defer { unsafe x509_stack_free(known) }
        guard unsafe OCSP_basic_verify(basic, known, roots.store, 0) == 1 else {
            unsafe OCSP_BASICRESP_free(basic)
            return nil
        }
        return unsafe basic
    }

    /// OpenSSL's number of the status, or -1 if the response isn't about this certificate or isn't
    /// of now.
    private func status(in response: OpaquePointer) -> Int32 {
        guard let id = unsafe identifier(certificate, issuer) else { return -1 }
        defer { unsafe OCSP_CERTID_free(id) }
        var status: Int32 = -1
        var madeAt: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var nextAt: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let isFound = unsafe OCSP_resp_find_status(
            response, id, &status, nil, nil, &madeAt, &nextAt)
        guard isFound == 1,
            unsafe OCSP_check_validity(madeAt, nextAt, RevocationQuestion.skewSeconds, -1) == 1
        else { return -1 }
        return status
    }
}

/// How OCSP names a certificate; the caller frees it. SHA-1 is what responders expect, and only
/// finds the certificate: nothing is trusted because of it.
private func identifier(_ certificate: Certificate, _ issuer: Certificate) -> OpaquePointer? {
    unsafe OCSP_cert_to_id(EVP_sha1(), certificate.handle, issuer.handle)
}

extension CertificatePath {
    /// Of the two certificates that can be revoked; a root can't.
    package var revocationQuestions: [RevocationQuestion] {
        [
            RevocationQuestion(leaf, issuer: intermediate),
            RevocationQuestion(intermediate, issuer: root),
        ].compactMap(\.self)
    }

    /// What the path is known by.
    package var fingerprint: [UInt8] { Digest.sha256(leaf.der + intermediate.der) }
}
