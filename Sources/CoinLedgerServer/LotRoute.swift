import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore
import HTTPServer

extension CoinLedgerApp {
    func lots(
        _ account: AccountID, _ query: QueryParameters
    ) async throws(InvalidRequest) -> HTTPResponse {
        let isOpenOnly = try query.bool("openOnly")
        let list = "lots \(account) \(isOpenOnly)"
        let (after, limit) = try page(query, of: list)
        do throws(EventStoreError) {
            let found = try await services.ledger.store.lots(
                of: account, after: after, limit: limit + 1, openOnly: isOpenOnly)
            let page = found.prefix(limit)
            let next = found.count > page.count ? page.last?.lot.number : nil
            return HTTPResponse(
                status: 200,
                json: [
                    "accountId": .string(account.text), "lots": .array(page.map(\.json)),
                    "next": next.map { .string(Cursor(position: $0, of: list).text) } ?? .null,
                ])
        } catch {
            throw InvalidRequest(error.problem)
        }
    }
}

extension StoredLot {
    var json: JSON {
        [
            "number": .integer(lot.number), "environment": .string(environment.rawValue),
            "kind": .string(lot.kind.rawValue), "coins": .integer(lot.coins.amount),
            "remaining": .integer(rest.remaining.amount),
            "price": lot.price?.json ?? .null,
            "expiresAt": lot.expiresAt.map { .string($0.description) } ?? .null,
            "source": source.json, "eventId": .string(grant.description),
            "grantedAt": .string(grantedAt.description),
        ]
    }
}

extension StoredLot.Source {
    fileprivate var json: JSON {
        switch self {
        case .purchase(let key):
            [
                "type": "purchase", "store": .string(key.store.rawValue),
                "environment": .string(key.environment.rawValue),
                "transactionId": .string(key.transactionID.text),
            ]
        case .gift(let campaign):
            ["type": "gift", "campaignId": campaign.map(JSON.string) ?? .null]
        case .support(let ticket): ["type": "support", "ticketId": .string(ticket)]
        }
    }
}
