import AppStore
import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerService
import EventStore
import LedgerTestSupport
import Testing

@Suite struct `Taking notifications in` {
    @Test(arguments: StoreKind.allCases)
    func `keeps each once, with what it is about`(kind: StoreKind) async throws {
        try await NotificationWorld.run(kind) { (world) async throws in
            let id = try world.sell(token: token)
            let signed = try world.shop.notification("REFUND", of: id) {
                $0.uuid = "00000000-0000-4000-8000-000000000001"
                $0.subtype = "X"
            }
            #expect(try await world.intake.accept(signed) == .accepted)
            for _ in 0..<3 { #expect(try await world.intake.accept(signed) == .duplicate) }
            let kept = try #require(try await world.store.notification(.numbered(1)))
            #expect(kept.state == .pending)
            #expect(kept.received.type == "REFUND")
            #expect(kept.received.subtype == "X")
            #expect(kept.received.signedAt == .noon)
            #expect(kept.received.environment == .production)
            #expect(kept.received.signedPayload == Array(signed.utf8))
            #expect(kept.received.transaction?.id.text == id)
            #expect(kept.received.transaction?.originalID.text == id)
            #expect(kept.received.transaction?.productID == "coins100")
            #expect(kept.received.transaction?.appAccountToken == token)
        }
    }

    @Test func `believes one of a name alone, whatever it says`() async throws {
        try await NotificationWorld.run { (world) async throws in
            let uuid = "00000000-0000-4000-8000-000000000001"
            let id = try world.sell()
            #expect(try await world.notify("TEST") { $0.uuid = uuid } == .accepted)
            #expect(
                try await world.notify("ONE_TIME_CHARGE", of: id) { $0.uuid = uuid } == .duplicate)
            #expect(try await world.outcome() == "recorded")
        }
    }

    static let forgeries: [(PurchaseFault?, PurchaseFault?, SignedNotificationError)] = [
        (.wrongSignature, nil, .notification(.badSignature)),
        (.chain(.foreignRoot), nil, .notification(.untrustedChain)),
        (nil, .wrongSignature, .transaction(.badSignature)),
        (nil, .chain(.foreignRoot), .transaction(.untrustedChain)),
        (nil, .wrongBundle, .transactionMismatch),
    ]

    @Test(arguments: forgeries)
    func `keeps nothing that isn't genuine`(
        fault: PurchaseFault?, innerFault: PurchaseFault?, error: SignedNotificationError
    ) async throws {
        try await NotificationWorld.run { (world) async throws in
            let id = try world.sell()
            let signed = try world.shop.notification("ONE_TIME_CHARGE", of: id) {
                ($0.fault, $0.innerFault) = (fault, innerFault)
            }
            await #expect(throws: NotificationIntake.Failure.untrusted(error)) {
                try await world.intake.accept(signed)
            }
            #expect(try await world.last(.pending) == nil)
        }
    }

    @Test func `ignores other apps and other worlds`() async throws {
        try await NotificationWorld.run(.inMemory, { $0.appIDs = [1_234_567_890] }) {
            (world) async throws in
            let other = JSONObject([.init("bundleId", "com.example.other")])
            #expect(try await world.notify("TEST") { $0.data = other } == .ignored)
            for environment in ["Xcode", "LocalTesting", "Moon"] {
                #expect(
                    try await world.notify("TEST") { $0.environment = environment } == .ignored)
            }
            for appID: JSON in [5, nil] {
                let data = JSONObject([.init("appAppleId", appID)])
                #expect(try await world.notify("TEST") { $0.data = data } == .ignored)
            }
            #expect(try await world.last(.pending) == nil)
            #expect(try await world.last() == nil)
            // The sandbox states no app id.
            #expect(try await world.notify("TEST") { $0.environment = "Sandbox" } == .accepted)
            #expect(try await world.notify("TEST") == .accepted)
        }
    }

    @Test func `takes any app id if none is given`() async throws {
        try await NotificationWorld.run { (world) async throws in
            let data = JSONObject([.init("appAppleId", 5)])
            #expect(try await world.notify("TEST") { $0.data = data } == .accepted)
        }
    }
}
