import CoinLedger
import LedgerTestSupport
import Testing

private let hundredPaid: Event = .coinsGranted(
    CoinsGranted(
        environment: .production, source: .purchase(.appStore("T0")),
        lots: [.paid(1, 100)]))

private func recorded(_ purchase: Purchase) -> Event {
    .purchaseRecorded(PurchaseRecorded(purchase: purchase, catalogueVersion: "2026-11"))
}

private func granted(_ id: TransactionID, _ environment: Environment, _ lots: Lot...) -> Event {
    .coinsGranted(
        CoinsGranted(
            environment: environment, source: .purchase(.appStore(id, environment)), lots: lots))
}

private func claim(by account: AccountID, command: UInt64) -> PurchaseClaim {
    PurchaseClaim(
        account: account, command: .numbered(command), grant: EventID(lane: 0, position: 2),
        coins: GrantedCoins(paid: 100, free: 0))
}

@Suite struct `A purchase` {
    @Test func `is recorded and granted as a lot`() {
        given()
            .when(.grant("T1", to: "u1"))
            .then(
                recorded(.appStore("T1")),
                granted("T1", .production, .paid(1, 100)))
    }

    @Test func `with a bonus is granted as a paid lot and then a free one`() {
        given()
            .when(.grant("T1", to: "u1", paid: 500, free: 50))
            .then(
                recorded(.appStore("T1")),
                granted(
                    "T1", .production, .paid(1, 500),
                    .free(2, 50)))
    }

    @Test func `of free coins only makes one lot`() {
        given()
            .when(.grant("T1", to: "u1", paid: 0, free: 7))
            .then(
                recorded(.appStore("T1")),
                granted("T1", .production, .free(1, 7)))
    }

    @Test func `numbers its lots on from the last one`() {
        given(hundredPaid)
            .when(.grant("T1", to: "u1", paid: 1, free: 2))
            .then(
                recorded(.appStore("T1")),
                granted(
                    "T1", .production, .paid(2, 1),
                    .free(3, 2)))
    }

    @Test func `in the sandbox numbers its lots on from those of production`() {
        given(hundredPaid)
            .when(.grant("T1", to: "u1", environment: .sandbox))
            .then(
                recorded(.appStore("T1", environment: .sandbox)),
                granted("T1", .sandbox, .paid(2, 100)))
    }

    @Test func `of another environment is another purchase, whatever its id`() {
        given(hundredPaid)
            .knowing([.appStore("T1"): claim(by: "u1", command: 7)])
            .when(.grant("T1", to: "u1", environment: .sandbox))
            .then(
                recorded(.appStore("T1", environment: .sandbox)),
                granted("T1", .sandbox, .paid(2, 100)))
    }
}

@Suite struct `A purchase that was claimed` {
    @Test func `by this account is already granted`() {
        let earlier = claim(by: "u1", command: 7)
        given(hundredPaid)
            .knowing([.appStore("T1"): earlier])
            .when(.grant("T1", to: "u1", command: 8))
            .then(.alreadyGranted(earlier))
    }

    @Test func `by this very command is already done`() {
        let earlier = claim(by: "u1", command: 8)
        given(hundredPaid)
            .knowing([.appStore("T1"): earlier])
            .when(.grant("T1", to: "u1", command: 8))
            .then(.alreadyDone(earlier))
    }

    @Test func `by another account says nothing of that account`() {
        given()
            .knowing([.appStore("T1"): claim(by: "u2", command: 8)])
            .when(.grant("T1", to: "u1", command: 8))
            .then(.grantedToOtherAccount)
    }

    @Test func `under its original id is not granted under a new one`() {
        let earlier = claim(by: "u1", command: 7)
        given(hundredPaid)
            .knowing([.appStore("T1"): earlier])
            .when(.grant("T2", original: "T1", to: "u1", command: 8))
            .then(.alreadyGranted(earlier))
    }

    @Test func `under a new id is not granted under its original one`() {
        // A grant of T2 with the original T1 claims both.
        let earlier = claim(by: "u1", command: 7)
        given(hundredPaid)
            .knowing([.appStore("T2"): earlier, .appStore("T1"): earlier])
            .when(.grant("T1", to: "u1", command: 8))
            .then(.alreadyGranted(earlier))
    }

    @Test func `under its original id by another account is not granted either`() {
        given()
            .knowing([.appStore("T1"): claim(by: "u2", command: 7)])
            .when(.grant("T2", original: "T1", to: "u1", command: 8))
            .then(.grantedToOtherAccount)
    }

    @Test func `claims its own id and the original one`() {
        #expect(
            Purchase.appStore("T2", original: "T1", environment: .sandbox).claimedKeys
                == [.appStore("T2", .sandbox), .appStore("T1", .sandbox)])
        #expect(Purchase.appStore("T2", original: "T2").claimedKeys == [.appStore("T2")])
    }
}

@Suite struct `A purchase over the limit` {
    @Test func `may fill the balance to the last coin`() {
        let rest = GrantedCoins(paid: 9_007_199_254_740_891, free: 0)
        given(hundredPaid)
            .when(.grant("T1", to: "u1", paid: rest.paid))
            .then(
                recorded(.appStore("T1")),
                granted("T1", .production, .paid(2, rest.paid)))
    }

    @Test(arguments: [
        (9_007_199_254_740_892 as Coins, 0 as Coins),
        (0, 9_007_199_254_740_892),
        (9_007_199_254_740_891, 1),
        (9_007_199_254_740_991, 9_007_199_254_740_991),
    ])
    func `is refused if paid and free coins together leave the range`(paid: Coins, free: Coins) {
        given(hundredPaid)
            .when(.grant("T1", to: "u1", paid: paid, free: free))
            .then(.balanceTooLarge)
    }

    @Test func `is judged by the balance of its own environment`() {
        given(hundredPaid)
            .when(.grant("T1", to: "u1", paid: 9_007_199_254_740_991, environment: .sandbox))
            .then(
                recorded(.appStore("T1", environment: .sandbox)),
                granted(
                    "T1", .sandbox, .paid(2, 9_007_199_254_740_991)))
    }
}
