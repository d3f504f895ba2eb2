/// Why data that claims to be signed by the App Store isn't believed.
package enum SignedDataError: Error, Hashable {
    /// Not three base64url segments of which the first is a JSON object.
    case malformed
    case tooLarge
    /// Anything but ES256 with a key on P-256.
    case unsupportedAlgorithm
    /// There aren't exactly three certificates.
    case wrongChainLength
    case malformedCertificate
    /// A certificate of the chain wasn't valid when the data was signed.
    case certificateNotValidThen
    /// The chain doesn't end at a root that is trusted here.
    case untrustedChain
    /// The leaf isn't one for signing receipts.
    case missingLeafMarker
    /// The intermediate isn't Apple's for developer relations.
    case missingIntermediateMarker
    /// The intermediate may not sign certificates.
    case notAnAuthority
    case badSignature
    /// Signed further in the future than clocks go wrong.
    case signedInTheFuture
    /// The signature is right, but a field isn't; empty if the payload isn't a JSON object.
    case malformedPayload(field: String)

    /// Stable, for programs.
    package var code: String {
        switch self {
        case .malformed: "signed_data_malformed"
        case .tooLarge: "signed_data_too_large"
        case .unsupportedAlgorithm: "unsupported_algorithm"
        case .wrongChainLength: "wrong_chain_length"
        case .malformedCertificate: "malformed_certificate"
        case .certificateNotValidThen: "certificate_not_valid_at_signing"
        case .untrustedChain: "untrusted_chain"
        case .missingLeafMarker: "missing_leaf_marker"
        case .missingIntermediateMarker: "missing_intermediate_marker"
        case .notAnAuthority: "intermediate_is_no_authority"
        case .badSignature: "bad_signature"
        case .signedInTheFuture: "signed_in_the_future"
        case .malformedPayload: "malformed_payload"
        }
    }

    /// One sentence without data, for people.
    package var message: String {
        switch self {
        case .malformed: "This isn't a signed transaction in three segments."
        case .tooLarge: "The signed data is larger than any the App Store makes."
        case .unsupportedAlgorithm: "Only ES256 signatures are accepted."
        case .wrongChainLength: "The header must hold exactly three certificates."
        case .malformedCertificate: "A certificate in the header can't be read."
        case .certificateNotValidThen: "A certificate wasn't valid when the data was signed."
        case .untrustedChain: "The certificates don't lead to a trusted root."
        case .missingLeafMarker: "The signing certificate isn't one for receipts."
        case .missingIntermediateMarker: "The intermediate certificate isn't one of the App Store."
        case .notAnAuthority: "The intermediate certificate may not issue others."
        case .badSignature: "The signature is wrong."
        case .signedInTheFuture: "The data claims to be signed in the future."
        case .malformedPayload: "The signed payload has a field that can't be accepted."
        }
    }
}
