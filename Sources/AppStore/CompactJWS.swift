import Base

/// A signature in compact form (RFC 7515, section 7.1), taken apart but not verified.
struct CompactJWS {
    /// The first segment as it was written.
    let header: [UInt8]
    /// The first two segments with their dot: what is signed.
    let signingInput: [UInt8]
    let payload: [UInt8]
    /// r and s, 32 bytes each if it's one.
    let signature: [UInt8]

    /// Notifications of the App Store, which hold two signed payloads, have about 20 kB.
    static let bytesMax = 64 << 10
    static let chainLength = CertificatePath.length
    static let signatureBytes = 64

    init(_ text: String) throws(SignedDataError) {
        guard text.utf8.count <= CompactJWS.bytesMax else { throw .tooLarge }
        let bytes = Array(text.utf8)
        let span = bytes.span
        // A third dot is no digit of the signature.
        guard let first = CompactJWS.dot(bytes, from: 0),
            let second = CompactJWS.dot(bytes, from: first + 1),
            let payload = Base64.decode(span.extracting((first + 1)..<second), .url),
            let signature = Base64.decode(span.extracting((second + 1)..<bytes.count), .url)
        else { throw .malformed }
        header = Array(bytes[..<first])
        self.payload = payload
        self.signature = signature
        signingInput = Array(bytes[..<second])
    }

    private static func dot(_ bytes: [UInt8], from start: Int) -> Int? {
        unsafe bytes.withUnsafeBufferPointer {
            unsafe $0.firstIndex(of: UInt8(ascii: "."), from: start)
        }
    }

    /// The DER of each certificate in the header, which must be one that's accepted.
    func certificates() throws(SignedDataError) -> [[UInt8]] {
        guard let header = Base64.decode(header, .url) else { throw .malformed }
        // An extension that must be understood isn't (RFC 7515, section 4.1.11).
        guard let header = (try? JSON.parse(header))?.object, header["crit"] == nil else {
            throw .malformed
        }
        guard header["alg"] == "ES256" else { throw .unsupportedAlgorithm }
        guard let chain = header["x5c"]?.array, chain.count == CompactJWS.chainLength else {
            throw .wrongChainLength
        }
        var certificates: [[UInt8]] = []
        for entry in chain {
            // Standard base64 here, unlike everywhere else (RFC 7515, section 4.1.6).
            guard let text = entry.string, let der = Base64.decode(text) else {
                throw .malformedCertificate
            }
            certificates.append(der)
        }
        return certificates
    }
}
