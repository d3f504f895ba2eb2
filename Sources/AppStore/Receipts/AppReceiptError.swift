/// Why an app receipt isn't believed.
package enum AppReceiptError: Error, Hashable {
    /// Not one signed message of PKCS #7 and nothing more; most often it was cut off.
    case malformed
    /// Not signed once, with RSA, by a certificate that is inside.
    case wrongSigner
    /// Signed with another digest than SHA-1 or SHA-256, or a short key.
    case unsupportedAlgorithm
    case badSignature
    /// The signature is right, but a field isn't; empty if the payload as a whole isn't one.
    case malformedPayload(field: String)
    /// Made further in the future than clocks go wrong.
    case signedInTheFuture
    /// The path to the root doesn't consist of exactly three certificates.
    case wrongChainLength
    /// A certificate of the chain wasn't valid when the receipt was made.
    case certificateNotValidThen
    /// The chain doesn't end at a root that is trusted here.
    case untrustedChain
    /// The signer isn't one of receipts.
    case missingLeafMarker
    /// The intermediate isn't Apple's for developer relations.
    case missingIntermediateMarker
    /// The intermediate may not sign certificates.
    case notAnAuthority

    package static let all: [AppReceiptError] = [
        .malformed, .wrongSigner, .unsupportedAlgorithm, .badSignature,
        .malformedPayload(field: ""), .signedInTheFuture, .wrongChainLength,
        .certificateNotValidThen, .untrustedChain, .missingLeafMarker, .missingIntermediateMarker,
        .notAnAuthority,
    ]

    /// Stable, for programs; the same as `SignedDataError`'s where the same is wrong.
    package var code: String {
        switch self {
        case .malformed: "receipt_malformed"
        case .wrongSigner: "receipt_without_signer"
        case .unsupportedAlgorithm: "unsupported_algorithm"
        case .badSignature: "bad_signature"
        case .malformedPayload: "malformed_payload"
        case .signedInTheFuture: "signed_in_the_future"
        case .wrongChainLength: "wrong_chain_length"
        case .certificateNotValidThen: "certificate_not_valid_at_signing"
        case .untrustedChain: "untrusted_chain"
        case .missingLeafMarker: "missing_leaf_marker"
        case .missingIntermediateMarker: "missing_intermediate_marker"
        case .notAnAuthority: "intermediate_is_no_authority"
        }
    }

    /// One sentence without data, for people.
    package var message: String {
        switch self {
        case .malformed: "This isn't an app receipt as a whole; it was cut off or changed."
        case .wrongSigner: "The receipt isn't signed once, by a certificate that is in it."
        case .unsupportedAlgorithm: "Only RSA signatures with SHA-1 or SHA-256 are accepted."
        case .badSignature: "The signature is wrong."
        case .malformedPayload: "The receipt has a field that can't be accepted."
        case .signedInTheFuture: "The receipt claims to have been made in the future."
        case .wrongChainLength: "The signer must be two steps below a root."
        case .certificateNotValidThen: "A certificate wasn't valid when the receipt was made."
        case .untrustedChain: "The certificates don't lead to a trusted root."
        case .missingLeafMarker: "The signing certificate isn't one for receipts."
        case .missingIntermediateMarker: "The intermediate certificate isn't one of the App Store."
        case .notAnAuthority: "The intermediate certificate may not issue others."
        }
    }

    /// Whether this service's roots or knowledge may be to blame, so that the store may still know
    /// the receipt for its own.
    package var mayBeOurs: Bool {
        switch self {
        case .unsupportedAlgorithm, .malformedPayload, .wrongChainLength, .untrustedChain,
            .missingLeafMarker, .missingIntermediateMarker:
            true
        case .malformed, .wrongSigner, .badSignature, .signedInTheFuture, .certificateNotValidThen,
            .notAnAuthority:
            false
        }
    }

    init(_ failure: CertificatePath.Failure) {
        switch failure {
        case .wrongLength: self = .wrongChainLength
        case .malformed: self = .malformed
        case .notValidThen: self = .certificateNotValidThen
        case .untrusted: self = .untrustedChain
        case .missingLeafMarker: self = .missingLeafMarker
        case .missingIntermediateMarker: self = .missingIntermediateMarker
        case .notAnAuthority: self = .notAnAuthority
        }
    }
}
