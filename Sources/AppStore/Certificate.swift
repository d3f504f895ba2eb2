import Base
import COpenSSL
import Glibc

/// One X.509 certificate (RFC 5280).
@safe final class Certificate: @unchecked Sendable {
    // Sendable: a certificate never changes once it was read, and what OpenSSL computes of it
    // later it guards with a lock of its own.
    /// Freed with this object.
    let handle: OpaquePointer
    let der: [UInt8]

    /// A certificate of the App Store has about 1 kB.
    static let bytesMax = 8192

    /// Nil unless `der` is one certificate and nothing more.
    init?(der: [UInt8]) {
        guard der.count <= Certificate.bytesMax else { return nil }
        let handle = unsafe der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            unsafe parse(bytes)
        }
        guard let handle = unsafe handle else {
            ERR_clear_error()
            return nil
        }
        unsafe self.handle = handle
        self.der = der
    }

    /// A certificate that OpenSSL holds, which goes on holding it.
    init?(sharing handle: OpaquePointer) {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_X509(handle, &bytes)
        // Allocated by OpenSSL, freed here.
        defer { unsafe CRYPTO_free(bytes, #file, #line) }
        guard count > 0, count <= Certificate.bytesMax, let bytes = unsafe bytes,
            unsafe X509_up_ref(handle) == 1
        else { return nil }
        unsafe self.handle = handle
        der = unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    deinit { unsafe X509_free(handle) }

    /// From when until when it's valid: seconds since 1970, the end excluded.
    var validity: Range<Int64>? {
        guard let start = unsafe seconds(X509_get0_notBefore(handle)),
            let end = unsafe seconds(X509_get0_notAfter(handle)), start <= end
        else { return nil }
        return start..<end
    }

    /// Whether it may sign other certificates: basicConstraints says so, and keyUsage, if there
    /// is any, agrees.
    var isAuthority: Bool { unsafe X509_check_ca(handle) == 1 }

    var isRSA: Bool {
        guard let key = unsafe X509_get0_pubkey(handle) else { return false }
        return unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA
    }

    /// Whether its key may sign data: keyUsage says so, or there's none.
    var maySign: Bool { unsafe X509_get_key_usage(handle) & UInt32(KU_DIGITAL_SIGNATURE) != 0 }

    /// Where its authority says whether it was revoked (authorityInfoAccess), if it names a place.
    var revocationURL: String? {
        guard let places = unsafe X509_get1_ocsp(handle) else { return nil }
        defer { unsafe X509_email_free(places) }
        guard let first = unsafe text_stack_first(places) else { return nil }
        let url = unsafe String(cString: first)
        return url.utf8.count <= Certificate.urlBytesMax ? url : nil
    }

    static let urlBytesMax = 512

    /// Whether there's an extension of this type, whatever its value.
    func hasExtension(_ oid: String) -> Bool {
        guard let object = unsafe OBJ_txt2obj(oid, 1) else { return false }
        defer { unsafe ASN1_OBJECT_free(object) }
        return unsafe X509_get_ext_by_OBJ(handle, object, -1) >= 0
    }
}

/// The certificate that `bytes` hold, which the caller frees.
private func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> OpaquePointer? {
    var position = bytes.baseAddress
    guard let start = unsafe position else { return nil }
    guard let handle = unsafe d2i_X509(nil, &position, bytes.count) else { return nil }
    guard unsafe position == start + bytes.count else {
        unsafe X509_free(handle)
        return nil
    }
    return unsafe handle
}

private func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    var fields = unsafe tm()
    guard unsafe ASN1_TIME_to_tm(time, &fields) == 1 else { return nil }
    return unsafe Int64(timegm(&fields))
}
