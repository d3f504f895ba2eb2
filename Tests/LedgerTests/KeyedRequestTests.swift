import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import InMemoryEventStore
import LedgerTestSupport
import TestSupport
import Testing

extension KeyedRequest {
    /// Gives coins, and answers with the balance.
    static func gift(
        _ coins: Coins, to account: AccountID = "u1", key: String, hash: UInt8 = 1,
        isDryRun: Bool = false
    ) throws -> KeyedRequest {
        try KeyedRequest(
            .give(
                Gift(
                    environment: .production, coins: coins, expiresAt: nil, reason: "test",
                    campaignID: nil)), account, key: key, hash: hash, isDryRun: isDryRun)
    }

    static func spend(
        _ coins: Coins, of account: AccountID = "u1", key: String, hash: UInt8 = 2
    ) throws -> KeyedRequest {
        try KeyedRequest(
            .spend(
                Spend(
                    environment: .production, coins: coins,
                    purpose: Purpose(
                        subject: .other("test"), programmeID: nil, performerID: nil),
                    consumption: Consumption(order: .freeFirst, policyVersion: "test"))),
            account, key: key, hash: hash)
    }

    private convenience init(
        _ action: Command.Action, _ account: AccountID, key: String, hash: UInt8,
        isDryRun: Bool = false
    ) throws {
        let command = Command(id: .random(), account: account, time: .noon, action: action)
        self.init(
            key: try #require(IdempotencyKey(account: account, text: key)),
            requestSHA256: Array(repeating: hash, count: 32), time: .noon,
            work: .command(command), isDryRun: isDryRun,
            answer: { outcome in
                let status =
                    switch outcome.result {
                    case .done: 201
                    case .rejected: 409
                    }
                let total = outcome.balance.production.total.amount
                return Answer(status: status, body: Array("\(total)".utf8))
            })
    }
}

extension Answered {
    var text: String { "\(answer.status) " + String(decoding: answer.body, as: UTF8.self) }
}

private func keyedFailure(_ body: () async throws(KeyedError) -> Void) async -> KeyedError? {
    do throws(KeyedError) {
        try await body()
        return nil
    } catch {
        return error
    }
}

@Suite struct `A keyed request` {
    @Test(arguments: StoreKind.allCases)
    func `is carried out once and answered the same each time`(kind: StoreKind) async throws {
        try await kind.withStore { (store, loop) async throws in
            let ledger = Ledger(store, loop)
            let first = try await ledger.submit(try .gift(100, key: "a"))
            #expect((first.text, first.isReplayed) == ("201 100", false))
            let other = try await ledger.submit(try .gift(5, key: "b"))
            #expect((other.text, other.isReplayed) == ("201 105", false))
            for ledger in [ledger, Ledger(store, loop)] {
                let again = try await ledger.submit(try .gift(100, key: "a"))
                #expect((again.text, again.isReplayed) == ("201 100", true))
            }
            try await expectSound(store)
            #expect(try await store.account("u1")?.version == 2)
        }
    }

    @Test func `keeps its key within its account`() async throws {
        try await withWriter { (store, writer) async throws in
            #expect(try await writer.submit(try .gift(100, to: "u1", key: "a")).text == "201 100")
            #expect(try await writer.submit(try .gift(7, to: "u3", key: "a")).text == "201 7")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `with the key of another is refused`(kind: StoreKind) async throws {
        try await kind.withStore { (store, loop) async throws in
            let ledger = Ledger(store, loop)
            _ = try await ledger.submit(try .gift(100, key: "a", hash: 1))
            for _ in 0..<2 {
                let failure = await keyedFailure { () throws(KeyedError) in
                    guard let request = try? KeyedRequest.gift(100, key: "a", hash: 9) else {
                        return
                    }
                    _ = try await ledger.submit(request)
                }
                #expect(failure == .keyReused)
            }
            #expect(try await store.account("u1")?.version == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `that was refused stays so`(kind: StoreKind) async throws {
        try await kind.withStore { (store, loop) async throws in
            let ledger = Ledger(store, loop)
            #expect(try await ledger.submit(try .spend(10, key: "s")).text == "409 0")
            _ = try await ledger.submit(try .gift(100, key: "g"))
            let again = try await ledger.submit(try .spend(10, key: "s"))
            #expect((again.text, again.isReplayed) == ("409 0", true))
            #expect(try await ledger.submit(try .spend(10, key: "t")).text == "201 90")
        }
    }

    @Test func `waits for the first one under way and answers the same`() async throws {
        try await withWriter { (store, writer) async throws in
            store.hold()
            async let first = writer.submit(try KeyedRequest.gift(100, key: "a"))
            await store.waitUntilHeld()
            async let second = writer.submit(try KeyedRequest.gift(100, key: "a"))
            async let third = writer.submit(try KeyedRequest.gift(100, key: "a"))
            await settle()
            store.release()
            let answers = [try await first, try await second, try await third]
            #expect(answers.map(\.text) == ["201 100", "201 100", "201 100"])
            #expect(answers.count(where: \.isReplayed) == 2)
            try await expectSound(store)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `through two writers is carried out once`(kind: StoreKind) async throws {
        try await kind.withStore { (store, loop) async throws in
            let ledgers = [Ledger(store, loop), Ledger(store, loop)]
            let answers = try await withThrowingTaskGroup(of: Answered.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        try await ledgers[number % 2].submit(try .gift(100, key: "a"))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.text == "201 100" })
            #expect(answers.count { !$0.isReplayed } == 1)
            #expect(try await store.account("u1")?.version == 1)
            try await expectSound(store)
        }
    }

    @Test(arguments: [ScriptedStore.Fault.unknownBefore, .unknownAfter])
    func `is carried out once when the answer of its commit is lost`(
        fault: ScriptedStore.Fault
    ) async throws {
        try await withWriter { (store, writer) async throws in
            store.fail(fault)
            #expect(try await writer.submit(try .gift(100, key: "a")).text == "201 100")
            try await expectSound(store)
            #expect(try await store.account("u1")?.version == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `run dry leaves no trace`(kind: StoreKind) async throws {
        try await kind.withStore { (store, loop) async throws in
            let ledger = Ledger(store, loop)
            _ = try await ledger.submit(try .gift(1, key: "first"))
            let dry = try await ledger.submit(try .gift(100, key: "a", isDryRun: true))
            #expect(dry.text == "201 101")
            #expect(try await store.account("u1")?.version == 1)
            // Neither the state in the writer's memory nor the key has changed.
            let real = try await ledger.submit(try .gift(50, key: "a", hash: 9))
            #expect((real.text, real.isReplayed) == ("201 51", false))
        }
    }

    @Test func `refused before it was decided is answered so, unless its key was answered before`()
        async throws
    {
        try await withWriter { (store, writer) async throws in
            func refusal(_ key: String) throws -> KeyedRequest {
                KeyedRequest(
                    key: try #require(IdempotencyKey(account: "u1", text: key)),
                    requestSHA256: Array(repeating: 1, count: 32), time: .noon,
                    work: .refuse(Answer(status: 409, body: Array("no".utf8))),
                    answer: { _ in Answer(status: 500, body: []) })
            }
            #expect(try await writer.submit(try refusal("a")).text == "409 no")
            let again = try await writer.submit(try .gift(100, key: "a"))
            #expect((again.text, again.isReplayed) == ("409 no", true))
            _ = try await writer.submit(try .gift(100, key: "b"))
            #expect(try await writer.submit(try refusal("b")).text == "201 100")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `is new again once its answer was forgotten`(kind: StoreKind) async throws {
        try await kind.withStore { (store, loop) async throws in
            let ledger = Ledger(store, loop)
            for key in ["a", "b", "c"] { _ = try await ledger.submit(try .gift(1, key: key)) }
            #expect(try await store.forgetAnswers(recordedBefore: .noon, limit: 10) == 0)
            let later: Timestamp = "2026-11-30T12:00:00.001Z"
            #expect(try await store.forgetAnswers(recordedBefore: later, limit: 2) == 2)
            #expect(try await store.forgetAnswers(recordedBefore: later, limit: 2) == 1)
            let again = try await ledger.submit(try .gift(1, key: "a"))
            #expect((again.text, again.isReplayed) == ("201 4", false))
        }
    }
}
