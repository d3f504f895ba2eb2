import Base
import COpenSSL
import Glibc

/// A certificate with its private key.
package struct Credential: Sendable {
    package let der: [UInt8]
    package let key: SigningKey
    let name: String

    /// Issues a certificate that signs itself.
    package init(selfSigned profile: CertificateProfile) {
        let key = SigningKey(profile.curve)
        self.key = key
        name = profile.name
        der = unsafe makeCertificate(
            profile, key: key.handle, issuer: profile.name, issuerKey: key.handle,
            digest: EVP_sha384())
    }

    private init(_ profile: CertificateProfile, issuer: Credential) {
        key = SigningKey(profile.curve)
        name = profile.name
        der = unsafe makeCertificate(
            profile, key: key.handle, issuer: issuer.name, issuerKey: issuer.key.handle,
            digest: EVP_sha384())
    }

    /// Issues a certificate signed by this one, whether it may or not.
    package func issue(_ profile: CertificateProfile) -> Credential {
        Credential(profile, issuer: self)
    }

    /// The certificate as text.
    package var pem: String { CertificateText.pem(der) }
}

/// Certificates as text (RFC 7468).
enum CertificateText {
    static func pem(_ der: [UInt8]) -> String {
        var text = "-----BEGIN CERTIFICATE-----\n"
        var rest = Base64.encode(der)[...]
        while !rest.isEmpty {
            text += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + "-----END CERTIFICATE-----\n"
    }
}

/// A certificate with what `profile` says, in DER, signed by the issuer's key.
func makeCertificate(
    _ profile: CertificateProfile, key: OpaquePointer, issuer: String, issuerKey: OpaquePointer,
    digest: OpaquePointer?
) -> [UInt8] {
    guard let certificate = unsafe X509_new() else {
        preconditionFailure("OpenSSL has no memory for a certificate")
    }
    defer { unsafe X509_free(certificate) }
    let start = profile.validity.lowerBound
    let end = profile.validity.upperBound
    unsafe X509_set_version(certificate, 2)
    unsafe ASN1_INTEGER_set_uint64(
        X509_get_serialNumber(certificate), .random(in: 1...(.max >> 1)))
    unsafe ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(start))
    unsafe ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(end))
    unsafe setCommonName(X509_get_subject_name(certificate), profile.name)
    unsafe setCommonName(X509_get_issuer_name(certificate), issuer)
    unsafe X509_set_pubkey(certificate, key)
    unsafe addExtension(
        certificate, NID_basic_constraints,
        profile.isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE")
    unsafe addExtension(
        certificate, NID_key_usage,
        profile.isAuthority ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature")
    if let url = profile.revocationURL {
        unsafe addExtension(certificate, NID_info_access, "OCSP;URI:\(url)")
    }
    if let marker = profile.marker { unsafe addMarker(certificate, marker) }
    let size = unsafe X509_sign(certificate, issuerKey, digest)
    precondition(size > 0, "OpenSSL can't sign a certificate")
    return unsafe encode(certificate)
}

private func setCommonName(_ name: OpaquePointer?, _ text: String) {
    unsafe X509_NAME_add_entry_by_txt(
        name, "CN", Int32(MBSTRING_FLAG), Array(text.utf8), Int32(text.utf8.count), -1, 0)
}

private func addExtension(_ certificate: OpaquePointer, _ kind: Int32, _ value: String) {
    guard let entry = unsafe X509V3_EXT_conf_nid(nil, nil, kind, value) else {
        preconditionFailure("OpenSSL doesn't know an extension of the stand-in")
    }
    unsafe X509_add_ext(certificate, entry, -1)
    unsafe X509_EXTENSION_free(entry)
}

/// Adds an extension with the value NULL, as Apple's have it.
private func addMarker(_ certificate: OpaquePointer, _ oid: String) {
    let null: [UInt8] = [0x05, 0x00]
    let object = unsafe OBJ_txt2obj(oid, 1)
    let value = unsafe ASN1_OCTET_STRING_new()
    unsafe ASN1_OCTET_STRING_set(value, null, Int32(null.count))
    let entry = unsafe X509_EXTENSION_create_by_OBJ(nil, object, 0, value)
    unsafe X509_add_ext(certificate, entry, -1)
    unsafe X509_EXTENSION_free(entry)
    unsafe ASN1_OCTET_STRING_free(value)
    unsafe ASN1_OBJECT_free(object)
}

private func encode(_ certificate: OpaquePointer) -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = unsafe i2d_X509(certificate, &bytes)
    // Allocated by OpenSSL, freed here.
    defer { unsafe CRYPTO_free(bytes, #file, #line) }
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(max(0, count))))
}
