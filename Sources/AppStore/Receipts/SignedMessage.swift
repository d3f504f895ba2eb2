import COpenSSL

/// A message in PKCS #7 (RFC 2315; today CMS, RFC 5652) whose one signature is right, by a
/// certificate that came with it. Whether that certificate is anybody's is not yet known.
struct SignedMessage {
    let content: [UInt8]
    let signer: Certificate
    /// Whatever else came with it.
    let others: [Certificate]

    /// Genuine receipts bring three.
    static let certificatesMax = 8
    /// Containers have some 300 elements, and content in pieces of 1000 bytes has 2000 more.
    static let elementsMax = 16_384
    fileprivate static let keyBits: ClosedRange<Int32> = 2048...8192

    /// Takes about 90 µs and 2 µs for each kB.
    init(_ bytes: [UInt8]) throws(AppReceiptError) {
        do throws(DERError) {
            try DERReader.check(bytes, elementsMax: SignedMessage.elementsMax)
        } catch {
            throw .malformed
        }
        // From here on OpenSSL reads what is known to be well-formed.
        guard let message = unsafe parse(bytes) else { throw .malformed }
        defer {
            unsafe CMS_ContentInfo_free(message)
            ERR_clear_error()
        }
        let certificates = try unsafe certificates(of: message)
        let signature = try unsafe onlySignature(of: message)
        let place = certificates.firstIndex {
            unsafe CMS_SignerInfo_cert_cmp(signature, $0.handle) == 0
        }
        guard let place else { throw .wrongSigner }
        signer = certificates[place]
        others = certificates.indices.filter { $0 != place }.map { certificates[$0] }
        try unsafe checkAlgorithms(signature, signer)
        guard let content = try unsafe verifiedContent(of: message) else { throw .badSignature }
        self.content = content
    }
}

/// RSA of 2048 bits or more, and one of the two digests that the App Store has signed with.
private func checkAlgorithms(
    _ signature: OpaquePointer, _ signer: Certificate
) throws(AppReceiptError) {
    guard let key = unsafe X509_get0_pubkey(signer.handle),
        unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA,
        unsafe SignedMessage.keyBits.contains(EVP_PKEY_get_bits(key))
    else { throw .unsupportedAlgorithm }
    var digest: UnsafeMutablePointer<X509_ALGOR>?
    unsafe CMS_SignerInfo_get0_algs(signature, nil, nil, &digest, nil)
    guard let digest = unsafe digest else { throw .unsupportedAlgorithm }
    switch unsafe OBJ_obj2nid(digest.pointee.algorithm) {
    case NID_sha1, NID_sha256: break
    default: throw .unsupportedAlgorithm
    }
}

/// The message that `bytes` hold, which the caller frees; nil unless it's signed data around plain
/// data.
private func parse(_ bytes: [UInt8]) -> OpaquePointer? {
    let message = unsafe bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
        var position = buffer.baseAddress
        guard let start = unsafe position else { return nil }
        guard let message = unsafe d2i_CMS_ContentInfo(nil, &position, buffer.count) else {
            return nil
        }
        guard unsafe position == start + buffer.count else {
            unsafe CMS_ContentInfo_free(message)
            return nil
        }
        return unsafe message
    }
    guard let message = unsafe message else {
        ERR_clear_error()
        return nil
    }
    guard unsafe OBJ_obj2nid(CMS_get0_type(message)) == NID_pkcs7_signed,
        unsafe OBJ_obj2nid(CMS_get0_eContentType(message)) == NID_pkcs7_data,
        let place = unsafe CMS_get0_content(message), unsafe place.pointee != nil
    else {
        unsafe CMS_ContentInfo_free(message)
        ERR_clear_error()
        return nil
    }
    return unsafe message
}

private func certificates(of message: OpaquePointer) throws(AppReceiptError) -> [Certificate] {
    guard let stack = unsafe CMS_get1_certs(message) else { throw .wrongSigner }
    defer { unsafe x509_stack_free_all(stack) }
    let count = unsafe x509_stack_count(stack)
    guard count <= SignedMessage.certificatesMax else { throw .malformed }
    var certificates: [Certificate] = []
    for index in 0..<max(0, count) {
        guard let handle = unsafe x509_stack_at(stack, index),
            let certificate = unsafe Certificate(sharing: handle)
        else { throw .malformed }
        certificates.append(certificate)
    }
    return certificates
}

/// Owned by the message.
private func onlySignature(of message: OpaquePointer) throws(AppReceiptError) -> OpaquePointer {
    guard let stack = unsafe CMS_get0_SignerInfos(message),
        unsafe cms_signers_count(stack) == 1, let signature = unsafe cms_signers_at(stack, 0)
    else { throw .wrongSigner }
    return unsafe signature
}

/// The content, if it's what the signer signed; with or without signed attributes, of which genuine
/// receipts have none.
private func verifiedContent(of message: OpaquePointer) throws(AppReceiptError) -> [UInt8]? {
    guard let output = unsafe BIO_new(BIO_s_mem()) else {
        preconditionFailure("OpenSSL has no memory for a receipt")
    }
    defer { unsafe BIO_free(output) }
    // The signer's own certificate is judged later, by our rules and at the receipt's time.
    let flags = UInt32(CMS_NO_SIGNER_CERT_VERIFY | CMS_BINARY)
    guard unsafe CMS_verify(message, nil, nil, nil, output, flags) == 1 else { return nil }
    var data: UnsafeMutablePointer<CChar>?
    let count = unsafe memory_bio_data(output, &data)
    guard count > 0, let data = unsafe data else { throw .malformedPayload(field: "") }
    return unsafe Array(UnsafeRawBufferPointer(start: data, count: Int(count)))
}
