package import AppStore
package import AppStoreConnection
package import Base
import CoinLedger
import Telemetry

/// Finds out which purchases a submitted text proves.
///
/// A signed transaction is verified here, on threads of its own, or at once if it's the only receipt
/// under way and under a known chain, since two changes of threads take longer than that; an app
/// receipt is sent to the store.
package struct ReceiptVerification: Sendable {
    private let verifier: SignedTransactionVerifier
    private let workers: WorkerPool
    private let store: VerifyReceiptClient
    private let telemetry: ReceiptTelemetry

    /// Longer ones aren't looked at on the loop's thread.
    private static let textBytesMaxAtOnce = 16 * 1024

    package init(
        verifier: SignedTransactionVerifier, workers: WorkerPool, store: VerifyReceiptClient,
        telemetry: ReceiptTelemetry
    ) {
        self.verifier = verifier
        self.workers = workers
        self.telemetry = telemetry
        self.store = store
    }

    private enum Found: Sendable {
        case transaction(StoreTransaction)
        case appReceipt(base64: String)
    }

    /// - Parameter isAlone: whether no other receipt is under way.
    func verify(
        _ text: String, now: Timestamp, isAlone: Bool
    ) async throws(ReceiptError) -> [StoreTransaction] {
        let start = ContinuousClock.now
        func observe(_ kind: String) {
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            telemetry.verificationSeconds.observe(kind, value: seconds)
        }
        do throws(ReceiptError) {
            switch try await look(at: text, now, isAlone) {
            case .transaction(let transaction):
                observe("signed_transaction")
                return [transaction]
            case .appReceipt(let base64):
                defer { observe("app_receipt") }
                return try await ask(base64)
            }
        } catch {
            if let code = error.untrustedCode { telemetry.untrusted.increment(code) }
            throw error
        }
    }

    private func ask(_ base64: String) async throws(ReceiptError) -> [StoreTransaction] {
        do throws(VerifyReceiptError) {
            return try await store.verify(receipt: base64).transactions
        } catch {
            switch error {
            case .rejected(let status): throw .rejectedByStore(status: status)
            case .malformed: throw .rejectedByStore(status: 21002)
            case .unavailable, .misconfigured, .wrongShape:
                throw .storeUnavailable(reason: "\(error)")
            }
        }
    }

    private func look(
        at text: String, _ now: Timestamp, _ isAlone: Bool
    ) async throws(ReceiptError) -> Found {
        let verifier = verifier
        if isAlone, text.utf8.count <= ReceiptVerification.textBytesMaxAtOnce,
            let found = try ReceiptVerification.lookIfKnown(at: text, now, verifier)
        {
            return found
        }
        let result: Result<Found, ReceiptError>
        do throws(WorkerPool.QueueFull) {
            result = try await workers.run {
                Result { () throws(ReceiptError) in
                    try ReceiptVerification.look(at: text, now, verifier)
                }
            }
        } catch {
            throw .overloaded
        }
        return try result.get()
    }

    private static func look(
        at text: String, _ now: Timestamp, _ verifier: SignedTransactionVerifier
    ) throws(ReceiptError) -> Found {
        switch try detect(text) {
        case .appReceipt(let base64): .appReceipt(base64: base64)
        case .signedTransaction(let jws):
            .transaction(
                try trusting { () throws(SignedDataError) in
                    try verifier.verify(jws, now: now.milliseconds)
                })
        }
    }

    /// Nil for what would take long.
    private static func lookIfKnown(
        at text: String, _ now: Timestamp, _ verifier: SignedTransactionVerifier
    ) throws(ReceiptError) -> Found? {
        switch try detect(text) {
        case .appReceipt(let base64): .appReceipt(base64: base64)
        case .signedTransaction(let jws):
            try trusting { () throws(SignedDataError) in
                try verifier.verifyIfKnown(jws, now: now.milliseconds)
            }.map(Found.transaction)
        }
    }

    private static func detect(_ text: String) throws(ReceiptError) -> SubmittedReceipt {
        do throws(ReceiptShapeError) {
            return try SubmittedReceipt.detect(text)
        } catch {
            throw .wrongShape(code: error.code, message: error.message)
        }
    }

    private static func trusting<Value>(
        _ verify: () throws(SignedDataError) -> Value
    ) throws(ReceiptError) -> Value {
        do throws(SignedDataError) {
            return try verify()
        } catch {
            throw .notTrusted(code: error.code, message: error.message)
        }
    }
}

extension ReceiptError {
    /// The code under which a receipt that proves nothing is counted; nil for other errors.
    fileprivate var untrustedCode: String? {
        switch self {
        case .wrongShape(let code, _), .notTrusted(let code, _): code
        case .rejectedByStore(let status): "store_status_\(status)"
        case .noTransaction, .storeUnavailable, .overloaded, .ledgerUnavailable: nil
        }
    }
}
