/// A notification that the App Store signed, with the transaction in it, which it signed as well.
package struct VerifiedNotification: Sendable {
    package let notification: StoreNotification
    package let transaction: StoreTransaction?
    /// What vouches for the notification, and then for the transaction; often the same.
    package let paths: [CertificatePath]
}

/// Why a notification isn't believed.
package enum SignedNotificationError: Error, Hashable {
    /// What is wrong with the notification.
    case notification(SignedDataError)
    /// What is wrong with the transaction in it.
    case transaction(SignedDataError)
    /// The transaction is of another app or environment than the notification.
    case transactionMismatch
    /// A certificate that vouches for either was taken back by its authority. It takes a question
    /// to find out, which isn't asked here.
    case certificateRevoked

    /// Stable, for programs.
    package var code: String {
        switch self {
        case .notification(let error): error.code
        case .transaction(let error): "transaction_\(error.code)"
        case .transactionMismatch: "transaction_mismatch"
        case .certificateRevoked: "certificate_revoked"
        }
    }

    /// One sentence without data, for people.
    package var message: String {
        switch self {
        case .notification(.malformed): "This isn't a signed notification in three segments."
        case .notification(let error): error.message
        case .transaction(let error): "The transaction in the notification: \(error.message)"
        case .transactionMismatch:
            "The transaction in the notification is of another app or environment."
        case .certificateRevoked:
            "A certificate that the notification rests on was revoked."
        }
    }
}

extension SignedTransactionVerifier {
    /// The notification in `jws`. It and the transaction in it are verified each on its own, so that
    /// neither vouches for the other. Whether it's for this app is for the caller to see.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func verifyNotification(
        _ jws: String, now: Int64
    ) throws(SignedNotificationError) -> VerifiedNotification {
        let notification: StoreNotification
        let path: CertificatePath
        do throws(SignedDataError) {
            let verified = try verifiedPayload(jws, now: now)
            notification = try decoded(verified.payload)
            path = verified.path
        } catch {
            throw .notification(error)
        }
        guard let signed = notification.signedTransaction else {
            return VerifiedNotification(
                notification: notification, transaction: nil, paths: [path])
        }
        let inner: Verified
        do throws(SignedDataError) {
            inner = try verified(signed, now: now)
        } catch {
            throw .transaction(error)
        }
        guard inner.transaction.bundleID == notification.bundleID,
            inner.transaction.environment == notification.environment
        else { throw .transactionMismatch }
        return VerifiedNotification(
            notification: notification, transaction: inner.transaction, paths: [path, inner.path])
    }

    private func decoded(_ payload: [UInt8]) throws(SignedDataError) -> StoreNotification {
        do throws(InvalidStoreField) {
            return try StoreNotification(signedPayload: payload)
        } catch {
            throw .malformedPayload(field: error.field)
        }
    }
}
