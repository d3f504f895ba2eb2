import Base

/// A signature in compact form (RFC 7515, section 7.1), taken apart but not verified.
struct CompactJWS {
    /// The DER of each certificate in the header.
    let certificates: [[UInt8]]
    /// The first two segments with their dot: what is signed.
    let signingInput: [UInt8]
    let payload: [UInt8]
    /// r and s, 32 bytes each.
    let signature: [UInt8]

    /// Notifications of the App Store, which hold two signed payloads, have about 20 kB.
    static let bytesMax = 64 << 10
    static let chainLength = 3
    private static let signatureBytes = 64

    init(_ text: String) throws(SignedDataError) {
        guard text.utf8.count <= CompactJWS.bytesMax else { throw .tooLarge }
        let bytes = Array(text.utf8)
        let dots = bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") }
        guard dots.count == 2 else { throw .malformed }
        let span = bytes.span
        guard let header = Base64.decode(span.extracting(0..<dots[0]), .url),
            let payload = Base64.decode(span.extracting((dots[0] + 1)..<dots[1]), .url),
            let signature = Base64.decode(span.extracting((dots[1] + 1)..<bytes.count), .url)
        else { throw .malformed }
        certificates = try CompactJWS.certificates(header: header)
        guard signature.count == CompactJWS.signatureBytes else { throw .badSignature }
        self.payload = payload
        self.signature = signature
        signingInput = Array(bytes[..<dots[1]])
    }

    private static func certificates(
        header: [UInt8]
    ) throws(SignedDataError) -> [[UInt8]] {
        // An extension that must be understood isn't (RFC 7515, section 4.1.11).
        guard let header = (try? JSON.parse(header))?.object, header["crit"] == nil else {
            throw .malformed
        }
        guard header["alg"] == "ES256" else { throw .unsupportedAlgorithm }
        guard let chain = header["x5c"]?.array, chain.count == chainLength else {
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
