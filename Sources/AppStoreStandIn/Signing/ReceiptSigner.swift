import AppStore
import COpenSSL

/// A key that signs app receipts, and the certificates that go into them.
package struct ReceiptSigner: Sendable {
    package var leaf: [UInt8]
    package var others: [[UInt8]]
    var key: RSASigningKey

    /// How the container of a receipt is written.
    package struct Style: Sendable {
        package var digest = RSASigningKey.Digest.sha256
        /// With open lengths and the content in pieces, as Xcode writes.
        package var hasOpenLengths = false
        /// Signs a digest beside the time of signing in place of the content, which no genuine
        /// receipt does.
        package var hasSignedAttributes = false

        package init() {}
    }

    private static let pieceBytes = 1000

    /// Signs `payload` in PKCS #7 (RFC 2315), byte by byte as Apple's receipts are.
    package func sign(_ payload: [UInt8], _ style: Style = Style()) -> [UInt8] {
        let open = style.hasOpenLengths
        func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
            open ? DERWriter.openElement(tag, content) : DERWriter.element(tag, content)
        }
        let octets =
            open
            ? DERWriter.pieces(payload, of: ReceiptSigner.pieceBytes) : DERWriter.octets(payload)
        let digest = DERWriter.sequence(OID.digest(style.digest), DERWriter.null)
        let signedData =
            DERWriter.integer(1) + DERWriter.set([digest])
            + element(0x30, OID.data + element(0xA0, octets))
            + DERWriter.element(0xA0, ([leaf] + others).flatMap(\.self))
            + DERWriter.set([signature(of: payload, style, digest)])
        return element(0x30, OID.signedData + element(0xA0, element(0x30, signedData)))
    }

    private func signature(of payload: [UInt8], _ style: Style, _ digest: [UInt8]) -> [UInt8] {
        var signed = payload
        var attributes: [UInt8] = []
        if style.hasSignedAttributes {
            let contentType = DERWriter.sequence(OID.contentType, DERWriter.set([OID.data]))
            let messageDigest = DERWriter.sequence(
                OID.messageDigest,
                DERWriter.set([DERWriter.octets(hash(payload, style.digest))]))
            signed = DERWriter.set([contentType, messageDigest])
            // The same set, under another tag.
            attributes = [0xA0] + signed.dropFirst()
        }
        return DERWriter.sequence(
            DERWriter.integer(1), issuerAndSerial(of: leaf), digest, attributes,
            DERWriter.sequence(OID.rsa, DERWriter.null),
            DERWriter.octets(key.sign(signed, style.digest)))
    }
}

/// The object identifiers in a receipt, encoded.
private enum OID {
    static let data = id([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01])
    static let signedData = id([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02])
    static let contentType = id([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x03])
    static let messageDigest = id([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x04])
    static let rsa = id([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01])
    private static let sha1 = id([0x2B, 0x0E, 0x03, 0x02, 0x1A])
    private static let sha256 = id([0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01])

    static func digest(_ digest: RSASigningKey.Digest) -> [UInt8] {
        digest == .sha1 ? sha1 : sha256
    }

    private static func id(_ bytes: [UInt8]) -> [UInt8] { DERWriter.element(0x06, bytes) }
}

private func hash(_ bytes: [UInt8], _ digest: RSASigningKey.Digest) -> [UInt8] {
    guard digest == .sha1 else { return Digest.sha256(bytes) }
    var hash = [UInt8](repeating: 0, count: 20)
    unsafe SHA1(bytes, bytes.count, &hash)
    return hash
}

/// How a signature names its certificate.
private func issuerAndSerial(of certificate: [UInt8]) -> [UInt8] {
    let handle = unsafe certificate.withUnsafeBufferPointer { buffer -> OpaquePointer? in
        var position = buffer.baseAddress
        return unsafe d2i_X509(nil, &position, buffer.count)
    }
    guard let handle = unsafe handle else {
        preconditionFailure("the stand-in's certificates are certificates")
    }
    defer { unsafe X509_free(handle) }
    var issuer: UnsafeMutablePointer<UInt8>?
    let issuerCount = unsafe i2d_X509_NAME(X509_get_issuer_name(handle), &issuer)
    var serial: UnsafeMutablePointer<UInt8>?
    let serialCount = unsafe i2d_ASN1_INTEGER(X509_get0_serialNumber(handle), &serial)
    // Allocated by OpenSSL, freed here.
    defer {
        unsafe CRYPTO_free(issuer, #file, #line)
        unsafe CRYPTO_free(serial, #file, #line)
    }
    return DERWriter.sequence(
        unsafe Array(UnsafeBufferPointer(start: issuer, count: Int(max(0, issuerCount)))),
        unsafe Array(UnsafeBufferPointer(start: serial, count: Int(max(0, serialCount)))))
}
