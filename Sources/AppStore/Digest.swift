import COpenSSL

/// Digests of bytes.
package enum Digest {
    package static let sha256Bytes = 32

    /// SHA-256 (FIPS 180-4), 32 bytes.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: sha256Bytes) { digest, count in
            unsafe SHA256(bytes, bytes.count, digest.baseAddress)
            count = sha256Bytes
        }
    }
}
