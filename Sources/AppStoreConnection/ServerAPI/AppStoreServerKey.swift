import COpenSSL

/// Why a file isn't a key of the App Store Server API.
package enum AppStoreServerKeyError: Error, Hashable {
    /// It isn't an unencrypted private key in PEM.
    case notAKey
    /// The key isn't one on P-256.
    case wrongKind
}

/// A private key on P-256, as App Store Connect gives it out once in a file `….p8`.
@safe package final class AppStoreServerKey: @unchecked Sendable {
    // Sendable: the key isn't changed, and OpenSSL allows any number of threads to sign with it.
    /// Freed with this object.
    private let handle: OpaquePointer

    /// No key is anywhere near as large.
    package static let bytesMax = 16 << 10

    /// Reads PKCS#8 in PEM (RFC 7468, section 10).
    package init(pem: [UInt8]) throws(AppStoreServerKeyError) {
        guard pem.count <= AppStoreServerKey.bytesMax,
            let handle = unsafe pem.withUnsafeBufferPointer({ unsafe readKey($0) })
        else { throw .notAKey }
        guard unsafe EVP_PKEY_get_base_id(handle) == EVP_PKEY_EC, unsafe isOnP256(handle) else {
            unsafe EVP_PKEY_free(handle)
            throw .wrongKind
        }
        unsafe self.handle = handle
    }

    deinit { unsafe EVP_PKEY_free(handle) }

    /// The signature of `bytes` by ES256: r and s, 32 bytes each (RFC 7518, section 3.4).
    func sign(_ bytes: [UInt8]) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else {
            preconditionFailure("OpenSSL has no memory for a signature")
        }
        defer { unsafe EVP_MD_CTX_free(context) }
        // In DER a signature on P-256 has at most 72 bytes.
        var signature = [UInt8](repeating: 0, count: 128)
        var count = signature.count
        let isSigned =
            unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, handle) == 1
            && EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
        precondition(isSigned, "OpenSSL can't sign with a key that it has read")
        return integers(signature[..<count])
    }
}

/// The key in a file, which the caller must free.
private func readKey(_ pem: UnsafeBufferPointer<UInt8>) -> OpaquePointer? {
    guard let file = unsafe BIO_new_mem_buf(pem.baseAddress, Int32(pem.count)) else { return nil }
    defer {
        unsafe BIO_free(file)
        ERR_clear_error()
    }
    // Without this function OpenSSL would ask the terminal for the password of an encrypted key.
    return unsafe PEM_read_bio_PrivateKey(file, nil, { _, _, _, _ in -1 }, nil)
}

/// r and s, 32 bytes each, of the SEQUENCE of two INTEGERs that OpenSSL wrote.
private func integers(_ der: ArraySlice<UInt8>) -> [UInt8] {
    // Below 128 bytes, so that every length is one byte.
    let first = der.startIndex + 4
    let second = first + Int(der[first - 1]) + 2
    return [first..<(second - 2), second..<der.endIndex].flatMap { range in
        let digits = der[range].drop { $0 == 0 }
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }
}

private func isOnP256(_ key: OpaquePointer) -> Bool {
    var name = [CChar](repeating: 0, count: 32)
    var length = 0
    guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return false }
    let bytes = name.prefix(length).map { UInt8(bitPattern: $0) }
    return bytes.elementsEqual("prime256v1".utf8)
}
