/// What is to be sent and what was, and when: without network, clock or chance.
///
/// Instants called `due` are those of the schedule's clock, which may run fast; all others are
/// milliseconds since 1970.
struct NotificationOutbox: Sendable {
    private var entries: [Entry] = []
    /// The ordinal of the first entry: earlier ones are forgotten.
    private var firstOrdinal = 0
    /// The entries that wait, the next one last. One that isn't due at that time any more is stale.
    private var waiting: [(due: Int64, ordinal: Int)] = []
    private var held: [Int] = []
    private var sendingCount = 0
    /// How many were neither delivered nor given up yet.
    private var openCount = 0

    /// Signed payloads have 8 kB.
    static let notificationsMax = 20_000
    /// So many are forgotten at once to make room, if they have ended.
    private static let forgottenAtOnce = 1000
    /// How many requests are under way at once.
    static let sendingMax = 32

    /// How long after each failed attempt the next one follows: hours, as Apple states them.
    private static let productionPausesHours: [Int64] = [1, 12, 24, 48, 72]
    private static let hourMilliseconds: Int64 = 3_600_000

    private struct Entry: Sendable {
        var sent: SentNotification
        var due: Int64
        /// How many others are to be delivered before it.
        var behind = 0
        /// How often it's sent at once the first time, beyond the one time.
        var copies: Int

        var hasEnded: Bool { sent.stage == .delivered || sent.stage == .failed }
    }

    var hasRoom: Bool {
        entries.count < NotificationOutbox.notificationsMax || entries.first?.hasEnded == true
    }

    /// Takes a notification to send now, or after `behind` others if that's more than none, but at
    /// the latest at `heldUntil`. False if there's no room.
    mutating func add(
        _ notification: SignedNotification, testToken: String?, copies: Int, behind: Int,
        heldUntil: Int64, due: Int64
    ) -> Bool {
        guard makeRoom() else { return false }
        let ordinal = firstOrdinal + entries.count
        let sent = SentNotification(
            ordinal: ordinal, notification: notification, testToken: testToken)
        let start = behind > 0 ? heldUntil : due
        entries.append(Entry(sent: sent, due: start, behind: behind, copies: copies))
        openCount += 1
        if behind > 0 { held.append(ordinal) }
        wait(ordinal, until: start)
        return true
    }

    /// The next notifications to send, which are under way from now on.
    mutating func takeDue(at now: Int64) -> [(notification: SentNotification, copies: Int)] {
        var taken: [(notification: SentNotification, copies: Int)] = []
        while sendingCount < NotificationOutbox.sendingMax, let next = nextWaiting(),
            next.due <= now
        {
            waiting.removeLast()
            held.removeAll { $0 == next.ordinal }
            sendingCount += 1
            let index = next.ordinal - firstOrdinal
            entries[index].sent.stage = .sending
            taken.append((entries[index].sent, entries[index].copies))
            entries[index].copies = 0
        }
        return taken
    }

    /// When the next one has to be sent; nil if there's none, or as many as may be are under way.
    mutating func nextDue() -> Int64? {
        sendingCount < NotificationOutbox.sendingMax ? nextWaiting()?.due : nil
    }

    /// Notes how an attempt went. Another one follows if it failed and the schedule has one.
    mutating func finish(_ ordinal: Int, _ attempt: SendAttempt, at now: Int64) {
        sendingCount -= 1
        let index = ordinal - firstOrdinal
        entries[index].sent.attempts.append(attempt)
        if attempt.result == .success {
            entries[index].sent.stage = .delivered
            openCount -= 1
            releaseHeld(at: now)
        } else if let pause = NotificationOutbox.pauseMilliseconds(after: entries[index].sent) {
            entries[index].sent.stage = .waiting
            wait(ordinal, until: now + pause)
        } else {
            entries[index].sent.stage = .failed
            openCount -= 1
        }
    }

    /// Sends a notification once more, now; false if it's unknown or under way.
    mutating func resend(_ uuid: String, at now: Int64) -> Bool {
        guard let index = entries.lastIndex(where: { $0.sent.notification.uuid == uuid }),
            entries[index].sent.stage != .sending
        else { return false }
        if entries[index].hasEnded { openCount += 1 }
        entries[index].sent.stage = .waiting
        wait(firstOrdinal + index, until: now)
        return true
    }

    /// Lets go of all that are held back.
    mutating func releaseAll(at now: Int64) {
        for ordinal in held { wait(ordinal, until: now) }
        held = []
    }

    /// Those that `isWanted`, after the one with this ordinal, in the order of their making.
    func list(
        after ordinal: Int = -1, limit: Int, where isWanted: (SentNotification) -> Bool
    ) -> [SentNotification] {
        let start = max(0, ordinal + 1 - firstOrdinal)
        guard start < entries.count else { return [] }
        return Array(entries[start...].lazy.map(\.sent).filter(isWanted).prefix(limit))
    }

    /// Whether everything was delivered or given up.
    var isIdle: Bool { openCount == 0 }

    private static func pauseMilliseconds(after sent: SentNotification) -> Int64? {
        guard sent.notification.environment == StoreName.production,
            sent.attempts.count <= productionPausesHours.count
        else { return nil }
        return productionPausesHours[sent.attempts.count - 1] * hourMilliseconds
    }

    private mutating func makeRoom() -> Bool {
        guard entries.count >= NotificationOutbox.notificationsMax else { return true }
        let ended = entries.prefix(NotificationOutbox.forgottenAtOnce).prefix { $0.hasEnded }
        entries.removeFirst(ended.count)
        firstOrdinal += ended.count
        return !ended.isEmpty
    }

    private mutating func releaseHeld(at now: Int64) {
        for ordinal in held {
            entries[ordinal - firstOrdinal].behind -= 1
            if entries[ordinal - firstOrdinal].behind == 0 { wait(ordinal, until: now) }
        }
        held.removeAll { entries[$0 - firstOrdinal].behind == 0 }
    }

    private mutating func wait(_ ordinal: Int, until due: Int64) {
        entries[ordinal - firstOrdinal].due = due
        var low = 0
        var high = waiting.count
        while low < high {
            let middle = (low + high) / 2
            if waiting[middle] > (due, ordinal) { low = middle + 1 } else { high = middle }
        }
        waiting.insert((due, ordinal), at: low)
    }

    /// The next one that waits, without the stale ones before it.
    private mutating func nextWaiting() -> (due: Int64, ordinal: Int)? {
        while let next = waiting.last {
            let index = next.ordinal - firstOrdinal
            if index >= 0, entries[index].sent.stage == .waiting, entries[index].due == next.due {
                return next
            }
            waiting.removeLast()
        }
        return nil
    }
}
