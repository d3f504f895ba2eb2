/// Verifies app receipts (PKCS #7) without asking the App Store: one RSA signature by a
/// certificate for receipts, three certificates that end at a pinned root, all valid when the
/// receipt was made.
///
/// Costs about 0.3 ms for a receipt with one purchase and 1 ms for 187, so it belongs on a
/// `WorkerPool`. Any number of threads may use one verifier.
///
/// Source: developer.apple.com, "Validating receipts on the device".
package struct AppReceiptVerifier: Sendable {
    /// How far ahead of ours the signer's clock may be: 24 hours.
    package static let aheadMillisecondsMax = SignedTransactionVerifier.aheadMillisecondsMax
    /// A genuine receipt with 187 purchases has 79 kB.
    package static let bytesMax = SubmittedReceipt.bytesMax

    private let roots: RootCertificates

    package init(roots: RootCertificates) { self.roots = roots }

    /// A receipt, and what vouches for it.
    package struct Verified: Sendable {
        package let receipt: AppReceipt
        package let path: CertificatePath
    }

    /// The receipt that `bytes` are. Nothing but its authenticity and shape is checked: whether
    /// it's for this app, of known products, or of the sandbox is for the caller to see.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func verify(_ bytes: [UInt8], now: Int64) throws(AppReceiptError) -> AppReceipt {
        try verified(bytes, now: now).receipt
    }

    /// The same, with its certificates.
    package func verified(_ bytes: [UInt8], now: Int64) throws(AppReceiptError) -> Verified {
        guard bytes.count <= AppReceiptVerifier.bytesMax else { throw .malformed }
        let message = try SignedMessage(bytes)
        let receipt: AppReceipt
        do throws(InvalidStoreField) {
            receipt = try AppReceipt(payload: message.content)
        } catch {
            throw .malformedPayload(field: error.field)
        }
        guard receipt.createdAt - now <= AppReceiptVerifier.aheadMillisecondsMax else {
            throw .signedInTheFuture
        }
        // The date comes from the signer, whoever that is. If its chain was valid then, and ends
        // where it must, the signer was entitled to say so.
        do throws(CertificatePath.Failure) {
            let path = try CertificatePath(
                leaf: message.signer, others: message.others, roots: roots,
                at: receipt.createdAt / 1000, .withSHA1)
            return Verified(receipt: receipt, path: path)
        } catch {
            throw AppReceiptError(error)
        }
    }
}
