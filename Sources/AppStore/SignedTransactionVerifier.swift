import Base

/// Verifies what the App Store signed, without asking it: ES256 under a chain of exactly three
/// certificates that ends at a pinned root and was valid when the data was signed.
///
/// Costs some 40 µs under a header verified before and 1.6 ms for an unknown chain, so all but
/// `verifiedIfKnown` belongs on a `WorkerPool`. Any number of threads may use one verifier.
///
/// Source: developer.apple.com, JWSDecodedHeader, and the chain checks of Apple's libraries.
package final class SignedTransactionVerifier: Sendable {
    /// How far ahead of ours the signer's clock may be: 24 hours.
    package static let aheadMillisecondsMax: Int64 = 86_400_000

    private let roots: RootCertificates
    /// By their certificates, so that a stranger's signatures under a genuine chain cost little.
    private let chains = ChainCache()
    /// By the header that was signed with them, which then needn't be read again. Only a genuine
    /// signature puts a header here.
    private let headers = ChainCache()

    package init(roots: RootCertificates) { self.roots = roots }

    /// A transaction, and what vouches for it.
    package struct Verified: Sendable {
        package let transaction: StoreTransaction
        package let path: CertificatePath
    }

    /// The transaction in `jws`. Nothing but its authenticity and shape is checked: whether it's
    /// for this app, of a known product, or a refund is for the caller to see.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func verify(
        _ jws: String, now: Int64
    ) throws(SignedDataError) -> StoreTransaction {
        try verified(jws, now: now).transaction
    }

    /// The same, with its certificates.
    package func verified(_ jws: String, now: Int64) throws(SignedDataError) -> Verified {
        try verified(try content(of: CompactJWS(jws), now: now))
    }

    /// The same where that takes one signature and no chain; nil for a header that hasn't been
    /// verified lately.
    package func verifiedIfKnown(
        _ jws: String, now: Int64
    ) throws(SignedDataError) -> Verified? {
        let jws = try CompactJWS(jws)
        let (object, instant) = try contents(of: jws, now: now)
        guard let chain = headers.chain(Digest.sha256(jws.header), at: instant) else { return nil }
        try check(jws, chain)
        return try verified(Content(payload: jws.payload, object: object, path: chain.path))
    }

    /// The bytes of any signed payload, such as a notification's.
    package func verifyPayload(_ jws: String, now: Int64) throws(SignedDataError) -> [UInt8] {
        try content(of: CompactJWS(jws), now: now).payload
    }

    /// The same, with its certificates.
    package func verifiedPayload(
        _ jws: String, now: Int64
    ) throws(SignedDataError) -> (payload: [UInt8], path: CertificatePath) {
        let content = try content(of: CompactJWS(jws), now: now)
        return (content.payload, content.path)
    }

    private struct Content {
        let payload: [UInt8]
        /// What the payload is, if it's a JSON object.
        let object: JSONObject?
        let path: CertificatePath
    }

    private func verified(_ content: Content) throws(SignedDataError) -> Verified {
        guard let object = content.object else { throw .malformedPayload(field: "") }
        do throws(InvalidStoreField) {
            return Verified(
                transaction: try StoreTransaction(signedPayload: object), path: content.path)
        } catch {
            throw .malformedPayload(field: error.field)
        }
    }

    private func content(of jws: CompactJWS, now: Int64) throws(SignedDataError) -> Content {
        let (object, instant) = try contents(of: jws, now: now)
        let headerKey = Digest.sha256(jws.header)
        if let chain = headers.chain(headerKey, at: instant) {
            try check(jws, chain)
            return Content(payload: jws.payload, object: object, path: chain.path)
        }
        let chain = try chain(try jws.certificates(), at: instant)
        try check(jws, chain)
        headers.insert(chain, headerKey)
        return Content(payload: jws.payload, object: object, path: chain.path)
    }

    /// What is signed, if it's an object, and when it says it was: seconds since 1970.
    private func contents(
        of jws: CompactJWS, now: Int64
    ) throws(SignedDataError) -> (object: JSONObject?, instant: Int64) {
        let object = (try? JSON.parse(jws.payload))?.object
        let signedDate = try signedDate(object) ?? now
        guard signedDate - now <= SignedTransactionVerifier.aheadMillisecondsMax else {
            throw .signedInTheFuture
        }
        return (object, signedDate / 1000)
    }

    private func check(_ jws: CompactJWS, _ chain: VerifiedChain) throws(SignedDataError) {
        guard jws.signature.count == CompactJWS.signatureBytes,
            chain.key.verifies(jws.signature, of: jws.signingInput)
        else { throw .badSignature }
    }

    /// When the payload says it was signed. It isn't believed yet, but if the signature proves
    /// right, so does this.
    private func signedDate(_ object: JSONObject?) throws(SignedDataError) -> Int64? {
        guard let object else { return nil }
        do throws(InvalidStoreField) {
            guard let date = try StoreFields(object).instant("signedDate") else { return nil }
            return try StoreFieldLimits.instant("signedDate", date)
        } catch {
            throw .malformedPayload(field: error.field)
        }
    }

    private func chain(
        _ certificates: [[UInt8]], at instant: Int64
    ) throws(SignedDataError) -> VerifiedChain {
        let key = ChainCache.key(certificates)
        if let chain = chains.chain(key, at: instant) { return chain }
        let chain = try VerifiedChain(certificates, roots: roots, at: instant)
        chains.insert(chain, key)
        return chain
    }
}
