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

    /// Whether `signature` is what `sign` may have returned for `bytes`.
    func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        let half = curve.halfBytes
        guard signature.count == 2 * half, let context = unsafe EVP_MD_CTX_new() else {
            return false
        }
        defer {
            unsafe EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        let encoded = der(signature[..<half]) + der(signature[half...])
        let sequence = [0x30, UInt8(encoded.count)] + encoded
        let digest = curve == .p256 ? unsafe EVP_sha256() : unsafe EVP_sha384()
        return unsafe EVP_DigestVerifyInit(context, nil, digest, nil, handle) == 1
            && EVP_DigestVerify(context, sequence, sequence.count, bytes, bytes.count) == 1
    }

    private func der(_ number: ArraySlice<UInt8>) -> [UInt8] {
        // A zero in front keeps it positive; OpenSSL wants no more of them than needed.
        var digits = Array(number.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
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
