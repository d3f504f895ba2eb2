import Base
import COpenSSL

/// The public key of a certificate whose chain was verified.
@safe final class VerifiedKey: @unchecked Sendable {
    // Sendable: the key isn't changed, and OpenSSL allows any number of threads to verify with it.
    /// Freed with this object.
    private let handle: OpaquePointer
    private let use = Lock(Use())

    private struct Use {
        var count = 0
        var precomputed: PrecomputedKey?
    }

    /// The use at which tables are made: a key that's hardly used never repays them.
    static let usesBeforeTables = 16

    /// Nil unless the certificate's key lies on P-256.
    init?(_ certificate: Certificate) {
        guard let handle = unsafe X509_get_pubkey(certificate.handle) else {
            ERR_clear_error()
            return nil
        }
        guard unsafe EVP_PKEY_get_base_id(handle) == EVP_PKEY_EC, unsafe isOnP256(handle) else {
            unsafe EVP_PKEY_free(handle)
            return nil
        }
        unsafe self.handle = handle
    }

    deinit { unsafe EVP_PKEY_free(handle) }

    /// Whether `signature`, r and s of 32 bytes each, is one of `bytes` by this key (ES256).
    func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        precomputed()?.verifies(signature, ofDigest: Digest.sha256(bytes))
            ?? verifiesWithoutTables(signature, of: bytes)
    }

    /// The tables, if the key has been used often enough. One caller makes them, while others go on
    /// without.
    private func precomputed() -> PrecomputedKey? {
        let (known, isDue) = use.withLock { use in
            use.count += 1
            return (use.precomputed, use.count == VerifiedKey.usesBeforeTables)
        }
        guard known == nil, isDue else { return known }
        let made = unsafe PrecomputedKey(handle)
        use.withLock { $0.precomputed = made }
        return made
    }

    /// The same, by OpenSSL's own verification.
    func verifiesWithoutTables(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        guard let signature = derSignature(signature), let context = unsafe EVP_MD_CTX_new() else {
            return false
        }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, handle) == 1 else {
            ERR_clear_error()
            return false
        }
        let result = unsafe EVP_DigestVerify(
            context, signature, signature.count, bytes, bytes.count)
        if result != 1 { ERR_clear_error() }
        return result == 1
    }
}

private func isOnP256(_ key: OpaquePointer) -> Bool {
    var name = [CChar](repeating: 0, count: 32)
    var length = 0
    guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else {
        ERR_clear_error()
        return false
    }
    let bytes = name.prefix(length).map { UInt8(bitPattern: $0) }
    return bytes.elementsEqual("prime256v1".utf8)
}

/// The SEQUENCE of two INTEGERs that OpenSSL reads (RFC 3279, section 2.2.3), from r and s of
/// equal length.
private func derSignature(_ signature: [UInt8]) -> [UInt8]? {
    let half = signature.count / 2
    guard half > 0, half <= 32, signature.count == 2 * half else { return nil }
    let content = derInteger(signature[..<half]) + derInteger(signature[half...])
    return [0x30, UInt8(content.count)] + content
}

private func derInteger(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var digits = Array(bytes.drop { $0 == 0 })
    // A leading one bit would make it negative, and zero still has a digit.
    if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
    return [0x02, UInt8(digits.count)] + digits
}
