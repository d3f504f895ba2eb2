import AppStoreStandIn
import Base
import CoinLedger
import CoinLedgerService
import EventStore
import LedgerTestSupport
import Testing

@Suite struct `Working on notifications` {
    @Test func `waits longer after each failure, and gives up after the twelfth`() async throws {
        try await NotificationWorld.run { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell(token: token)
            world.scripted.failAlways(.unavailable)
            try await world.notify("ONE_TIME_CHARGE", of: id)
            var now: Int64 = 0
            for (attempt, seconds) in [
                1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024,
            ].enumerated() {
                let kept = try #require(try await world.last(.pending))
                #expect(kept.attempts == Int64(attempt) + 1)
                now += Int64(seconds) * 1000
                #expect(kept.nextAttemptAt == .noon(plus: now))
                world.setTime(.noon(plus: now - 1))
                await world.work()
                #expect(try await world.last(.pending)?.attempts == Int64(attempt) + 1)
                world.setTime(.noon(plus: now))
                await world.work()
            }
            let dead = try #require(try await world.last(.dead))
            #expect(dead.attempts == 12)
            #expect(dead.outcome == "ledger_unavailable")
            // Somebody has it tried again.
            world.scripted.failAlways(nil)
            #expect(try await world.queue.retry(dead.id))
            await world.work()
            #expect(try await world.outcome() == "granted")
            #expect(try await world.total() == 100)
        }
    }

    @Test func `goes on once the ledger is back`() async throws {
        try await NotificationWorld.run { (world) async throws in
            let id = try world.sell()
            _ = try await world.post(id, to: "u1")
            world.scripted.fail(.unavailable, .unavailable)
            try await world.deliver(world.shop.refund(id))
            #expect(try await world.total() == 100)
            for seconds in [1, 3] as [Int64] {
                world.setTime(.noon(plus: seconds * 1000))
                await world.work()
            }
            #expect(try await world.outcome() == "refunded")
            #expect(try await world.total() == 0)
        }
    }

    @Test func `acts once although the answer of the ledger was lost`() async throws {
        try await NotificationWorld.run { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell(token: token)
            world.scripted.fail(.unknownAfter)
            try await world.notify("ONE_TIME_CHARGE", of: id)
            #expect(try await world.outcome() == "granted")
            #expect(try await world.total() == 100)
        }
    }

    @Test func `takes up what a process that died had taken, once its lease has ended`()
        async throws
    {
        try await NotificationWorld.run { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell(token: token)
            let signed = try world.shop.notification("ONE_TIME_CHARGE", of: id)
            #expect(try await world.intake.accept(signed) == .accepted)
            let lease = NotificationProcessor.leaseMilliseconds
            let claimed = try await world.store.claimNotifications(
                due: .noon, leaseEnd: .noon(plus: lease), limit: 64)
            #expect(claimed.count == 1)
            world.setTime(.noon(plus: lease - 1))
            await world.work()
            #expect(try await world.total() == 0)
            world.setTime(.noon(plus: lease))
            await world.work()
            #expect(try await world.total() == 100)
        }
    }

    @Test func `gives up what has ended the process twelve times`() async throws {
        try await NotificationWorld.run { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell(token: token)
            let signed = try world.shop.notification("ONE_TIME_CHARGE", of: id)
            _ = try await world.intake.accept(signed)
            for _ in 0..<NotificationProcessor.attemptsMax {
                let claimed = try await world.store.claimNotifications(
                    due: .noon, leaseEnd: .noon, limit: 64)
                #expect(claimed.count == 1)
            }
            await world.work()
            #expect(try await world.last(.dead)?.outcome == "attempts_exhausted")
            #expect(try await world.total() == 0)
        }
    }

    @Test func `works on others while one is held up`() async throws {
        try await NotificationWorld.run { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell(token: token)
            world.scripted.hold()
            let charge = try world.shop.notification("ONE_TIME_CHARGE", of: id)
            #expect(try await world.intake.accept(charge) == .accepted)
            #expect(await world.processor.takeUp() == 1)
            await world.scripted.waitUntilHeld()
            let test = try world.shop.notification("TEST")
            #expect(try await world.intake.accept(test) == .accepted)
            #expect(await world.processor.takeUp() == 1)
            while try await world.outcome() != "recorded" { await Task.yield() }
            #expect(try await world.last(.pending)?.received.type == "ONE_TIME_CHARGE")
            world.scripted.release()
            await world.processor.finish()
            #expect(try await world.outcome() != nil)
            #expect(try await world.total() == 100)
        }
    }

    @Test func `does not begin again what is under way when its lease ends`() async throws {
        try await NotificationWorld.run { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell(token: token)
            world.scripted.hold()
            _ = try await world.intake.accept(world.shop.notification("ONE_TIME_CHARGE", of: id))
            #expect(await world.processor.takeUp() == 1)
            await world.scripted.waitUntilHeld()
            world.setTime(.noon(plus: NotificationProcessor.leaseMilliseconds))
            #expect(await world.processor.takeUp() == 1)
            world.scripted.release()
            await world.processor.finish()
            #expect(world.scripted.appends == 2)
            #expect(try await world.outcome() == "granted")
            #expect(try await world.total() == 100)
        }
    }

    @Test func `takes those of one transaction in the order of their signatures`() async throws {
        try await NotificationWorld.run { (world) async throws in
            try await world.link(token, to: "u1")
            let id = try world.sell(token: token)
            let charge = try world.shop.notification("ONE_TIME_CHARGE", of: id)
            world.setTime(.noon(plus: 1000))
            let refund = try world.shop.refund(id)
            world.setTime(.noon(plus: 2000))
            let reversal = try world.shop.reverseRefund(id)
            for signed in [reversal, refund, charge] { _ = try await world.intake.accept(signed) }
            await world.work()
            let outcomes = try await world.store.notifications(in: .done, after: 0, limit: 9)
                .map(\.outcome)
            #expect(outcomes == ["refund_reversed", "refunded", "granted"])
            #expect(try await world.total() == 100)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `works off more than it takes up at once`(kind: StoreKind) async throws {
        try await NotificationWorld.run(kind) { (world) async throws in
            try await world.link(token, to: "u1")
            for _ in 0..<150 {
                let id = try world.sell(token: token)
                _ = try await world.intake.accept(
                    world.shop.notification("ONE_TIME_CHARGE", of: id))
            }
            #expect(await world.processor.takeUp() == NotificationProcessor.underWayMax)
            await world.processor.finish()
            await world.work()
            #expect(try await world.last(.pending) == nil)
            #expect(try await world.total() == 15_000)
        }
    }

    @Test func `takes nothing up after a stop`() async throws {
        try await NotificationWorld.run { (world) async throws in
            await world.processor.stop()
            try await world.notify("TEST")
            #expect(try await world.last(.pending)?.attempts == 0)
        }
    }

    @Test func `is woken by what comes in, and by what is to be tried again`() async throws {
        try await NotificationWorld.run { (world) async throws in
            _ = try await world.intake.accept(world.shop.notification("REFUND"))
            await world.bell.wait()
            await world.work()
            let dead = try #require(try await world.last(.dead))
            #expect(try await world.queue.retry(dead.id))
            await world.bell.wait()
            #expect(try await world.last(.pending)?.id == dead.id)
        }
    }
}
