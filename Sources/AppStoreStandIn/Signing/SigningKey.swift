import COpenSSL

/// A private key on an elliptic curve, made when the stand-in starts and never written down.
@safe package final class SigningKey: @unchecked Sendable {
    // Sendable: the key isn't changed, and OpenSSL allows any number of threads to sign with it.
    package enum Curve: String, Sendable {
        case p256 = "P-256"
        case p384 = "P-384"

        /// Bytes of r and of s.
        fileprivate var halfBytes: Int { self == .p256 ? 32 : 48 }
    }

    /// Freed with this object.
    let handle: OpaquePointer
    private let curve: Curve

    package init(_ curve: Curve) {
        guard let handle = unsafe ec_key_generate(curve.rawValue) else {
            preconditionFailure("OpenSSL can't make a key")
        }
        unsafe self.handle = handle
        self.curve = curve
    }

    deinit { unsafe EVP_PKEY_free(handle) }

    /// r and s, each as long as the curve's numbers (RFC 7518, section 3.4).
    package func sign(_ bytes: [UInt8]) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else {
            preconditionFailure("OpenSSL has no memory for a signature")
        }
        defer { unsafe EVP_MD_CTX_free(context) }
        let digest = curve == .p256 ? unsafe EVP_sha256() : unsafe EVP_sha384()
        var signature = [UInt8](repeating: 0, count: 256)
        var count = signature.count
        let isSigned =
            unsafe EVP_DigestSignInit(context, nil, digest, nil, handle) == 1
            && EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
        precondition(isSigned, "OpenSSL can't sign")
        return raw(Array(signature.prefix(count)))
    }

    /// The public key as SubjectPublicKeyInfo.
    package var publicKey: [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_PUBKEY(handle, &bytes)
        // Allocated by OpenSSL, freed here.
        defer { unsafe CRYPTO_free(bytes, #file, #line) }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(max(0, count))))
    }

    /// The numbers of a DER signature that OpenSSL has just made, side by side.
    private func raw(_ signature: [UInt8]) -> [UInt8] {
        var rest = signature[...]
        rest = rest.dropFirst(2)
        var numbers: [UInt8] = []
        for _ in 0..<2 {
            let length = Int(rest[rest.startIndex + 1])
            let number = rest.dropFirst(2).prefix(length).drop { $0 == 0 }
            numbers += [UInt8](repeating: 0, count: curve.halfBytes - number.count) + number
            rest = rest.dropFirst(2 + length)
        }
        return numbers
    }
}
