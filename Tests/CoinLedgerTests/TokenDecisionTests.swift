import CoinLedger
import LedgerTestSupport
import Testing

private let token: AppAccountToken = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"

@Suite struct `An app account token` {
    @Test func `that nobody has is linked`() {
        given()
            .when(.link(token, to: "u1"))
            .then(.appAccountTokenLinked(token))
    }

    @Test func `that this account has is linked already, by this command or another`() {
        for command: UInt64 in [1, 2] {
            given(.appAccountTokenLinked(token))
                .knowing(owners: [token: "u1"])
                .when(.link(token, to: "u1", command: command))
                .then(.tokenAlreadyLinked)
        }
    }

    @Test func `that another account has stays there`() {
        given()
            .knowing(owners: [token: "u2"])
            .when(.link(token, to: "u1"))
            .then(.tokenLinkedToOtherAccount)
    }
}

@Suite struct `A purchase with an app account token` {
    private let events: [Event] = [
        .purchaseRecorded(
            PurchaseRecorded(
                purchase: .appStore("T1", token: token), catalogueVersion: "2026-11")),
        .coinsGranted(
            CoinsGranted(
                environment: .production, source: .purchase(.appStore("T1")),
                lots: [.paid(1, 100)])),
    ]

    @Test func `is granted to the account the token is linked to`() {
        given(.appAccountTokenLinked(token))
            .knowing(owners: [token: "u1"])
            .when(.grant("T1", to: "u1", token: token))
            .then(events[0], events[1])
    }

    @Test func `is granted to the account that has the token as its id, in either case`() {
        for account: AccountID in [
            "6f9619ff-8b86-d011-b42d-00cf4fc964ff", "6F9619FF-8B86-D011-B42D-00CF4FC964FF",
        ] {
            given()
                .when(.grant("T1", to: account, token: token))
                .then(events[0], events[1])
        }
    }

    @Test func `belongs to another account if the token is linked there`() {
        given()
            .knowing(owners: [token: "u2"])
            .when(.grant("T1", to: "u1", token: token))
            .then(.belongsToOtherAccount)
    }

    @Test func `belongs to the linked account rather than to the one named like the token`() {
        given()
            .knowing(owners: [token: "u2"])
            .when(.grant("T1", to: "6f9619ff-8b86-d011-b42d-00cf4fc964ff", token: token))
            .then(.belongsToOtherAccount)
    }

    @Test func `belongs to nobody here if the token is not linked`() {
        given()
            .when(.grant("T1", to: "u1", token: token))
            .then(.belongsToOtherAccount)
    }

    @Test func `that was granted is reported as granted, whoever the token belongs to`() {
        let claim = PurchaseClaim(
            account: "u1", command: .numbered(1), grant: EventID(lane: 0, position: 2),
            coins: GrantedCoins(paid: 100, free: 0))
        let story = given(events[0], events[1])
        var known = story.knowing([.appStore("T1"): claim])
        known.facts.tokenOwners = [token: "u2"]
        known.when(.grant("T1", to: "u1", token: token, command: 2))
            .then(.alreadyGranted(claim))
    }
}
