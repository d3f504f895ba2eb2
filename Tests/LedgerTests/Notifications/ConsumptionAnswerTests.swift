import AppStoreConnection
import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerService
import EventStore
import LedgerTestSupport
import Testing

private let hour: Int64 = 3_600_000

@Suite struct `Answering how much was used` {
    /// Sells and grants to u1, who has consented, and spends some.
    private func begin(_ world: NotificationWorld, spent: Coins = 30) async throws -> String {
        let id = try world.sell()
        _ = try await world.post(id, to: "u1")
        try await world.submit(.recordConsent(ConsentRecorded(isGiven: true)), of: "u1")
        if spent > .zero { try await world.spend(spent) }
        return id
    }

    private func ask(_ world: NotificationWorld, _ id: String) async throws {
        try await world.deliver(world.shop.requestConsumption(id))
    }

    @Test(arguments: StoreKind.allCases)
    func `row 41: says what was spent of the purchase, once`(kind: StoreKind) async throws {
        try await NotificationWorld.run(kind) { (world) async throws in
            let id = try await begin(world)
            let request = try world.shop.requestConsumption(id)
            for _ in 0..<3 { try await world.deliver(request) }
            #expect(try await world.outcome() == "consumption_sent")
            #expect(
                world.consumptions == [
                    try information(percentage: 30_000)
                ])
            let detail = try JSON.parse(Array((try await world.last()?.detail ?? "").utf8))
            #expect(
                detail == [
                    "consumption": [
                        "customerConsented": true, "deliveryStatus": "DELIVERED",
                        "sampleContentProvided": false, "consumptionPercentage": 30_000,
                    ]
                ])
            #expect(try await world.total() == 70)
        }
    }

    private func information(
        percentage: Int64, _ preference: ConsumptionInformation.RefundPreference? = nil
    ) throws -> ConsumptionInformation {
        try #require(
            ConsumptionInformation(
                deliveryStatus: .delivered, consumptionPercentage: percentage,
                refundPreference: preference))
    }

    static let preferences: [(ConsumptionInformation.RefundPreference, Coins, Bool)] = [
        (.decline, 0, true), (.grantFull, 0, true), (.grantProrated, 30, true),
        // The store takes no proration of nothing.
        (.grantProrated, 0, false),
    ]

    @Test(arguments: preferences)
    func `says what we would like, where it may be said`(
        preference: ConsumptionInformation.RefundPreference, spent: Coins, isSaid: Bool
    ) async throws {
        try await NotificationWorld.run(.inMemory, { $0.preference = preference }) {
            (world) async throws in
            let id = try await begin(world, spent: spent)
            try await ask(world, id)
            let expected = try information(
                percentage: spent.amount * 1000, isSaid ? preference : nil)
            #expect(world.consumptions == [expected])
        }
    }

    @Test func `says nothing without consent, or once it's withdrawn`() async throws {
        try await NotificationWorld.run { (world) async throws in
            let id = try world.sell()
            _ = try await world.post(id, to: "u1")
            try await ask(world, id)
            #expect(try await world.outcome() == "no_consent")
            try await world.submit(.recordConsent(ConsentRecorded(isGiven: true)), of: "u1")
            world.setStoreError(.unauthorized)
            try await ask(world, id)
            #expect(world.consumptions.count == 1)
            try await world.submit(.recordConsent(ConsentRecorded(isGiven: false)), of: "u1")
            world.setTime(.noon(plus: hour))
            await world.work()
            #expect(try await world.outcome() == "no_consent")
            #expect(world.consumptions.count == 1)
        }
    }

    @Test func `says nothing of what nobody has`() async throws {
        try await NotificationWorld.run { (world) async throws in
            let id = try world.sell()
            try await ask(world, id)
            #expect(try await world.outcome() == "not_granted")
            let refunded = try world.sell()
            try await world.deliver(world.shop.refund(refunded))
            try await ask(world, refunded)
            #expect(try await world.outcome() == "not_granted")
        }
    }

    @Test(arguments: [nil, "com.example.other"])
    func `says nothing without a key of the app's`(bundleID: String?) async throws {
        try await NotificationWorld.run(.inMemory, { $0.apiBundleID = bundleID }) {
            (world) async throws in
            let id = try await begin(world)
            try await ask(world, id)
            #expect(try await world.outcome() == "not_configured")
            #expect(world.consumptions == [])
        }
    }

    @Test func `tries for twelve hours, and says the same again`() async throws {
        try await NotificationWorld.run { (world) async throws in
            let id = try await begin(world)
            world.setStoreError(.unavailable(.notJSON))
            try await ask(world, id)
            #expect(world.consumptions.count == 1)
            // More is spent meanwhile, but the answer is given already.
            try await world.spend(10)
            var last = Timestamp.noon
            while true {
                let next = try #require(try await world.last(.pending)?.nextAttemptAt)
                #expect(next.milliseconds - last.milliseconds <= 600_000)
                last = next
                world.setTime(next)
                guard next < .noon(plus: 12 * hour - 600_000) else { break }
                await world.work()
            }
            #expect(world.consumptions.count > 72)
            #expect(Set(world.consumptions) == [try information(percentage: 30_000)])
            world.setStoreError(nil)
            await world.work()
            #expect(try await world.outcome() == "consumption_sent")
        }
    }

    @Test func `comes too late after twelve hours`() async throws {
        try await NotificationWorld.run { (world) async throws in
            let id = try await begin(world)
            world.setStoreError(.rateLimited(until: nil))
            try await ask(world, id)
            let attempts = world.consumptions.count
            world.setTime(.noon(plus: 12 * hour))
            await world.work()
            #expect(try await world.outcome() == "too_late")
            #expect(world.consumptions.count == attempts)
        }
    }

    static let refusals: [(AppStoreServerError, JSON)] = [
        (.refused(status: 400, code: 4_000_035, message: "x"), 4_000_035),
        (.notFound(code: 4_040_010), 4_040_010),
        (.refused(status: 400, code: nil, message: "x"), .null),
    ]

    @Test(arguments: refusals)
    func `takes the store's no for an answer`(
        error: AppStoreServerError, code: JSON
    ) async throws {
        try await NotificationWorld.run { (world) async throws in
            let id = try await begin(world)
            world.setStoreError(error)
            try await ask(world, id)
            let kept = try #require(try await world.last())
            #expect(kept.outcome == "store_refused")
            let detail = try JSON.parse(Array((kept.detail ?? "").utf8))
            #expect(detail["storeCode"] ?? .null == code)
            #expect(detail["consumption"]?["consumptionPercentage"] == 30_000)
        }
    }
}
