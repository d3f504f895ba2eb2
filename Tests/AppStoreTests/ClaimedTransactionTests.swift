import AppStore
import AppStoreStandIn
import Base
import Testing

@Suite struct `What an untrusted receipt claims` {
    private let store: StandInStore

    init() {
        // Later by a second whenever it's looked at.
        let time = Lock<Int64>(1_790_000_000_000)
        store = StandInStore(now: {
            time.withLock { time in
                time += 1000
                return time
            }
        })
    }

    @Test func `is read of a signed transaction, whoever signed it`() throws {
        var purchase = StandInPurchase(productID: "coins100")
        purchase.environment = "Sandbox"
        for fault in [nil, .wrongSignature, .wrongBundle] as [PurchaseFault?] {
            purchase.fault = fault
            let sale = try store.purchase(purchase)
            let claims = ClaimedTransaction.all(in: sale.signedTransaction)
            #expect(claims.map(\.transactionID) == [sale.transactionID])
            #expect(claims.first?.productID == "coins100")
            #expect(claims.first?.environment == .sandbox)
            #expect(claims.first?.purchaseDate ?? 0 > 1_790_000_000_000)
        }
    }

    @Test func `is read of an app receipt, the latest purchases first`() throws {
        var ids: [String] = []
        var receipt = ""
        for number in 0..<20 {
            let sale = try store.purchase(StandInPurchase(productID: "coins\(number)"))
            ids.append(sale.transactionID)
            receipt = sale.receipt
        }
        let claims = ClaimedTransaction.all(in: receipt)
        #expect(claims.map(\.transactionID) == ids.suffix(ClaimedTransaction.countMax).reversed())
        #expect(claims.first?.productID == "coins19")
        #expect(claims.first?.environment == .production)
    }

    @Test(arguments: [
        "", "x", "e30.e30.e30", "AAAA.AAAA.AAAA", "MAA=", "MIIB", "{}",
        // {"transactionId": "a b"} and {"transactionId": 5}
        "e30.eyJ0cmFuc2FjdGlvbklkIjogImEgYiJ9.e30", "e30.eyJ0cmFuc2FjdGlvbklkIjogNX0.e30",
    ])
    func `is nothing where there is none`(text: String) {
        #expect(ClaimedTransaction.all(in: text) == [])
    }

    @Test func `leaves out what can't be`() {
        // {"transactionId": "T1", "productId": "", "environment": 1, "purchaseDate": -1}
        let text =
            "e30.eyJ0cmFuc2FjdGlvbklkIjogIlQxIiwgInByb2R1Y3RJZCI6ICIiLCAiZW52aXJvbm1lbnQiOiAxLCAi"
            + "cHVyY2hhc2VEYXRlIjogLTF9.e30"
        let claims = ClaimedTransaction.all(in: text)
        #expect(claims.map(\.transactionID) == ["T1"])
        #expect(claims.first?.productID == nil)
        #expect(claims.first?.environment == nil)
        #expect(claims.first?.purchaseDate == nil)
    }
}
