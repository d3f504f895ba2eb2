import COpenSSL

/// A private RSA key, made when first needed and never written down.
@safe package final class RSASigningKey: @unchecked Sendable {
    // Sendable: the key isn't changed, and OpenSSL allows any number of threads to sign with it.
    package enum Digest: String, Sendable {
        /// As Apple signed receipts until 2023.
        case sha1
        case sha256

        var function: OpaquePointer? { self == .sha1 ? unsafe EVP_sha1() : unsafe EVP_sha256() }
    }

    /// Freed with this object.
    let handle: OpaquePointer

    package init(bits: UInt32 = 2048) {
        guard let handle = unsafe rsa_key_generate(bits) else {
            preconditionFailure("OpenSSL can't make a key")
        }
        unsafe self.handle = handle
    }

    deinit { unsafe EVP_PKEY_free(handle) }

    /// Each takes a tenth of a second to make, so that all authorities of a process share them;
    /// their certificates tell them apart.
    static let root = RSASigningKey()
    static let intermediate = RSASigningKey()
    static let leaf = RSASigningKey()
    static let foreign = RSASigningKey()
    /// Shorter than any that is trusted.
    static let short = RSASigningKey(bits: 1024)

    /// A signature after PKCS #1, version 1.5 (RFC 8017, section 8.2).
    func sign(_ bytes: [UInt8], _ digest: Digest) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else {
            preconditionFailure("OpenSSL has no memory for a signature")
        }
        defer { unsafe EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: Int(unsafe EVP_PKEY_get_size(handle)))
        var count = signature.count
        let isSigned =
            unsafe EVP_DigestSignInit(context, nil, digest.function, nil, handle) == 1
            && EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
        precondition(isSigned, "OpenSSL can't sign")
        return Array(signature.prefix(count))
    }
}
