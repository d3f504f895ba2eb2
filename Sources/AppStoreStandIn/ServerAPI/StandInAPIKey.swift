package import Base
import COpenSSL

/// The key with which a service proves to the Server API who it is: made when the stand-in starts.
package struct StandInAPIKey: Sendable {
    /// Ten characters.
    package let keyID: String
    /// A UUID.
    package let issuerID: String
    package let bundleID: String
    package let key: SigningKey

    init(bundleID: String) {
        keyID = RandomID.apiKey()
        issuerID = RandomID.uuid()
        self.bundleID = bundleID
        key = SigningKey(.p256)
    }

    /// What the service has to be told.
    package var json: JSON {
        [
            "keyId": .string(keyID), "issuerId": .string(issuerID),
            "bundleId": .string(bundleID), "privateKey": .string(key.pem),
        ]
    }
}

extension SigningKey {
    /// The private key as text (PKCS #8, RFC 7468), like the `.p8` files of App Store Connect.
    package var pem: String {
        guard let memory = unsafe BIO_new(BIO_s_mem()) else {
            preconditionFailure("OpenSSL has no memory for a key")
        }
        defer { unsafe BIO_free(memory) }
        let isWritten =
            unsafe PEM_write_bio_PKCS8PrivateKey(memory, handle, nil, nil, 0, nil, nil) == 1
        precondition(isWritten, "OpenSSL can't write a key")
        var bytes: UnsafeMutablePointer<CChar>?
        // Owned by the BIO.
        let count = unsafe memory_bio_data(memory, &bytes)
        return unsafe String(
            decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}
