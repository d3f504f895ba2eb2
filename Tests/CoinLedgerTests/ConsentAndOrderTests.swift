import CoinLedger
import LedgerTestSupport
import Testing

@Suite struct `A consent` {
    private static let agreed = Event.consentRecorded(ConsentRecorded(isGiven: true))
    private static let withdrawn = Event.consentRecorded(ConsentRecorded(isGiven: false))

    @Test(arguments: [true, false])
    func `that nobody has said anything of is recorded`(isGiven: Bool) {
        given().when(record(isGiven)).then(isGiven ? Self.agreed : Self.withdrawn)
    }

    @Test func `that is said again changes nothing`() {
        given(Self.agreed).when(record(true)).then(.consentAlreadyRecorded)
        given(Self.agreed, Self.withdrawn).when(record(false)).then(.consentAlreadyRecorded)
    }

    @Test func `may be withdrawn, and given again`() {
        given(Self.agreed).when(record(false)).then(Self.withdrawn)
        given(Self.agreed, Self.withdrawn).when(record(true)).then(Self.agreed)
    }

    @Test func `is what was said last, and nothing at first`() throws {
        var history = History()
        #expect(history.account.consent == nil)
        try history.carryOut(.recordConsent(ConsentRecorded(isGiven: true)))
        #expect(history.account.consent == true)
        try history.carryOut(.recordConsent(ConsentRecorded(isGiven: false)))
        #expect(history.account.consent == false)
        #expect(history.account.version == 2)
    }

    private func record(_ isGiven: Bool) -> Command {
        Command(
            id: .numbered(1), account: "u1", time: .noon,
            action: .recordConsent(ConsentRecorded(isGiven: isGiven)))
    }
}

@Suite struct `An order of the store` {
    private let order = OrderRecorded(id: "M1", purchases: [.appStore("T1")])

    @Test func `is recorded once`() {
        let command = Command(
            id: .numbered(1), account: .unclaimed, time: .noon, action: .recordOrder(order))
        given().when(command).then(.orderRecorded(order))
        let event = EventID(lane: 3, position: 7)
        var known = given(.orderRecorded(order))
        known.facts.orders = ["M1": event]
        known.when(command).then(.orderAlreadyRecorded(event))
        known.facts.orders = ["M2": event]
        known.when(command).then(.orderRecorded(order))
    }

    @Test(arguments: ["", "a b", "ü", String(repeating: "M", count: 65), "a/b"])
    func `has a name of few letters`(text: String) {
        #expect(OrderID(text) == nil)
    }
}

@Suite struct `A redelivered purchase` {
    @Test func `says why, and is granted as any other`() throws {
        let redelivery = Redelivery(reason: "finished too early", ticketID: "S-7")
        let grant = PurchaseGrant(
            purchase: .appStore("T1"), coins: GrantedCoins(paid: 100, free: 0),
            catalogueVersion: "2026-11", redelivery: redelivery)
        let command = Command(
            id: .numbered(1), account: "u1", time: .noon, action: .grantPurchase(grant))
        let granted = CoinsGranted(
            environment: .production, source: .purchase(.appStore("T1")), lots: [.paid(1, 100)])
        given().when(command).then(
            .purchaseRecorded(
                PurchaseRecorded(
                    purchase: .appStore("T1"), catalogueVersion: "2026-11",
                    redelivery: redelivery)), .coinsGranted(granted))
    }
}
