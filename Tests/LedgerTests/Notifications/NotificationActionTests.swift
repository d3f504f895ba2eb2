import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerService
import EventStore
import LedgerTestSupport
import Testing

/// Rows 28 to 42 of the flow's table, without the network.
@Suite struct `What a notification says` {
    @Test(arguments: StoreKind.allCases)
    func `row 28: a charge is granted to the owner of its token`(kind: StoreKind) async throws {
        try await NotificationWorld.run(kind) { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell(token: token)
            try await world.notify("ONE_TIME_CHARGE", of: id)
            #expect(try await world.total() == 100)
            let kept = try #require(try await world.last())
            #expect(kept.outcome == "granted")
            let detail = try JSON.parse(Array((kept.detail ?? "").utf8))
            #expect(detail["accountId"] == "u1")
            #expect(detail["eventId"]?.string?.isEmpty == false)
            guard case .alreadyGranted = try await world.post(id, to: "u1") else {
                Issue.record("it wasn't granted before")
                return
            }
            #expect(try await world.total() == 100)
        }
    }

    @Test(arguments: [
        "6f9619ff-8b86-d011-b42d-00cf4fc964ff", "6F9619FF-8B86-D011-B42D-00CF4FC964FF",
    ])
    func `a charge is granted to an account that has its token as its id`(
        text: String
    ) async throws {
        try await NotificationWorld.run { (world) async throws in
            let account = try #require(AccountID(text))
            let before = try world.sell(token: token)
            try await world.notify("ONE_TIME_CHARGE", of: before)
            #expect(try await world.outcome() == "unclaimed")
            let gift = Gift(
                environment: .production, coins: 1, expiresAt: nil, reason: "x", campaignID: nil)
            try await world.submit(.give(gift), of: account)
            let after = try world.sell(token: token)
            try await world.notify("ONE_TIME_CHARGE", of: after)
            #expect(try await world.outcome() == "granted")
            #expect(try await world.total(account) == 101)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `row 29: a charge of nobody known stays unclaimed until a post`(
        kind: StoreKind
    ) async throws {
        try await NotificationWorld.run(kind) { (world) async throws in
            let id = try world.sell()
            try await world.notify("ONE_TIME_CHARGE", of: id)
            #expect(try await world.outcome() == "unclaimed")
            guard case .granted = try await world.post(id, to: "u1") else {
                Issue.record("it wasn't granted to who posted it")
                return
            }
            #expect(try await world.total() == 100)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an unclaimed charge is granted once its token is linked`(kind: StoreKind) async throws {
        try await NotificationWorld.run(kind) { (world) async throws in
            let id = try world.sell(token: token)
            try await world.notify("ONE_TIME_CHARGE", of: id)
            #expect(try await world.outcome() == "unclaimed")
            try await world.link(token, to: "u1")
            await world.work()
            #expect(try await world.outcome() == "granted")
            #expect(try await world.total() == 100)
        }
    }

    @Test func `row 32: a charge that was posted before changes nothing`() async throws {
        try await NotificationWorld.run { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell(token: token)
            _ = try await world.post(id, to: "u1")
            try await world.notify("ONE_TIME_CHARGE", of: id)
            #expect(try await world.outcome() == "already_granted")
            #expect(try await world.total() == 100)
        }
    }

    @Test func `a charge of the sandbox gives play money, unless that's refused`() async throws {
        try await NotificationWorld.run { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell(token: token) { $0.environment = "Sandbox" }
            try await world.notify("ONE_TIME_CHARGE", of: id)
            #expect(try await world.total("u1", .sandbox) == 100)
            #expect(try await world.total() == 0)
        }
        try await NotificationWorld.run(.inMemory, { $0.sandbox = .refuse }) {
            (world) async throws in
            for owner in [token, nil] {
                let id = try world.sell(token: owner) { $0.environment = "Sandbox" }
                try await world.notify("ONE_TIME_CHARGE", of: id)
                #expect(try await world.outcome() == "sandbox_refused")
            }
        }
        try await NotificationWorld.run(.inMemory, { $0.sandbox = .allowList(["u2"]) }) {
            (world) async throws in
            let id = try world.sell(token: token) { $0.environment = "Sandbox" }
            try await world.notify("ONE_TIME_CHARGE", of: id)
            #expect(try await world.outcome() == "unclaimed")
            try await world.link(token, to: "u1")
            await world.work()
            #expect(try await world.outcome() == "sandbox_refused")
        }
    }

    @Test func `a charge for what isn't a consumable is refused, whosever it is`() async throws {
        try await NotificationWorld.run { (world) async throws in
            for owner in [token, nil] {
                let id = try world.sell(token: owner) {
                    $0.payload = JSONObject([.init("type", "Non-Consumable")])
                }
                try await world.notify("ONE_TIME_CHARGE", of: id)
                #expect(try await world.outcome() == "not_consumable")
            }
        }
    }

    @Test func `a charge for an unknown product waits until somebody mends the catalogue`()
        async throws
    {
        try await NotificationWorld.run { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell("coins500", token: token)
            try await world.notify("ONE_TIME_CHARGE", of: id)
            let dead = try #require(try await world.last(.dead))
            #expect(dead.outcome == "unknown_product")
            #expect(dead.attempts == 1)
            world.setProducts(["coins100", "coins500"])
            #expect(try await world.queue.retry(dead.id))
            await world.work()
            #expect(try await world.outcome() == "granted")
            #expect(try await world.total() == 100)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `rows 33, 35 and 36: a refund takes its part, once`(kind: StoreKind) async throws {
        try await NotificationWorld.run(kind) { (world) async throws in
            let id = try world.sell()
            _ = try await world.post(id, to: "u1")
            for (percentage, total, outcome, second) in [
                (33_500, 66, "refunded", 1), (33_500, 66, "unchanged", 1),
                (50_000, 50, "refunded", 2), (100_000, 0, "refunded", 3),
            ] as [(Int64, Int64, String, Int64)] {
                world.setTime(.noon(plus: second * 1000))
                try await world.deliver(world.shop.refund(id, percentage: percentage))
                #expect(try await world.outcome() == outcome)
                #expect(try await world.total() == total)
            }
        }
    }

    @Test func `row 34: a refund of what was spent leaves a debt`() async throws {
        try await NotificationWorld.run { (world) async throws in
            let id = try world.sell()
            _ = try await world.post(id, to: "u1")
            try await world.spend(70)
            try await world.deliver(world.shop.refund(id))
            #expect(try await world.outcome() == "refunded")
            #expect(try await world.total() == -70)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `rows 37 and 38: a reversal gives back, and an older refund comes too late`(
        kind: StoreKind
    ) async throws {
        try await NotificationWorld.run(kind) { (world) async throws in
            let id = try world.sell()
            _ = try await world.post(id, to: "u1")
            let refund = try world.shop.refund(id)
            world.setTime(.noon(plus: 1000))
            let late = try world.shop.notification("REFUND", of: id)
            world.setTime(.noon(plus: 2000))
            let reversal = try world.shop.reverseRefund(id)
            try await world.deliver(refund)
            #expect(try await world.total() == 0)
            try await world.deliver(reversal)
            #expect(try await world.outcome() == "refund_reversed")
            #expect(try await world.total() == 100)
            try await world.deliver(late)
            #expect(try await world.outcome() == "unchanged")
            #expect(try await world.total() == 100)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `rows 39 and 40: a refund before any post is remembered`(kind: StoreKind) async throws {
        try await NotificationWorld.run(kind) { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell(token: token)
            let charge = try world.shop.notification("ONE_TIME_CHARGE", of: id)
            world.setTime(.noon(plus: 1000))
            try await world.deliver(world.shop.refund(id))
            #expect(try await world.outcome() == "refund_remembered")
            #expect(try await world.post(id, to: "u1") == .refused(.refunded))
            try await world.deliver(charge)
            #expect(try await world.outcome() == "refunded")
            #expect(try await world.total() == 0)
        }
    }

    @Test func `a reversed refund of what nobody has is granted, or stays unclaimed`() async throws
    {
        try await NotificationWorld.run { (world) async throws in
            let id = try world.sell(token: token)
            try await world.deliver(world.shop.refund(id))
            world.setTime(.noon(plus: 1000))
            let refund = try world.shop.notification("REFUND", of: id)
            world.setTime(.noon(plus: 2000))
            try await world.deliver(world.shop.reverseRefund(id))
            #expect(try await world.outcome() == "unclaimed")
            try await world.link(token, to: "u1")
            await world.work()
            #expect(try await world.outcome() == "granted")
            #expect(try await world.total() == 100)
            try await world.deliver(refund)
            #expect(try await world.outcome() == "unchanged")
            #expect(try await world.total() == 100)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a reversal grants what nobody's token names to whoever posted it first`(
        kind: StoreKind
    ) async throws {
        try await NotificationWorld.run(kind) { (world) async throws in
            let id = try world.sell()
            world.setTime(.noon(plus: 1000))
            try await world.deliver(world.shop.refund(id))
            for account in ["u2", "u1", "u3"] as [AccountID] {
                world.setTime(.noon(plus: account == "u2" ? 2000 : 3000))
                #expect(try await world.post(id, to: account) == .refused(.refunded))
            }
            world.setTime(.noon(plus: 4000))
            #expect(try await world.post(id, to: "u2") == .refused(.refunded))
            try await world.deliver(world.shop.reverseRefund(id))
            #expect(try await world.outcome() == "granted")
            #expect(try await world.total("u2") == 100)
            #expect(try await world.post(id, to: "u1") == .grantedToOtherAccount)
        }
    }

    @Test func `a reversal that crosses the first post leaves the grant to the post`()
        async throws
    {
        try await NotificationWorld.run { (world) async throws in
            let id = try world.sell()
            world.setTime(.noon(plus: 1000))
            try await world.deliver(world.shop.refund(id))
            world.setTime(.noon(plus: 2000))
            let reversal = try world.shop.reverseRefund(id)
            let crossed = CrossedAttempts(store: world.store) {
                _ = try? await world.deliver(reversal)
            }
            let outcome = try await world.post(id, to: "u1", keepingAttemptsIn: crossed)
            #expect(outcome.code == "granted")
            #expect(try await world.outcome() == "unclaimed")
            #expect(try await world.total() == 100)
        }
    }

    @Test func `a claim that proves nothing is granted nothing by a reversal`() async throws {
        try await NotificationWorld.run { (world) async throws in
            let id = try world.sell()
            world.setTime(.noon(plus: 1000))
            try await world.deliver(world.shop.refund(id))
            let purchase = AttemptedPurchase(
                transactionID: try #require(TransactionID(id)), environment: .production,
                productID: "coins100", purchasedAt: .noon)
            for (code, isClaimed) in [("refunded", true), ("belongs_to_other_account", false)] {
                try await world.store.record(
                    FailedPost(
                        account: "u1", isClaimed: isClaimed,
                        receiptSHA256: Array(repeating: 0, count: 32), receipt: nil, time: .noon,
                        refusals: [FailedPost.Refusal(code: code, purchase: purchase)]))
            }
            try await world.deliver(world.shop.reverseRefund(id))
            #expect(try await world.outcome() == "unclaimed")
            #expect(try await world.total() == 0)
        }
    }

    @Test func `an older reversal of what was refunded again grants nothing`() async throws {
        try await NotificationWorld.run { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell(token: token)
            _ = try world.shop.refund(id)
            let reversal = try world.shop.reverseRefund(id)
            world.setTime(.noon(plus: 1000))
            try await world.deliver(world.shop.refund(id))
            try await world.deliver(reversal)
            #expect(try await world.outcome() == "refunded")
            #expect(try await world.total() == 0)
        }
    }

    @Test func `a refund says how much, or was a full one`() async throws {
        try await NotificationWorld.run { (world) async throws in
            for (type, percentage, outcome, total) in [
                (nil, nil, "refunded", 0), ("REFUND_FULL", nil, "refunded", 0),
                ("REFUND_FULL", 1000, "refunded", 0), (nil, 40_000, "refunded", 60),
                ("REFUND_PRORATED", 40_000, "refunded", 60),
                ("REFUND_PRORATED", nil, "refund_percentage_missing", 100),
                ("REFUND_PRORATED", 0, "refund_percentage_missing", 100),
                ("NEW", nil, "refund_percentage_missing", 100),
            ] as [(String?, Int64?, String, Int64)] {
                let id = try world.sell()
                let account = try #require(AccountID("a\(id)"))
                _ = try await world.post(id, to: account)
                try await world.notify("REFUND", of: id) {
                    $0.transaction = JSONObject([
                        .init("revocationDate", 1_796_040_000_000),
                        .init("revocationType", type.map(JSON.string) ?? .null),
                        .init("revocationPercentage", percentage.map(JSON.integer) ?? .null),
                    ])
                }
                let kept = try await world.store.notifications(
                    of: try #require(TransactionID(id)), limit: 1)
                #expect(kept.first?.outcome == outcome)
                #expect(kept.first?.state == (outcome == "refunded" ? .done : .dead))
                #expect(try await world.total(account) == total)
            }
        }
    }

    @Test func `a refund of what isn't a consumable isn't remembered`() async throws {
        try await NotificationWorld.run { (world) async throws in
            let id = try world.sell {
                $0.payload = JSONObject([.init("type", "Non-Consumable")])
            }
            try await world.deliver(world.shop.refund(id))
            #expect(try await world.outcome() == "not_consumable")
            #expect(try await world.store.heads().values.reduce(0, +) == 0)
        }
    }

    @Test(arguments: [
        ("REFUND_DECLINED", "recorded"), ("TEST", "recorded"), ("DID_RENEW", "ignored"),
        ("SOMETHING_NEW", "ignored"), ("refund", "ignored"),
    ])
    func `row 42: what asks for nothing changes nothing`(
        type: String, outcome: String
    ) async throws {
        try await NotificationWorld.run { (world) async throws in
            let id = try world.sell()
            _ = try await world.post(id, to: "u1")
            try await world.notify(type, of: id)
            #expect(try await world.outcome() == outcome)
            #expect(try await world.total() == 100)
        }
    }

    @Test(arguments: ["ONE_TIME_CHARGE", "REFUND", "REFUND_REVERSED", "CONSUMPTION_REQUEST"])
    func `one that must be about a transaction and isn't is dead`(type: String) async throws {
        try await NotificationWorld.run { (world) async throws in
            try await world.notify(type)
            #expect(try await world.last(.dead)?.outcome == "transaction_missing")
        }
    }

    /// All orders of a life's notifications, and the post among them, come to the same end.
    @Test(arguments: [token, nil])
    func `means the same in any order`(owner: AppAccountToken?) async throws {
        try await NotificationWorld.run { (world) async throws in
            try await world.link(token, to: "u1")
            for order in permutations(of: [0, 1, 2, 3]) {
                let before = try await world.total()
                let id = try world.sell(token: owner)
                let charge = try world.shop.notification("ONE_TIME_CHARGE", of: id)
                world.setTime(.noon(plus: 1000))
                let refund = try world.shop.refund(id, percentage: 60_000)
                world.setTime(.noon(plus: 2000))
                let reversal = try world.shop.reverseRefund(id)
                for step in order {
                    if step == 3 {
                        _ = try await world.post(id, to: "u1")
                    } else {
                        try await world.deliver([charge, refund, reversal][step])
                    }
                }
                #expect(try await world.total() == before + 100, "\(order)")
                world.setTime(.noon)
            }
        }
    }
}

/// Does something just before an attempt is kept.
private struct CrossedAttempts: AttemptStore {
    let store: any AttemptStore
    let cross: @Sendable () async -> Void

    func record(_ post: FailedPost) async throws(EventStoreError) {
        await cross()
        try await store.record(post)
    }

    func attempts(
        of transaction: TransactionID, limit: Int
    ) async throws(EventStoreError) -> [KeptAttempt] {
        try await store.attempts(of: transaction, limit: limit)
    }

    func attempts(
        of account: AccountID, where filter: AttemptFilter, limit: Int
    ) async throws(EventStoreError) -> [KeptAttempt] {
        try await store.attempts(of: account, where: filter, limit: limit)
    }

    func forgetAttempts(
        before time: Timestamp, limit: Int
    ) async throws(EventStoreError) -> Int {
        try await store.forgetAttempts(before: time, limit: limit)
    }
}

extension NotificationWorld {
    func spend(_ coins: Coins, of account: AccountID = "u1") async throws {
        let spend = Spend(
            environment: .production, coins: coins, purpose: .stamp,
            consumption: Consumption(order: .freeFirst, policyVersion: "test"))
        try await submit(.spend(spend), of: account)
    }
}

private func permutations(of elements: [Int]) -> [[Int]] {
    guard let first = elements.first else { return [[]] }
    return permutations(of: Array(elements.dropFirst())).flatMap { rest in
        (0...rest.count).map { index in
            var order = rest
            order.insert(first, at: index)
            return order
        }
    }
}
