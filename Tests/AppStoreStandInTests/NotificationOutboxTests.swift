import Testing

@testable import AppStoreStandIn

@Suite struct `The schedule of notifications` {
    private let hour: Int64 = 3_600_000

    private func notification(_ uuid: String, _ environment: String = "Production")
        -> SignedNotification
    {
        SignedNotification(
            uuid: uuid, type: "REFUND", subtype: nil, environment: environment,
            transactionID: nil, originalTransactionID: nil, signedDate: noon, signedPayload: "")
    }

    private func add(
        _ uuid: String, _ environment: String = "Production", behind: Int = 0,
        to outbox: inout NotificationOutbox
    ) {
        let isAdded = outbox.add(
            notification(uuid, environment), testToken: nil, copies: 0, behind: behind,
            heldUntil: 60_000, due: 0)
        #expect(isAdded)
    }

    private func take(_ outbox: inout NotificationOutbox, at now: Int64) -> [String] {
        outbox.takeDue(at: now).map { $0.notification.notification.uuid }
    }

    private func resend(_ uuid: String, _ outbox: inout NotificationOutbox, at now: Int64) -> Bool {
        outbox.resend(uuid, at: now)
    }

    private func nextDue(_ outbox: inout NotificationOutbox) -> Int64? { outbox.nextDue() }

    private let failure = SendAttempt(date: noon, result: .unsuccessfulStatus)
    private let success = SendAttempt(date: noon, result: .success)

    @Test func `tries six times over 157 hours in production`() {
        var outbox = NotificationOutbox()
        add("a", to: &outbox)
        var now: Int64 = 0
        for pause: Int64 in [0, 1, 12, 24, 48, 72] {
            if pause > 0 { #expect(take(&outbox, at: now + pause * hour - 1) == []) }
            now += pause * hour
            #expect(nextDue(&outbox) == now)
            #expect(take(&outbox, at: now) == ["a"])
            #expect(!outbox.isIdle)
            outbox.finish(0, failure, at: now)
        }
        #expect(nextDue(&outbox) == nil)
        #expect(outbox.isIdle)
        let sent = outbox.list(limit: 10) { _ in true }
        #expect(sent.map(\.stage) == [.failed])
        #expect(sent.first?.attempts.count == 6)
        #expect(now == 157 * hour)
    }

    @Test func `tries once in the sandbox`() {
        var outbox = NotificationOutbox()
        add("a", "Sandbox", to: &outbox)
        #expect(take(&outbox, at: 0) == ["a"])
        outbox.finish(0, failure, at: 0)
        #expect(nextDue(&outbox) == nil)
        #expect(outbox.isIdle)
    }

    @Test func `ends with success`() {
        var outbox = NotificationOutbox()
        add("a", to: &outbox)
        _ = take(&outbox, at: 0)
        outbox.finish(0, failure, at: 0)
        #expect(take(&outbox, at: hour) == ["a"])
        outbox.finish(0, success, at: hour)
        #expect(nextDue(&outbox) == nil)
        #expect(outbox.list(limit: 1) { $0.stage == .delivered }.first?.attempts.count == 2)
    }

    @Test func `sends what is held back after others, or after a minute`() {
        var outbox = NotificationOutbox()
        add("late", behind: 2, to: &outbox)
        for uuid in ["a", "b"] { add(uuid, to: &outbox) }
        #expect(take(&outbox, at: 0) == ["a", "b"])
        outbox.finish(1, success, at: 5)
        #expect(take(&outbox, at: 5) == [])
        outbox.finish(2, success, at: 6)
        #expect(take(&outbox, at: 6) == ["late"])
        add("lonely", behind: 1, to: &outbox)
        #expect(take(&outbox, at: 59_999) == [])
        #expect(take(&outbox, at: 60_000) == ["lonely"])
    }

    @Test func `lets go of all that is held back`() {
        var outbox = NotificationOutbox()
        add("a", behind: 9, to: &outbox)
        outbox.releaseAll(at: 7)
        #expect(take(&outbox, at: 7) == ["a"])
    }

    @Test func `sends again on request, at once and beyond the schedule`() {
        var outbox = NotificationOutbox()
        add("a", to: &outbox)
        #expect(resend("a", &outbox, at: 0))
        #expect(take(&outbox, at: 0) == ["a"])
        #expect(!resend("a", &outbox, at: 0))
        outbox.finish(0, failure, at: 0)
        #expect(resend("a", &outbox, at: 5))
        #expect(take(&outbox, at: 5) == ["a"])
        outbox.finish(0, success, at: 5)
        #expect(outbox.isIdle)
        #expect(resend("a", &outbox, at: 6))
        #expect(!outbox.isIdle)
        #expect(take(&outbox, at: 6) == ["a"])
        // What the failed attempt had scheduled is no longer due.
        outbox.finish(0, success, at: 6)
        #expect(nextDue(&outbox) == nil)
        #expect(!resend("b", &outbox, at: 0))
    }

    @Test func `has 32 under way at most`() {
        var outbox = NotificationOutbox()
        for index in 0..<40 { add("n\(index)", to: &outbox) }
        #expect(take(&outbox, at: 0).count == 32)
        #expect(nextDue(&outbox) == nil)
        outbox.finish(0, success, at: 0)
        #expect(take(&outbox, at: 0) == ["n32"])
    }

    @Test func `forgets the oldest that have ended, and takes no more if there are none`() {
        var outbox = NotificationOutbox()
        for index in 0..<20_000 { add("n\(index)", to: &outbox) }
        #expect(!outbox.hasRoom)
        let refused = outbox.add(
            notification("x"), testToken: nil, copies: 0, behind: 0, heldUntil: 0, due: 0)
        #expect(!refused)
        _ = take(&outbox, at: 0)
        outbox.finish(0, success, at: 0)
        outbox.finish(1, success, at: 0)
        #expect(outbox.hasRoom)
        add("x", to: &outbox)
        let list = outbox.list(limit: .max) { _ in true }
        #expect(list.first?.notification.uuid == "n2")
        #expect(list.last?.notification.uuid == "x")
        #expect(list.last?.ordinal == 20_000)
        #expect(outbox.list(after: 19_999, limit: 5) { _ in true }.count == 1)
        #expect(outbox.list(after: 20_000, limit: 5) { _ in true }.isEmpty)
        outbox.finish(2, success, at: 0)
        #expect(!resend("n0", &outbox, at: 0))
    }

    @Test func `has a clock that may run fast`() {
        var clock = ScheduleClock(now: 1000)
        #expect(clock.reading(at: 1500) == 500)
        clock.setRate(3600, at: 1500)
        #expect(clock.reading(at: 2500) == 500 + 3_600_000)
        #expect(clock.wait(until: 500 + 3_600_000, from: 1500) == 1000)
        #expect(clock.wait(until: 501, from: 1500) == 1)
        #expect(clock.wait(until: 400, from: 1500) == 0)
        clock.setRate(1, at: 2500)
        #expect(clock.reading(at: 2501) == 501 + 3_600_000)
        clock.setRate(100_000_000, at: 2501)
        #expect(clock.reading(at: .max) == .max / 2)
    }
}
