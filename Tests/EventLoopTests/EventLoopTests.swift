import Base
import Glibc
import Testing

@testable import EventLoop

/// Collects what happened, in its order, from the loop's thread.
private final class Record: Sendable {
    private let lines = Lock<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}

@Suite(.timeLimit(.minutes(15))) struct `Timers of a loop` {
    @Test func `fire by deadline, and those of one deadline in the order they were added`() {
        let loop = EventLoop()
        let record = Record()
        loop.run {
            loop.after(milliseconds: 20) { record.add("last") }
            loop.after(milliseconds: 0) { record.add("first") }
            loop.after(milliseconds: 0) { record.add("second") }
            loop.after(milliseconds: 0) { record.add("third") }
            await loop.sleep(milliseconds: 21)
        }
        #expect(record.all == ["first", "second", "third", "last"])
    }

    @Test func `may add and cancel others when they fire`() {
        let loop = EventLoop()
        let record = Record()
        loop.run {
            await withCheckedContinuation { continuation in
                let cancelled = loop.after(milliseconds: 2) { record.add("cancelled") }
                loop.after(milliseconds: 1) {
                    record.add("outer")
                    loop.cancel(cancelled)
                    loop.after(milliseconds: 2) {
                        record.add("inner")
                        continuation.resume()
                    }
                }
            }
        }
        #expect(record.all == ["outer", "inner"])
    }

    @Test func `that set themselves again don't keep others waiting`() {
        let loop = EventLoop()
        let rounds = loop.run {
            let rounds = Lock(0)
            func again() {
                rounds.withLock { $0 += 1 }
                loop.after(milliseconds: 0) { again() }
            }
            again()
            await loop.sleep(milliseconds: 5)
            return rounds.withLock { $0 }
        }
        #expect(rounds >= 2)
    }

    @Test func `added by a source are not overslept`() {
        final class Source: LoopSource {
            var body: (() -> Void)?
            func turn() -> Int32 {
                let body = body
                self.body = nil
                body?()
                return -1
            }
        }
        let loop = EventLoop()
        loop.run {
            let source = Source()
            loop.add(source)
            // The first wait is cut short by the task that has woken the loop.
            await loop.sleep(milliseconds: 2)
            await withCheckedContinuation { continuation in
                source.body = { loop.after(milliseconds: 1) { continuation.resume() } }
                loop.after(milliseconds: 0) {}
            }
        }
    }

    @Test func `come in order however many are added and cancelled`() {
        // Without a loop, whose clock moves on while timers are added.
        var queue = TimerQueue()
        let record = Record()
        var timers: [TimerID] = []
        // 7 and 100 have no common factor: every delay from 0 to 99 comes up once.
        for number in 0..<100 {
            let delay = Int64(number * 7 % 100)
            timers.append(queue.add(deadline: 1000 + delay) { record.add("\(delay)") })
        }
        for number in 0..<100 where number * 7 % 100 >= 10 { queue.cancel(timers[number]) }
        while let body = queue.takeFirstDue(at: 1010) { body() }
        #expect(record.all == (0..<10).map { "\($0)" })
    }
}

@Suite(.timeLimit(.minutes(15))) struct `Tasks of a loop` {
    @Test func `come back to it after waiting for another thread`() {
        let loop = EventLoop()
        let places = loop.run {
            let before = loop.isInLoop
            await withCheckedContinuation { continuation in
                Base.Thread.start { continuation.resume() }
            }
            return [before, loop.isInLoop]
        }
        #expect(places == [true, true])
    }

    @Test func `started at once run up to their first suspension`() {
        let loop = EventLoop()
        let record = Record()
        loop.run {
            loop.immediate {
                record.add("started")
                await loop.sleep(milliseconds: 1)
                record.add("resumed")
            }
            record.add("returned")
            await loop.sleep(milliseconds: 2)
        }
        #expect(record.all == ["started", "returned", "resumed"])
    }

    @Test func `let what must be done before waiting be done once`() {
        let loop = EventLoop()
        let record = Record()
        loop.run {
            loop.beforeWaiting { record.add("before waiting") }
            record.add("job")
            await loop.sleep(milliseconds: 1)
            await loop.sleep(milliseconds: 1)
        }
        #expect(record.all == ["job", "before waiting"])
    }

    @Test func `have what they asked of others under way before sources act`() {
        final class Source: LoopSource {
            let record: Record
            init(_ record: Record) { self.record = record }
            func turn() -> Int32 {
                record.add("source")
                return -1
            }
        }
        let loop = EventLoop()
        let record = Record()
        loop.run {
            let source = Source(record)
            await loop.sleep(milliseconds: 1)
            loop.add(source)
            loop.beforeWaiting { record.add("asked") }
            await loop.sleep(milliseconds: 1)
            loop.remove(source)
        }
        #expect(record.all.prefix(2) == ["asked", "source"])
    }
}

@Suite(.timeLimit(.minutes(15))) struct `Descriptors of a loop` {
    @Test func `are reported when they are readable, until they are removed`() throws {
        let loop = EventLoop()
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        let (readEnd, writeEnd) = (ends[0], ends[1])
        let reports = loop.run {
            let reports = Lock(0)
            await withCheckedContinuation { continuation in
                loop.add(readEnd, .readable) { readiness in
                    reports.withLock { $0 += readiness.contains(.readable) ? 1 : 0 }
                    // The byte stays unread, so that only the removal ends the reports.
                    loop.remove(readEnd)
                    continuation.resume()
                }
                _ = write(writeEnd, "x", 1)
            }
            await loop.sleep(milliseconds: 2)
            return reports.withLock { $0 }
        }
        #expect(reports == 1)
    }

    @Test func `wait for no one if a source wants another turn`() {
        final class Source: LoopSource {
            let loop: EventLoop
            var turns = 0
            init(_ loop: EventLoop) { self.loop = loop }
            func turn() -> Int32 {
                turns += 1
                if turns < 3 { loop.beforeWaiting { [loop] in loop.turnAgain() } }
                if turns == 3 { loop.stop() }
                return -1
            }
        }
        let loop = EventLoop()
        let source = Source(loop)
        loop.add(source)
        loop.run()
        #expect(source.turns == 3)
    }
}
