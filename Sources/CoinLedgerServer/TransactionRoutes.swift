import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore
import HTTPServer

/// What became of a purchase and of its coins.
extension CoinLedgerApp {
    /// Uses in one answer of `GET …/consumption`.
    private static let usesMax = 1000

    func transaction(
        _ id: String?, _ query: QueryParameters
    ) async throws(InvalidRequest) -> HTTPResponse {
        let key = try CoinLedgerApp.purchase(id, query)
        switch try await found(key) {
        case .granted(let granted): return HTTPResponse(status: 200, json: granted.json)
        case .remembered(let word): return HTTPResponse(status: 200, json: word.json)
        }
    }

    func consumption(
        _ id: String?, _ query: QueryParameters
    ) async throws(InvalidRequest) -> HTTPResponse {
        let key = try CoinLedgerApp.purchase(id, query)
        guard case .granted(let granted) = try await found(key) else {
            throw InvalidRequest(CoinLedgerApp.notFound)
        }
        do throws(EventStoreError) {
            let uses = try await services.purchases.uses(
                of: granted, limit: CoinLedgerApp.usesMax + 1)
            let consumption = PaidConsumption(granted)
            var object = JSONObject([
                .init("transactionId", .string(granted.purchase.purchase.key.transactionID.text)),
                .init("environment", .string(key.environment.rawValue)),
                .init("accountId", .string(granted.claim.account.text)),
                .init("productId", .string(granted.purchase.purchase.productID)),
                .init("granted", ["coins": .integer(consumption.granted.amount)]),
                .init("used", .integer(consumption.used.amount)),
                .init("remaining", .integer(consumption.remaining.amount)),
                .init("refunded", .integer(consumption.refunded.amount)),
                .init("consumptionPercentage", .integer(consumption.percentage)),
            ])
            object.append("uses", .array(uses.prefix(CoinLedgerApp.usesMax).map(\.json)))
            object.append("usesTruncated", .bool(uses.count > CoinLedgerApp.usesMax))
            return HTTPResponse(status: 200, json: .object(object))
        } catch {
            throw InvalidRequest(error.problem)
        }
    }

    private static let notFound = Problem(
        .transactionNotFound, "Nothing is known of such a transaction.")

    private static func purchase(
        _ id: String?, _ query: QueryParameters
    ) throws(InvalidRequest) -> PurchaseKey {
        let environment = try query.value(
            "environment", Environment.init(rawValue:), mustBe: "Production or Sandbox")
        // An id that can't be one names nothing.
        guard let transaction = id.flatMap(TransactionID.init) else {
            throw InvalidRequest(notFound)
        }
        return PurchaseKey(
            store: .appStore, environment: environment ?? .production, transactionID: transaction)
    }

    private func found(
        _ key: PurchaseKey
    ) async throws(InvalidRequest) -> PurchaseReader.Found {
        let found: PurchaseReader.Found?
        do throws(EventStoreError) {
            found = try await services.purchases.find(key)
        } catch {
            throw InvalidRequest(error.problem)
        }
        guard let found else { throw InvalidRequest(CoinLedgerApp.notFound) }
        return found
    }
}

extension PurchaseReader.Use {
    fileprivate var json: JSON {
        [
            "eventId": .string(event.description), "type": .string(type),
            "recordedAt": .string(recordedAt.description), "coins": .integer(coins),
        ]
    }
}

extension PurchaseReader.Granted {
    fileprivate var json: JSON {
        let bought = purchase.purchase
        return [
            "transactionId": .string(bought.key.transactionID.text),
            "environment": .string(bought.key.environment.rawValue), "state": "granted",
            "accountId": .string(claim.account.text), "store": .string(bought.key.store.rawValue),
            "originalTransactionId": .string(bought.originalTransactionID.text),
            "productId": .string(bought.productID), "quantity": .integer(bought.quantity),
            "price": bought.price?.json ?? .null,
            "storefront": bought.storefront.map(JSON.string) ?? .null,
            "purchasedAt": .string(bought.purchasedAt.description),
            "signedAt": bought.signedAt.map { .string($0.description) } ?? .null,
            "catalogueVersion": .string(purchase.catalogueVersion),
            "eventId": .string(claim.grant.description),
            "grantedAt": .string(grantedAt.description), "coins": claim.coins.json,
            "lots": .array(lots.map(\.json)), "refund": refund?.json ?? .null,
        ]
    }
}

extension Refund {
    fileprivate var json: JSON {
        [
            "percentage": .integer(percentage),
            "signedAt": signedAt.map { .string($0.description) } ?? .null,
            "taken": taken.coins.json, "debt": .integer(debt.amount),
            "writtenOff": .integer(writtenOff.amount),
        ]
    }
}

extension RememberedRefund {
    fileprivate var json: JSON {
        [
            "transactionId": .string(refund.purchase.transactionID.text),
            "environment": .string(refund.purchase.environment.rawValue),
            "state": "refund_remembered", "eventId": .string(event.description),
            "refund": [
                "percentage": .integer(refund.percentage),
                "signedAt": .string(refund.signedAt.description),
            ],
        ]
    }
}
