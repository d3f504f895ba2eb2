import Base
import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import Glibc
import InMemoryEventStore
import LedgerTestSupport
import TestSupport
import Testing

/// Random commands through two writers a lane onto a store that fails now and then, judged by an
/// independent reference.
@Suite struct `A ledger under random commands and faults` {
    private static let rounds = 1_200

    /// One seed that is always the same; with `COINLEDGER_SOAK_SEEDS` so many more.
    static var seeds: [UInt64] {
        let wanted = getenv("COINLEDGER_SOAK_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 0
        return [20_261_130] + (0..<wanted).map { $0 + 1 }
    }

    @Test(arguments: seeds)
    func `agrees with the reference`(seed: UInt64) async throws {
        try await onLoop { (loop) async throws in
            let store = ScriptedStore(InMemoryEventStore(laneCount: 2))
            var limits = WriterLimits.quick
            limits.cachedAccountsMax = 4
            limits.unknownResultPauseMilliseconds = 0
            let processes = [Ledger(store, loop, limits), Ledger(store, loop, limits)]
            var random = SeededRandom(seed: seed)
            var wishes = Wishes()
            var reference = Reference()
            var seen: [String: Int] = [:]
            for round in 0..<Self.rounds {
                let wished = wishes.next(using: &random)
                let ledger = processes[Int.random(in: 0...1, using: &random)]
                let faults = Self.faults(using: &random)
                store.replaceFaults(by: faults)
                let account = try #require(AccountID(wished[0].account))
                let outcomes = try await Self.submit(
                    wished.map { try command($0) }, of: account, to: ledger, store)
                // What was appended and then forgotten is decided once more, from what it left.
                let met = store.metFaults
                var verdicts = wished.map { reference.judge($0) }
                for fault in met where fault == .unknownAfter {
                    verdicts = wished.map { reference.judge($0) }
                    seen["\(fault)", default: 0] += 1
                }
                for verdict in verdicts { seen[verdict.rawValue, default: 0] += 1 }
                let actual = zip(wished, outcomes).map { Self.verdict($1, $0) }
                guard actual == verdicts else {
                    Issue.record("seed \(seed), round \(round): \(actual) for \(verdicts)")
                    return
                }
            }
            try await expectSound(store)
            try await expectEqual(store, reference, seed)
            let all: [Reference.Verdict] = [
                .granted, .already, .elsewhere, .foreign, .tooLarge, .linked, .linkedAlready,
                .linkedElsewhere,
            ]
            // A run that never meets one of them tests nothing.
            for name in all.map(\.rawValue) + ["unknownAfter"] {
                #expect(seen[name, default: 0] > 5, "seed \(seed) hardly ever meets \(name)")
            }
        }
    }

    private func expectEqual(
        _ store: ScriptedStore, _ reference: Reference, _ seed: UInt64
    ) async throws {
        for text in Wishes.accounts {
            let id = try #require(AccountID(text))
            let account = try await store.account(id) ?? .new
            #expect(account.version == Int64(reference.eventCounts[text] ?? 0), "seed \(seed)")
            #expect(account.lotCount == Int64(reference.lotCounts[text] ?? 0), "seed \(seed)")
            for environment in ["Production", "Sandbox"] {
                let balance = account[try #require(Environment(rawValue: environment))]
                let expected = reference.balances["\(text) \(environment)"] ?? [0, 0]
                #expect(
                    [Int(balance.paid.amount), Int(balance.free.amount)] == expected,
                    "seed \(seed), \(text)")
            }
        }
    }

    private static func faults(using random: inout SeededRandom) -> [ScriptedStore.Fault] {
        (0..<Int.random(in: 0...2, using: &random)).map { _ in
            switch Int.random(in: 0...9, using: &random) {
            case 0...3: .conflict
            case 4...6: .unknownBefore
            case 7...8: .unknownAfter
            default: .unavailable
            }
        }
    }

    /// Submits again as long as the ledger is unavailable, as a client does.
    private static func submit(
        _ commands: [Command], of account: AccountID, to ledger: Ledger, _ store: ScriptedStore
    ) async throws -> [Outcome] {
        for _ in 0..<4 {
            do { return try await ledger.submit(commands, of: account) } catch WriterError
                .unavailable
            {
                continue
            }
        }
        throw WriterError.unavailable
    }

    private static func verdict(_ outcome: Outcome, _ wish: Reference.Wish) -> Reference.Verdict {
        switch outcome.result {
        case .done:
            if case .link = wish.what { .linked } else { .granted }
        case .rejected(let rejection):
            switch rejection {
            case .alreadyDone: .granted
            case .alreadyGranted: .already
            case .grantedToOtherAccount: .elsewhere
            case .belongsToOtherAccount: .foreign
            case .balanceTooLarge: .tooLarge
            case .tokenAlreadyLinked: .linkedAlready
            case .tokenLinkedToOtherAccount: .linkedElsewhere
            default: .impossible
            }
        }
    }

    private func command(_ wish: Reference.Wish) throws -> Command {
        let account = try #require(AccountID(wish.account))
        switch wish.what {
        case .link(let token):
            return .link(
                try #require(AppAccountToken(token)), to: account, command: wish.number)
        case .purchase(let id, let original, let coins, let token):
            let first = try #require(TransactionID(original))
            return .grant(
                try #require(TransactionID(id)), original: first,
                to: account, paid: try #require(Coins(Int64(coins[0]))),
                free: try #require(Coins(Int64(coins[1]))),
                environment: try #require(Environment(rawValue: wish.environment)),
                token: try token.map { try #require(AppAccountToken($0)) }, command: wish.number)
        }
    }
}

/// What people wish: few accounts, few purchases, so that they meet.
private struct Wishes {
    /// The last two have a token as their id.
    static let accounts = ["u1", "u2", "u3", "u4", token(1), token(2)]
    private var number: UInt64 = 0
    private var purchases = 3

    /// One to eight wishes of one account.
    mutating func next(using random: inout SeededRandom) -> [Reference.Wish] {
        let account = Wishes.accounts[Int.random(in: 0..<6, using: &random)]
        return (0..<Int.random(in: 1...8, using: &random)).map { _ in
            number += 1
            let environment = Int.random(in: 0...3, using: &random) == 0 ? "Sandbox" : "Production"
            return Reference.Wish(
                number: number, account: account, environment: environment,
                what: what(using: &random))
        }
    }

    private mutating func what(using random: inout SeededRandom) -> Reference.Wish.What {
        if Int.random(in: 0...9, using: &random) == 0 {
            return .link(token: Wishes.token(Int.random(in: 1...40, using: &random)))
        }
        // New ones now and then, and mostly those of late.
        if Bool.random(using: &random) { purchases += 1 }
        let id = "T\(purchases - Int.random(in: 0...6, using: &random))"
        let isReissued = Int.random(in: 0...4, using: &random) == 0
        let original = isReissued ? "T\(purchases - Int.random(in: 0...6, using: &random))" : id
        let token =
            Int.random(in: 0...4, using: &random) == 0
            ? Wishes.token(Int.random(in: 1...40, using: &random)) : nil
        var coins = [100, Int.random(in: 0...1, using: &random) * 10]
        if Int.random(in: 0...19, using: &random) == 0 { coins = [0, 1] }
        if Int.random(in: 0...39, using: &random) == 0 { coins = [Reference.most - 50, 0] }
        return .purchase(id: id, original: original, coins: coins, token: token)
    }

    private static func token(_ number: Int) -> String {
        "00000000-0000-4000-8000-0000000000\(number < 10 ? "0" : "")\(number)"
    }
}
