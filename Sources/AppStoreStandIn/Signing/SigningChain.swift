package import Base

/// A key that signs, and the certificates that go with its signatures.
package struct SigningChain: Sendable {
    /// DER, the leaf first.
    package var certificates: [[UInt8]] {
        didSet { header = SigningChain.header(certificates, "ES256") }
    }
    package var key: SigningKey
    /// The first segment, which is most of the work of a signature.
    private var header: String

    package init(certificates: [[UInt8]], key: SigningKey) {
        self.certificates = certificates
        self.key = key
        header = SigningChain.header(certificates, "ES256")
    }

    /// Signs `payload` as the App Store does.
    package func sign(_ payload: JSON) -> String { sign(payload.bytes) }

    package func sign(_ payload: [UInt8]) -> String {
        let input = signingInput(payload)
        return input + "." + Base64.encode(key.sign(Array(input.utf8)), .url)
    }

    /// The first two segments; `algorithm` is for forgeries.
    package func signingInput(_ payload: [UInt8], algorithm: String = "ES256") -> String {
        let header =
            algorithm == "ES256" ? header : SigningChain.header(certificates, algorithm)
        return header + "." + Base64.encode(payload, .url)
    }

    private static func header(_ certificates: [[UInt8]], _ algorithm: String) -> String {
        let header: JSON = [
            "alg": .string(algorithm),
            "x5c": .array(certificates.map { .string(Base64.encode($0)) }),
        ]
        return Base64.encode(header.bytes, .url)
    }
}
