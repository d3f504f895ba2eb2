import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `An account` {
    @Test func `counts events, coins and lots`() {
        var account = Account.new
        account.evolve(
            .purchaseRecorded(
                PurchaseRecorded(purchase: .appStore("T1"), catalogueVersion: "1")))
        account.evolve(
            .coinsGranted(
                CoinsGranted(
                    environment: .production, source: .purchase(.appStore("T1")),
                    lots: [
                        Lot(number: 1, kind: .paid, coins: 500),
                        Lot(number: 2, kind: .free, coins: 50),
                    ])))
        account.evolve(
            .coinsGranted(
                CoinsGranted(
                    environment: .sandbox, source: .purchase(.appStore("T2", .sandbox)),
                    lots: [Lot(number: 3, kind: .free, coins: 7)])))
        account.evolve(.appAccountTokenLinked("6f9619ff-8b86-d011-b42d-00cf4fc964ff"))
        #expect(
            account
                == Account(
                    version: 4, production: Balance(paid: 500, free: 50),
                    sandbox: Balance(paid: 0, free: 7), lotCount: 3))
        #expect(account[.production].total == 550)
        #expect(account[.sandbox].total == 7)
    }

    @Test func `that is new has nothing`() {
        #expect(
            Account.new
                == Account(
                    version: 0, production: Balance(paid: 0, free: 0),
                    sandbox: Balance(paid: 0, free: 0), lotCount: 0))
    }

    @Test func `survives events that no decision would have caused`() {
        var account = Account.new
        for _ in 0..<2 {
            account.evolve(
                .coinsGranted(
                    CoinsGranted(
                        environment: .production, source: .purchase(.appStore("T1")),
                        lots: [Lot(number: 1, kind: .paid, coins: 9_007_199_254_740_991)])))
        }
        #expect(account.version == 2)
        #expect(account.production.paid == 9_007_199_254_740_991)
    }
}

@Suite struct `A grant's coins` {
    @Test func `are the sums of its lots by kind`() {
        let granted = CoinsGranted(
            environment: .production, source: .purchase(.appStore("T1")),
            lots: [
                Lot(number: 1, kind: .paid, coins: 5), Lot(number: 2, kind: .free, coins: 3),
                Lot(number: 3, kind: .paid, coins: 20),
            ])
        #expect(granted.coins == GrantedCoins(paid: 25, free: 3))
    }
}
