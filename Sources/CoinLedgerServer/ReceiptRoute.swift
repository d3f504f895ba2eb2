import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import HTTPServer

extension CoinLedgerApp {
    func submitReceipt(
        _ account: AccountID, _ request: HTTPRequest
    ) async throws(InvalidRequest) -> HTTPResponse {
        let receipt = try RequestBody(request.body, fields: ["receipt"]).string("receipt")
        do throws(ReceiptError) {
            let result = try await services.receipts.submit(receipt, for: account)
            return HTTPResponse(result)
        } catch {
            return HTTPResponse(error.problem)
        }
    }
}

extension HTTPResponse {
    /// 201 if anything was granted; else the problem of the first purchase that wasn't granted
    /// before, or `already_granted` if all were.
    init(_ result: ReceiptResult) {
        var members: [JSONObject.Member] = [
            .init("accountId", .string(result.account.text)),
            .init("transactions", .array(result.transactions.map(\.json))),
        ]
        if let balance = result.balance { members.append(.init("balance", balance.json)) }
        let outcomes = result.transactions.map(\.outcome)
        if outcomes.contains(where: \.isGranted) {
            self.init(status: 201, json: .object(JSONObject(members)))
            return
        }
        let open = outcomes.lazy.compactMap(\.problem).first { $0.code != .alreadyGranted }
        let problem = open ?? TransactionOutcome.alreadyGrantedProblem
        self.init(Problem(problem.code, problem.title, members: members))
    }
}

extension TransactionResult {
    fileprivate var json: JSON {
        var object = JSONObject([
            .init("transactionId", .string(transactionID)),
            .init("productId", .string(productID)),
            .init("environment", .string(environment)),
            .init("outcome", .string(outcome.code)),
        ])
        switch outcome {
        case .granted(let coins, let grant), .alreadyGranted(let coins, let grant):
            object.append("coins", coins.json)
            object.append("finish", .bool(outcome.mayFinish))
            object.append("eventId", .string(grant.description))
        case .grantedToOtherAccount, .belongsToOtherAccount, .refused:
            object.append("finish", .bool(outcome.mayFinish))
        }
        return .object(object)
    }
}

extension TransactionOutcome {
    fileprivate static let alreadyGrantedProblem = Problem(
        .alreadyGranted, "Every purchase in it was granted to this account before.")

    fileprivate var isGranted: Bool {
        if case .granted = self { true } else { false }
    }

    /// Whether the app may finish the transaction: its coins exist, or never will.
    fileprivate var mayFinish: Bool {
        switch self {
        case .granted, .alreadyGranted, .grantedToOtherAccount, .refused(.refunded): true
        case .belongsToOtherAccount, .refused: false
        }
    }

    /// Nil if it was granted just now.
    fileprivate var problem: Problem? {
        switch self {
        case .granted: nil
        case .alreadyGranted: TransactionOutcome.alreadyGrantedProblem
        case .grantedToOtherAccount:
            Problem(.grantedToOtherAccount, "The purchase was granted before, not to this account.")
        case .belongsToOtherAccount:
            Problem(.belongsToOtherAccount, "The purchase was made for another account.")
        case .refused(let reason): reason.problem
        }
    }
}

extension PurchaseRefusalReason {
    fileprivate var problem: Problem {
        switch self {
        case .wrongApp: Problem(.wrongApp, "The purchase was made in another app.")
        case .unknownProduct:
            Problem(.unknownProduct, "The product isn't in the catalogue; the purchase is kept.")
        case .notConsumable: Problem(.notConsumable, "Only consumables are worth coins.")
        case .notPurchased: Problem(.notPurchased, "Only a purchase of one's own is worth coins.")
        case .quantityOutOfRange:
            Problem(.quantityOutOfRange, "The quantity is larger than one purchase may have.")
        case .sandboxRefused:
            Problem(.sandboxRefused, "Purchases of the sandbox aren't taken for this account.")
        case .malformed:
            Problem(.malformedPurchase, "The purchase has an id or a date that can't be kept.")
        case .environmentRefused:
            Problem(.environmentRefused, "Only production and the sandbox are known.")
        case .refunded: Problem(.refunded, "The store has taken the purchase back.")
        case .balanceTooLarge:
            Problem(.balanceTooLarge, "The account can't hold so many coins.")
        }
    }
}

extension ReceiptError {
    fileprivate var problem: Problem {
        switch self {
        case .wrongShape(let code, let message):
            Problem(ProblemCode(code: code, status: 400, isRetryable: false), message)
        case .notTrusted(let code, let message):
            Problem(ProblemCode(code: code, status: 422, isRetryable: false), message)
        case .rejectedByStore(let status):
            Problem(
                .rejectedByStore, "The store says that the receipt is none of its own.",
                members: [.init("storeStatus", .integer(status))])
        case .certificateRevoked:
            Problem(.certificateRevoked, "A certificate that the receipt rests on was revoked.")
        case .revocationUnknown:
            Problem(.revocationUnknown, "Whether a certificate was revoked can't be asked now.")
        case .noTransaction:
            Problem(
                .transactionNotInReceipt, "The receipt holds no consumable; refresh it once.",
                members: [.init("finish", false)])
        case .storeUnavailable:
            Problem(.storeUnavailable, "The store can't be asked now.")
        case .overloaded: Problem(.overloaded, "The service has too much to do now.")
        case .ledgerUnavailable:
            Problem(.ledgerUnavailable, "The ledger can't be reached now.")
        }
    }
}
