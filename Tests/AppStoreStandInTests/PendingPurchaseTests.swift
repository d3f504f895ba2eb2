import AppStore
import AppStoreStandIn
import Base
import Testing

@Suite struct `A purchase that waits` {
    private let clock = Lock(noon)
    private let store: StandInStore

    init() {
        store = StandInStore(authority: authority, now: { [clock] in clock.withLock { $0 } })
    }

    private func verify(_ signed: String) throws -> StoreTransaction {
        let roots = try RootCertificates(files: [authority.root.der], allowPrivate: true)
        return try SignedTransactionVerifier(roots: roots).verify(signed, now: noon + 5000)
    }

    private func entries() -> Int? {
        store.verifyReceipt(store.receipt(), environment: "Production")["receipt"]?["in_app"]?
            .array?.count
    }

    @Test(arguments: [PendingReason.askToBuy, .interruption])
    func `is made when it's approved`(reason: PendingReason) throws {
        let id = try store.begin(StandInPurchase(productID: product), reason)
        #expect(entries() == 0)
        clock.withLock { $0 += 5000 }
        let sale = try store.approve(id, reason)
        #expect(sale.transactionID == id)
        #expect(try verify(sale.signedTransaction).purchaseDate == noon + 5000)
        #expect(entries() == 1)
        #expect(throws: StandInStoreError.wrongState(.purchased)) {
            try store.approve(id, reason)
        }
    }

    @Test func `is over when it's declined`() throws {
        let id = try store.begin(StandInPurchase(productID: product), .askToBuy)
        try store.decline(id)
        #expect(entries() == 0)
        #expect(throws: StandInStoreError.wrongState(.declined)) { try store.approve(id) }
        #expect(throws: StandInStoreError.wrongState(.declined)) { try store.decline(id) }
        #expect(throws: StandInStoreError.wrongState(.declined)) { try store.finish(id) }
    }

    @Test func `waits for one thing only`() throws {
        let id = try store.begin(StandInPurchase(productID: product), .interruption)
        #expect(throws: StandInStoreError.wrongState(.interrupted)) {
            try store.approve(id, .askToBuy)
        }
    }

    @Test func `costs nothing with an offer code`() throws {
        var purchase = StandInPurchase(productID: product)
        purchase.offerCode = "SPRING"
        let transaction = try verify(store.purchase(purchase).signedTransaction)
        #expect(transaction.offerType == 3)
        #expect(transaction.price == 0)
    }
}
