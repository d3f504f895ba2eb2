package import AppStore
package import AppStoreConnection
package import Base
import CoinLedger
import Telemetry

/// Finds out which purchases a submitted text proves.
///
/// A signed transaction is verified here, on threads of its own, or at once if it's the only receipt
/// under way and under a known chain, since two changes of threads take longer than that. So is an
/// app receipt, on threads only, unless the store is to be asked about it.
package struct ReceiptVerification: Sendable {
    /// Who says whether an app receipt is genuine.
    package enum Mode: String, CaseIterable, Sendable {
        /// Its signature, as verified here.
        case offline
        /// The store (verifyReceipt).
        case remote
        /// The signature, and the store where what's known here doesn't suffice.
        case offlineThenRemote = "offline-then-remote"
    }

    private let transactions: SignedTransactionVerifier
    private let receipts: AppReceiptVerifier
    private let mode: Mode
    private let workers: WorkerPool
    private let store: VerifyReceiptClient
    private let revocation: RevocationCheck?
    private let telemetry: ReceiptTelemetry

    /// Longer ones aren't looked at on the loop's thread.
    private static let textBytesMaxAtOnce = 16 * 1024

    /// - Parameter revocation: asked about the certificates of what was verified here; nobody is
    ///   if there's none.
    package init(
        verifier: SignedTransactionVerifier, receipts: AppReceiptVerifier, mode: Mode = .offline,
        workers: WorkerPool, store: VerifyReceiptClient, revocation: RevocationCheck? = nil,
        telemetry: ReceiptTelemetry
    ) {
        transactions = verifier
        self.receipts = receipts
        self.mode = mode
        self.workers = workers
        self.store = store
        self.revocation = revocation
        self.telemetry = telemetry
    }

    private enum Found: Sendable {
        case transaction(SignedTransactionVerifier.Verified)
        case receipt(AppReceiptVerifier.Verified)
        /// Only the store can tell. The error is what was found here, if anything was.
        case unknown(base64: String, AppReceiptError?)
    }

    /// - Parameter isQuiet: whether few receipts are under way, so that the caller's loop may spend a
    ///   moment on this one: no more than a signature under a header that was verified before.
    func verify(
        _ text: String, now: Timestamp, isQuiet: Bool = false
    ) async throws(ReceiptError) -> [StoreTransaction] {
        let start = ContinuousClock.now
        func observe(_ kind: String) {
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            telemetry.verificationSeconds.observe(kind, value: seconds)
        }
        do throws(ReceiptError) {
            switch try await look(at: text, now, isQuiet) {
            case .transaction(let verified):
                try await checkRevocation(verified.path)
                observe("signed_transaction")
                return [verified.transaction]
            case .receipt(let verified):
                try await checkRevocation(verified.path)
                observe("app_receipt")
                return verified.receipt.transactions
            case .unknown(let base64, let error):
                defer { observe("app_receipt_remote") }
                if let error { telemetry.askedAfterAll.increment(error.code) }
                return try await ask(base64)
            }
        } catch {
            if let code = error.untrustedCode { telemetry.untrusted.increment(code) }
            throw error
        }
    }

    /// What a receipt says that proved nothing; nothing where there is no time to read it again.
    func claims(in text: String) async -> [ClaimedTransaction] {
        do throws(WorkerPool.QueueFull) {
            return try await workers.run { ClaimedTransaction.all(in: text) }
        } catch {
            return []
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

    /// A certificate may have been revoked although everything it signed is right.
    private func checkRevocation(_ path: CertificatePath) async throws(ReceiptError) {
        guard let revocation else { return }
        do throws(RevocationCheck.Failure) {
            try await revocation.check(path)
        } catch {
            switch error {
            case .revoked: throw .certificateRevoked
            case .unknown: throw .revocationUnknown
            }
        }
    }

    private func look(
        at text: String, _ now: Timestamp, _ isQuiet: Bool
    ) async throws(ReceiptError) -> Found {
        if isQuiet, text.utf8.count <= ReceiptVerification.textBytesMaxAtOnce,
            let verified = try verifiedIfKnown(text, now)
        {
            return .transaction(verified)
        }
        let result: Result<Found, ReceiptError>
        do throws(WorkerPool.QueueFull) {
            result = try await workers.run { [self] in
                Result { () throws(ReceiptError) in try found(in: text, now) }
            }
        } catch {
            throw .overloaded
        }
        return try result.get()
    }

    private func found(in text: String, _ now: Timestamp) throws(ReceiptError) -> Found {
        switch try detect(text) {
        case .appReceipt(let base64): try found(inReceipt: base64, now)
        case .signedTransaction(let jws):
            .transaction(
                try trusting { () throws(SignedDataError) in
                    try transactions.verified(jws, now: now.milliseconds)
                })
        }
    }

    /// Nil for what would take long.
    private func verifiedIfKnown(
        _ text: String, _ now: Timestamp
    ) throws(ReceiptError) -> SignedTransactionVerifier.Verified? {
        guard case .signedTransaction(let jws) = try detect(text) else { return nil }
        return try trusting { () throws(SignedDataError) in
            try transactions.verifiedIfKnown(jws, now: now.milliseconds)
        }
    }

    private func detect(_ text: String) throws(ReceiptError) -> SubmittedReceipt {
        do throws(ReceiptShapeError) {
            return try SubmittedReceipt.detect(text)
        } catch {
            throw .wrongShape(code: error.code, message: error.message)
        }
    }

    private func trusting<Value>(
        _ verify: () throws(SignedDataError) -> Value
    ) throws(ReceiptError) -> Value {
        do throws(SignedDataError) {
            return try verify()
        } catch {
            throw .notTrusted(code: error.code, message: error.message)
        }
    }

    private func found(
        inReceipt base64: String, _ now: Timestamp
    ) throws(ReceiptError) -> Found {
        guard mode != .remote else { return .unknown(base64: base64, nil) }
        do throws(AppReceiptError) {
            guard let bytes = Base64.decode(base64) else { throw .malformed }
            return .receipt(try receipts.verified(bytes, now: now.milliseconds))
        } catch {
            if mode == .offlineThenRemote, error.mayBeOurs {
                return .unknown(base64: base64, error)
            }
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
        case .certificateRevoked: "certificate_revoked"
        case .noTransaction, .storeUnavailable, .revocationUnknown, .overloaded,
            .ledgerUnavailable:
            nil
        }
    }
}
