import AppStoreStandIn
import Base
import TestSupport
import Testing

/// The store and the service by themselves: no client posts anything.
@Suite(.timeLimit(.minutes(15))) struct `Notifications that the store sends` {
    private static let token = "2f5c7a3e-9b1d-4c6f-8a2e-0d4b6c8e1f3a"

    private func connect(_ world: World) throws -> StandInNotifications {
        let notifications = world.shop.store.notifications
        notifications.setTarget("http://127.0.0.1:\(world.port)/v1/app-store/notifications")
        #expect(try world.linkToken(Self.token, to: "u1").status == 200)
        return notifications
    }

    private func isTotal(_ total: Int64, _ world: World) throws -> Bool {
        try eventually { try world.total() == total ? true : nil } ?? false
    }

    private func results(_ notifications: StandInNotifications) -> [[SendAttemptResult]] {
        notifications.list().map { $0.attempts.map(\.result) }
    }

    @Test func `grant a purchase, take its coins back and give them again`() async throws {
        try await World.run { world throws in
            let notifications = try connect(world)
            let sale = try world.shop.sell { $0.appAccountToken = Self.token }
            #expect(try isTotal(100, world))
            try world.shop.store.refund(sale.transactionID, percentage: 40_000)
            #expect(try isTotal(60, world))
            try world.shop.store.refund(sale.transactionID)
            #expect(try isTotal(0, world))
            try world.shop.store.reverseRefund(sale.transactionID)
            #expect(try isTotal(100, world))
            #expect(try world.post(sale).status == 409)
            // The coins may be there before the store has read the answer.
            #expect(eventually { notifications.isIdle ? true : nil } == true)
            #expect(results(notifications) == Array(repeating: [.success], count: 4))
        }
    }

    @Test func `count once, however often they come`() async throws {
        try await World.run { world throws in
            let notifications = try connect(world)
            notifications.setClockRate(3_600_000)
            notifications.add(NotificationFault(.duplicate(copies: 5), times: 2))
            notifications.add(NotificationFault(.loseAnswer, times: 3))
            let sale = try world.shop.sell { $0.appAccountToken = Self.token }
            #expect(try isTotal(100, world))
            #expect(eventually { notifications.isIdle ? true : nil } == true)
            try world.shop.store.refund(sale.transactionID, percentage: 50_000)
            #expect(try isTotal(50, world))
            #expect(eventually { notifications.isIdle ? true : nil } == true)
            #expect(
                results(notifications) == [
                    [.timedOut, .timedOut, .timedOut, .success], [.success],
                ])
            let stored = "SELECT count(*) FROM coinledger.store_notifications"
            #expect(try world.ledger.count(stored) == 2)
            #expect(try world.total() == 50)
        }
    }

    @Test func `may tell of the refund before the purchase`() async throws {
        try await World.run { world throws in
            let notifications = try connect(world)
            notifications.add(NotificationFault(.reorder(behind: 1), type: "ONE_TIME_CHARGE"))
            let sale = try world.shop.sell { $0.appAccountToken = Self.token }
            try world.shop.store.refund(sale.transactionID)
            #expect(eventually { notifications.isIdle ? true : nil } == true)
            // They are answered before they are acted on.
            let done = "SELECT count(*) FROM coinledger.store_notifications WHERE state = 'done'"
            let isDone = try eventually { try world.ledger.count(done) == 2 ? true : nil }
            #expect(isDone == true)
            #expect(try world.post(sale).status == 409)
            #expect(try world.total() == 0)
        }
    }

    @Test func `are delivered when the service is back`() async throws {
        try await World.run { world throws in
            let notifications = try connect(world)
            notifications.setTarget("http://127.0.0.1:1/")
            _ = try world.shop.sell { $0.appAccountToken = Self.token }
            let failed = eventually {
                notifications.list().first?.attempts.isEmpty == false ? true : nil
            }
            #expect(failed == true)
            #expect(!notifications.isIdle)
            #expect(try world.total() == 0)
            _ = try connect(world)
            notifications.setClockRate(3_600_000)
            #expect(try isTotal(100, world))
            #expect(eventually { notifications.isIdle ? true : nil } == true)
            #expect(results(notifications) == [[.socketIssue, .success]])
        }
    }

    @Test func `are refused if somebody else signed them, or what is in them`() async throws {
        try await World.run { world throws in
            let notifications = try connect(world)
            notifications.setClockRate(100_000_000)
            notifications.add(NotificationFault(.inner(.chain(.foreignRoot))))
            _ = try world.shop.sell { $0.appAccountToken = Self.token }
            #expect(eventually { notifications.isIdle ? true : nil } == true)
            notifications.add(NotificationFault(.outer(.wrongSignature)))
            _ = try world.shop.sell { $0.appAccountToken = Self.token }
            #expect(eventually { notifications.isIdle ? true : nil } == true)
            #expect(notifications.list().map(\.stage) == [.failed, .failed])
            #expect(
                try world.ledger.count("SELECT count(*) FROM coinledger.store_notifications")
                    == 0)
            #expect(try world.total() == 0)
        }
    }
}
