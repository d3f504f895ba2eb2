import AppStore
import AppStoreConnection
import AppStoreStandIn
import Base
import Testing

@Suite struct `Verifying receipts with the stand-in` {
    private let http = HTTPClient()

    private func purchase(_ id: String, environment: String? = nil) -> StandInPurchase {
        var purchase = StandInPurchase(productID: "coins100")
        purchase.transactionID = id
        purchase.environment = environment
        return purchase
    }

    @Test func `finds every unfinished purchase`() async throws {
        try await withStandIn { standIn in
            let client = standIn.verifyReceiptClient(http)
            var second = purchase("T2")
            second.quantity = 3
            second.appAccountToken = "E4E0B18B-0000-4000-8000-00000000000A"
            _ = try standIn.store.purchase(purchase("T1"))
            let receipt = try standIn.store.purchase(second).receipt
            let transactions = try await client.verify(receipt: receipt).transactions
            let expected = try StoreTransaction(
                transactionID: "T2", bundleID: "com.nonchalant", productID: "coins100",
                quantity: 3, environment: .production, purchaseDate: noon,
                originalPurchaseDate: noon, ownership: "PURCHASED",
                appAccountToken: "e4e0b18b-0000-4000-8000-00000000000a")
            #expect(transactions.map(\.transactionID) == ["T1", "T2"])
            #expect(transactions.last == expected)
            try standIn.store.finish("T1")
            let left = try await client.verify(receipt: standIn.store.receipt()).transactions
            #expect(left == [expected])
        }
    }

    @Test func `finds sandbox purchases in the sandbox, and the next in production`() async throws {
        try await withStandIn { standIn in
            let client = standIn.verifyReceiptClient(http)
            let sandbox = try standIn.store.purchase(purchase("T1", environment: "Sandbox"))
            #expect(try await client.verify(receipt: sandbox.receipt).environment == .sandbox)
            let sale = try standIn.store.purchase(purchase("T2"))
            #expect(try await client.verify(receipt: sale.receipt).environment == .production)
        }
    }

    @Test func `survives a store that fails three times in different ways`() async throws {
        try await withStandIn { standIn in
            let receipt = try standIn.store.purchase(purchase("T1")).receipt
            standIn.api.add(StandInFault(endpoint: "verifyReceipt", effect: .reset))
            standIn.api.add(StandInFault(endpoint: "verifyReceipt", effect: .html(200)))
            standIn.api.add(StandInFault(endpoint: "verifyReceipt", effect: .status(500)))
            let client = standIn.verifyReceiptClient(http)
            #expect(try await client.verify(receipt: receipt).transactions.count == 1)
        }
    }

    @Test(arguments: [
        (StandInFault.Effect.reset, UnavailableReason.transport(.interrupted)),
        (.html(500), .http(500)), (.html(200), .notJSON), (.status(429), .http(429)),
        (.receiptStatus(21005, isRetryable: nil), .status(21005)),
        (.receiptStatus(21100, isRetryable: true), .status(21100)),
    ])
    func `tells that the store is absent`(
        effect: StandInFault.Effect, reason: UnavailableReason
    ) async throws {
        try await withStandIn { standIn in
            let receipt = try standIn.store.purchase(purchase("T1")).receipt
            standIn.api.add(StandInFault(endpoint: "verifyReceipt", times: 4, effect: effect))
            let client = standIn.verifyReceiptClient(http)
            await #expect(throws: VerifyReceiptError.unavailable(reason)) {
                try await client.verify(receipt: receipt)
            }
            // The store is asked four times; the fifth is answered.
            #expect(try await client.verify(receipt: receipt).transactions.count == 1)
        }
    }

    @Test func `doesn't wait for a store that stalls`() async throws {
        try await withStandIn { standIn in
            let receipt = try standIn.store.purchase(purchase("T1")).receipt
            standIn.api.add(
                StandInFault(
                    endpoint: "verifyReceipt", times: 4, effect: .none,
                    delayMilliseconds: 60_000))
            let client = standIn.verifyReceiptClient(http, attemptMilliseconds: 50)
            await #expect(throws: VerifyReceiptError.unavailable(.transport(.timedOut))) {
                try await client.verify(receipt: receipt)
            }
        }
    }

    @Test func `believes the store's word on a forged receipt`() async throws {
        try await withStandIn { standIn in
            let foreign = StandInStore(now: { noon }).receipt()
            let client = standIn.verifyReceiptClient(http)
            await #expect(throws: VerifyReceiptError.rejected(status: 21003)) {
                try await client.verify(receipt: foreign)
            }
            await #expect(throws: VerifyReceiptError.malformed) {
                try await client.verify(receipt: "MII=")
            }
        }
    }
}
