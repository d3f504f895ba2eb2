import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `An account` {
    private static func granted(_ id: TransactionID, _ lots: Lot...) -> Event {
        .coinsGranted(
            CoinsGranted(
                environment: .production, source: .purchase(.appStore(id)), lots: lots))
    }

    @Test func `counts events, coins and lots`() {
        let history = History(
            .purchaseRecorded(PurchaseRecorded(purchase: .appStore("T1"), catalogueVersion: "1")),
            Self.granted(
                "T1", Lot(number: 1, kind: .paid, coins: 500),
                Lot(number: 2, kind: .free, coins: 50)),
            .coinsGranted(
                CoinsGranted(
                    environment: .sandbox, source: .purchase(.appStore("T2", .sandbox)),
                    lots: [Lot(number: 3, kind: .free, coins: 7)])),
            .appAccountTokenLinked("6f9619ff-8b86-d011-b42d-00cf4fc964ff"))
        #expect(history.account.version == 4)
        #expect(history.account.lotCount == 3)
        #expect(
            history.account.balance(at: .noon)
                == AccountBalance(
                    version: 4, production: .of(paid: 500, free: 50), sandbox: .of(free: 7)))
        #expect(history.account.production.openLotCount == 2)
        #expect(history.account.sandbox.openLotCount == 1)
    }

    @Test func `that is new has nothing`() {
        #expect(Account.new.balance(at: .noon) == .zero)
        #expect(
            Account.new
                == Account(version: 0, production: .empty, sandbox: .empty, lotCount: 0))
    }

    @Test func `takes its parts from its environments`() {
        var account = Account.new
        account.evolve(
            Self.granted("T1", Lot(number: 1, kind: .paid, coins: 5)),
            id: EventID(lane: 0, position: 1))
        #expect(account[.production] == account.production)
        #expect(account[.production].paid == 5)
        #expect(account[.sandbox] == .empty)
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
