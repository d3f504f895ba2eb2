import COpenSSL

/// Digests of bytes.
package enum Digest {
    package static let sha256Bytes = 32

    /// SHA-256 (FIPS 180-4), 32 bytes.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: sha256Bytes) { digest, count in
            // Not `SHA256`, which looks for an implementation by name each time.
            var context = SHA256_CTX()
            unsafe SHA256_Init(&context)
            unsafe SHA256_Update(&context, bytes, bytes.count)
            unsafe SHA256_Final(digest.baseAddress, &context)
            count = sha256Bytes
        }
    }
}
