import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore
import HTTPServer

/// "Charged, but no coins": what became of a purchase, and what to do about it.
extension CoinLedgerApp {
    func supportPurchases(_ query: QueryParameters) async throws(InvalidRequest) -> HTTPResponse {
        let asker = try CoinLedgerApp.asker(query)
        let answer: SupportReader.Answer
        switch try CoinLedgerApp.search(query, asker) {
        case .transaction(let id):
            answer = try await reading { () async throws(EventStoreError) in
                try await services.support.purchases(named: id, asker: asker)
            }
        case .order(let id):
            let found = try await order(named: id)
            answer = try await reading { () async throws(EventStoreError) in
                try await services.support.purchases(
                    of: found.order, recordedBy: found.event, asker: asker)
            }
        case .account(let account, let filter):
            answer = try await reading { () async throws(EventStoreError) in
                try await services.support.purchases(of: account, where: filter)
            }
        }
        var purchases: [JSON] = []
        for purchase in answer.purchases {
            purchases.append(
                try await reading { () async throws(EventStoreError) in try purchase.json() })
        }
        return HTTPResponse(
            status: 200,
            json: ["purchases": .array(purchases), "truncated": .bool(answer.isTruncated)])
    }

    /// What the customer could tell.
    private enum Search {
        case transaction(TransactionID)
        case order(OrderID)
        case account(AccountID, AttemptFilter)
    }

    private static func asker(_ query: QueryParameters) throws(InvalidRequest) -> AccountID? {
        guard let text = query.text("accountId") else { return nil }
        return try account(text)
    }

    private static func search(
        _ query: QueryParameters, _ asker: AccountID?
    ) throws(InvalidRequest) -> Search {
        let transaction = try query.value(
            "transactionId", TransactionID.init, mustBe: "a transaction's id")
        let order = try query.value("orderId", OrderID.init, mustBe: "an order's id")
        if transaction != nil || order != nil {
            for name in ["productId", "date", "zone"] where query.text(name) != nil {
                throw QueryParameters.invalid(
                    name, "The parameter goes with a search by account and date alone.")
            }
        }
        switch (transaction, order, asker) {
        case (let id?, nil, _): return .transaction(id)
        case (nil, let id?, _): return .order(id)
        case (_?, _?, _):
            throw QueryParameters.invalid(
                "orderId", "The parameter doesn't go with transactionId.")
        case (nil, nil, let account?): return .account(account, try filter(query))
        case (nil, nil, nil):
            throw QueryParameters.invalid(
                "transactionId", "The query needs transactionId, orderId, or accountId and date.")
        }
    }

    private static func filter(
        _ query: QueryParameters
    ) throws(InvalidRequest) -> AttemptFilter {
        guard let name = query.text("zone") else {
            throw QueryParameters.invalid(
                "zone", "The query needs the time zone of the date, such as Asia/Tokyo.")
        }
        let zone: ZoneRules
        do throws(ZoneRules.Invalid) {
            zone = try ZoneRules(name: name)
        } catch {
            throw QueryParameters.invalid("zone", "The system knows no such time zone.")
        }
        guard let day = query.text("date").flatMap({ SupportDay($0, in: zone) }) else {
            throw QueryParameters.invalid(
                "date", "The query needs a date such as 2026-11-30.")
        }
        return AttemptFilter(
            from: day.from, until: day.until, productID: query.text("productId"))
    }

    private func reading<Value>(
        _ body: () async throws(EventStoreError) -> Value
    ) async throws(InvalidRequest) -> Value {
        do throws(EventStoreError) {
            return try await body()
        } catch {
            throw InvalidRequest(error.problem)
        }
    }
}

extension SupportPurchase {
    fileprivate func json() throws(EventStoreError) -> JSON {
        var events: [JSON] = []
        for event in evidence.events { events.append(.object(try event.named())) }
        return [
            "status": .string(status.rawValue), "transactionId": text(transactionID?.text),
            "environment": text(environment?.rawValue), "productId": text(productID),
            "accountId": text(account?.text), "purchasedAt": text(purchasedAt?.description),
            "refusal": refusal.map {
                ["code": .string($0.code), "at": .string($0.at.description)]
            } ?? .null,
            "evidence": [
                "events": .array(events), "attempts": .array(evidence.attempts.map(\.json)),
                "notifications": .array(evidence.notifications.map(\.json)),
                "truncated": .bool(evidence.isTruncated),
            ],
            "nextStep": [
                "code": .string(nextStep.rawValue), "message": .string(nextStep.message),
            ],
        ]
    }
}

extension KeptAttempt {
    fileprivate var json: JSON {
        [
            "accountId": .string(account.text), "code": .string(code),
            "claimed": .bool(isClaimed), "transactionId": text(purchase?.transactionID.text),
            "environment": text(purchase?.environment?.rawValue),
            "productId": text(purchase?.productID),
            "purchasedAt": text(purchase?.purchasedAt?.description),
            "receiptSha256": .string(Hex.encode(receiptSHA256)),
            "receiptKept": .bool(hasReceipt), "firstAt": .string(firstAt.description),
            "lastAt": .string(lastAt.description), "attempts": .integer(count),
        ]
    }
}

private func text(_ value: String?) -> JSON { value.map(JSON.string) ?? .null }
