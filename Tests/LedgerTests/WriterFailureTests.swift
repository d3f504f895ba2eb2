import Base
import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import InMemoryEventStore
import LedgerTestSupport
import Telemetry
import TestSupport
import Testing

@Suite struct `A conflict` {
    @Test func `is decided again`() async throws {
        try await withWriter { (store, writer) async throws in
            store.fail(.conflict, .conflict, .conflict)
            #expect(try await writer.submit(.grant("T1", to: "u1")).isDone)
            #expect(store.appends == 4)
            #expect(try await expectSound(store) == [.appStore("T1"): 1])
        }
    }

    @Test func `is decided again so often and no more`() async throws {
        var limits = WriterLimits.quick
        limits.conflictsMax = 5
        try await withWriter(limits) { (store, writer) async throws in
            store.failAlways(.conflict)
            #expect(try await unavailable(writer, .grant("T1", to: "u1")))
            #expect(store.appends == 6)
            store.failAlways(nil)
            #expect(try await writer.submit(.grant("T1", to: "u1")).isDone)
        }
    }
}

@Suite struct `A store that isn't there` {
    @Test(arguments: [ScriptedStore.Fault.unavailable, .corrupt])
    func `is reported at once when it fails to append`(fault: ScriptedStore.Fault) async throws {
        try await withWriter { (store, writer) async throws in
            store.fail(fault)
            #expect(try await unavailable(writer, .grant("T1", to: "u1")))
            #expect(store.appends == 1)
            #expect(try await expectSound(store).isEmpty)
            let later = try await writer.submit(.grant("T1", to: "u1", command: 2))
            #expect(later.isDone)
            #expect(later.balance.version == 2)
        }
    }

    @Test(arguments: [EventStoreError.unavailable("x"), .corrupt("x")])
    func `is reported at once when it fails to load`(error: EventStoreError) async throws {
        try await withWriter { (store, writer) async throws in
            store.failLoads(error)
            #expect(try await unavailable(writer, .grant("T1", to: "u1")))
            #expect(store.appends == 0)
            #expect(try await writer.submit(.grant("T1", to: "u1")).isDone)
        }
    }

    @Test func `fails the commands of its batch and no others`() async throws {
        try await withWriter { (store, writer) async throws in
            store.hold()
            store.fail(.unavailable)
            async let first = unavailable(writer, .grant("T0", to: "u1", command: 1))
            await store.waitUntilHeld()
            async let second = writer.submit(.grant("T1", to: "u1", command: 2))
            await settle()
            store.release()
            #expect(try await first)
            #expect(try await second.isDone)
            #expect(try await expectSound(store) == [.appStore("T1"): 1])
        }
    }
}

@Suite struct `A commit whose answer is lost` {
    @Test(
        arguments: [
            [.unknownBefore], [.unknownAfter], [.unknownBefore, .unknownAfter],
            [.unknownBefore, .unknownBefore, .unknownBefore], [.conflict, .unknownAfter],
            [.unknownBefore, .conflict, .unknownAfter], [.unknownBefore, .unavailable],
        ] as [[ScriptedStore.Fault]])
    func `is looked up, and done once`(faults: [ScriptedStore.Fault]) async throws {
        try await withWriter { (store, writer) async throws in
            for fault in faults { store.fail(fault) }
            let outcome = try await writer.submit(.grant("T1", to: "u1", command: 7))
            #expect(outcome.isDone)
            #expect(outcome.balance.version == 2)
            #expect(outcome.balance.production.paid == 100)
            #expect(try await expectSound(store) == [.appStore("T1"): 1])
        }
    }

    @Test func `tells each command of its batch what it caused itself`() async throws {
        try await withWriter { (store, writer) async throws in
            store.fail(.unknownAfter)
            let outcomes = try await writer.submit([
                .grant("T1", to: "u1", command: 1), .grant("T1", to: "u1", command: 2),
                .grant("T2", to: "u3", command: 3), .grant("T2", to: "u1", command: 4),
            ])
            #expect(outcomes.map(\.isDone) == [true, false, true, false])
            guard case .alreadyGranted(let claim) = outcomes[1].rejection else {
                Issue.record("unexpected: \(outcomes[1])")
                return
            }
            #expect(claim.command == .numbered(1))
            #expect(outcomes[3].rejection == .grantedToOtherAccount)
            #expect(try await expectSound(store) == [.appStore("T1"): 1, .appStore("T2"): 1])
        }
    }

    @Test func `is asked for again while the store is away`() async throws {
        try await onLoop { (loop) async throws in
            let store = ScriptedStore(InMemoryEventStore(laneCount: 2))
            let pauses = Lock<[Int64]>([])
            let writer = writer(store, loop, .quick) { milliseconds in
                // Only what comes after the lost answer meets these.
                let count = pauses.withLock { pauses in
                    pauses.append(milliseconds)
                    return pauses.count
                }
                if count == 1 { store.failLoads(.unavailable("x"), .unavailable("x")) }
            }
            store.fail(.unknownAfter)
            #expect(try await writer.submit(.grant("T1", to: "u1")).isDone)
            #expect(pauses.withLock { $0 } == [5, 5, 5])
            #expect(try await expectSound(store) == [.appStore("T1"): 1])
        }
    }

    @Test(arguments: [ScriptedStore.Fault.unknownBefore, .unavailable, .conflict, .corrupt])
    func `is asked for so often and no more`(then: ScriptedStore.Fault) async throws {
        var limits = WriterLimits.quick
        limits.unknownResultAttemptsMax = 4
        limits.conflictsMax = 3
        let limited = limits
        try await onLoop { (loop) async throws in
            let store = ScriptedStore(InMemoryEventStore(laneCount: 2))
            let pauses = Lock(0)
            let writer = writer(store, loop, limited) { _ in
                let count = pauses.withLock { pauses in
                    pauses += 1
                    return pauses
                }
                // Without a limit there would be no end.
                if count > 100 { store.failAlways(nil) }
            }
            store.fail(.unknownBefore)
            store.failAlways(then)
            #expect(try await unavailable(writer, .grant("T1", to: "u1")))
            #expect(pauses.withLock { $0 } == 4)
            store.failAlways(nil)
            #expect(try await writer.submit(.grant("T1", to: "u1")).isDone)
        }
    }

    private func writer(
        _ store: ScriptedStore, _ loop: EventLoop, _ limits: WriterLimits,
        pause: @escaping @Sendable (Int64) async -> Void
    ) -> LedgerWriter {
        LedgerWriter(
            lane: 0, store: store, limits: limits, executor: loop,
            telemetry: WriterTelemetry(Metrics()), log: .none, pause: pause)
    }
}

private func unavailable(_ writer: LedgerWriter, _ command: Command) async throws -> Bool {
    try await writerFailure { _ = try await writer.submit(command) } == .unavailable
}
