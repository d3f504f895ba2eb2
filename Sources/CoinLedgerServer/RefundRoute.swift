import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import HTTPServer

extension CoinLedgerApp {
    func refund(_ request: HTTPRequest) async throws(InvalidRequest) -> HTTPResponse {
        let word = try RefundWord(
            try RequestBody(
                request.body,
                fields: ["transactionId", "environment", "type", "percentage", "signedDate"]))
        do throws(RefundService.Failure) {
            let result = try await services.refunds.submit(word)
            if case .rejected(let rejection) = result { return HTTPResponse(rejection.problem) }
            return HTTPResponse(status: 200, json: result.json(word))
        } catch {
            switch error {
            case .overloaded: return HTTPResponse(WriterError.overloaded.problem)
            case .unavailable: return HTTPResponse(WriterError.unavailable.problem)
            }
        }
    }
}

extension RefundWord {
    private enum Kind: String {
        case full, prorated, reversed
    }

    fileprivate init(_ body: RequestBody) throws(InvalidRequest) {
        let transaction = try body.value(
            "transactionId", TransactionID.init,
            mustBe: "1 to 64 of the letters A to Z and a to z, digits, and . _ -")
        let environment = try body.value(
            "environment", Environment.init(rawValue:), mustBe: "Production or Sandbox")
        let kind = try body.value(
            "type", Kind.init(rawValue:), mustBe: "full, prorated or reversed")
        let percentage: Int64
        switch kind {
        case .prorated:
            percentage = try body.integer("percentage", in: 1...Refund.percentageMax)
        case .full, .reversed:
            try body.refuse(["percentage"], beside: "a type other than prorated")
            percentage = kind == .full ? Refund.percentageMax : 0
        }
        self.init(
            purchase: PurchaseKey(
                store: .appStore, environment: environment, transactionID: transaction),
            percentage: percentage, signedAt: try body.signedDate())
    }
}

extension RequestBody {
    /// As the store writes it, in milliseconds since 1970, or as RFC 3339.
    fileprivate func signedDate() throws(InvalidRequest) -> Timestamp {
        let name = "signedDate"
        if let milliseconds = integerIfAny(name) {
            guard let time = Timestamp(milliseconds: milliseconds) else {
                throw RequestBody.invalid(name, "The instant is out of range.")
            }
            return time
        }
        return try value(
            name, Timestamp.init,
            mustBe: "milliseconds since 1970 or an instant of RFC 3339 with an offset")
    }
}

extension RefundService.Result {
    fileprivate func json(_ word: RefundWord) -> JSON {
        var object = JSONObject([
            .init("transactionId", .string(word.purchase.transactionID.text)),
            .init("environment", .string(word.purchase.environment.rawValue)),
            .init("outcome", .string(outcome(word))),
        ])
        if case .done(let account, _, _) = self {
            object.append("accountId", .string(account.text))
        }
        object.append("eventId", event.map { .string($0.description) })
        object.append("percentage", .integer(word.percentage))
        guard case .done(_, let events, let balance) = self else { return .object(object) }
        for recorded in events {
            for member in recorded.event.effects { object.append(member.name, member.value) }
        }
        object.append("balance", balance.json)
        return .object(object)
    }

    private func outcome(_ word: RefundWord) -> String {
        switch self {
        case .done: word.percentage > 0 ? "refunded" : "reversed"
        case .remembered: "remembered"
        case .unchanged, .rejected: "unchanged"
        }
    }

    /// The last one that it caused.
    private var event: EventID? {
        switch self {
        case .done(_, let events, _): events.last?.id
        case .remembered(let event): event
        case .unchanged, .rejected: nil
        }
    }
}

extension Event {
    /// What a refund took, or its reversal gave back. One word of the store may do both, each once.
    fileprivate var effects: [JSONObject.Member] {
        switch self {
        case .purchaseRefunded(let event):
            [
                .init("taken", event.taken.coins.json), .init("debt", .integer(event.debt.amount)),
                .init("writtenOff", .integer(event.writtenOff.amount)),
            ]
        case .refundReversed(let event):
            [
                .init("returned", event.returned.coins.json),
                .init("debtCleared", .integer(event.debtCleared.amount)),
            ]
        case .purchaseRecorded, .coinsGranted, .appAccountTokenLinked, .coinsSpent, .spendReversed,
            .coinsExpired, .coinsAdjusted, .coinsHeld, .holdReleased, .debtPaid, .refundRemembered,
            .consentRecorded, .orderRecorded:
            []
        }
    }
}
