package import AppStore
package import Base
import CoinLedger

/// Finds out whether a text is a notification that the App Store signed, on threads of its own.
package struct NotificationVerification: Sendable {
    private let verifier: SignedTransactionVerifier
    private let workers: WorkerPool

    package init(verifier: SignedTransactionVerifier, workers: WorkerPool) {
        self.verifier = verifier
        self.workers = workers
    }

    enum Failure: Error, Hashable {
        case untrusted(SignedNotificationError)
        /// As many verifications wait as are allowed.
        case overloaded
    }

    func verify(
        _ signedPayload: String, now: Timestamp
    ) async throws(Failure) -> VerifiedNotification {
        let verifier = verifier
        let result: Result<VerifiedNotification, SignedNotificationError>
        do throws(WorkerPool.QueueFull) {
            result = try await workers.run {
                Result { () throws(SignedNotificationError) in
                    try verifier.verifyNotification(signedPayload, now: now.milliseconds)
                }
            }
        } catch {
            throw .overloaded
        }
        do throws(SignedNotificationError) {
            return try result.get()
        } catch {
            throw .untrusted(error)
        }
    }
}
