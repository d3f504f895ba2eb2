import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import LedgerTestSupport
import Telemetry
import TestSupport
import Testing

@Suite struct `An account's history` {
    @Test(arguments: StoreKind.allCases)
    func `says what the account was after each event, and at each instant`(
        kind: StoreKind
    ) async throws {
        try await kind.withStore { (store, loop) async throws in
            let ledger = Ledger(store, loop)
            _ = try await ledger.submit(.grant("T1", to: "u1", free: 10))
            var folded: [Account] = [.new]
            for number in 0..<3 {
                _ = try await ledger.submit(try .spend(5, key: "s\(number)"))
            }
            let events = try await store.events(of: "u1", after: 0, limit: 100, where: .all)
            let history = AccountHistory(store: store)
            for stored in events {
                var next = folded[folded.count - 1]
                next.evolve(try EventCodec.decode(stored), id: stored.id)
                folded.append(next)
                let state = try await history.state(of: "u1", upTo: .event(stored.id))
                #expect(state?.account == next)
            }
            #expect(events.count == 5)
            #expect(try await history.state(of: "u1", upTo: .at(.noon))?.account == folded.last)
            let before = try await history.state(of: "u1", upTo: .at("2026-11-30T11:59:59.999Z"))
            #expect(before?.account == .new)
            #expect(try await history.state(of: "u3", upTo: .at(.noon))?.account == .new)
            #expect(try await history.state(of: "u3", upTo: .event(events[0].id)) == nil)
        }
    }
}

@Suite struct `Expired coins` {
    @Test(arguments: StoreKind.allCases)
    func `are recorded once a lot`(kind: StoreKind) async throws {
        try await kind.withStore { (store, loop) async throws in
            let ledger = Ledger(store, loop)
            let accounts: [AccountID] = ["u1", "u2", "u3", "u4"]
            for account in accounts {
                for expiresAt: Timestamp? in ["2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z", nil] {
                    let gift = Gift(
                        environment: .production, coins: 10, expiresAt: expiresAt, reason: "test",
                        campaignID: nil)
                    let command = Command(
                        id: .random(), account: account, time: .noon, action: .give(gift))
                    #expect(try await ledger.submit(command).isDone)
                }
            }
            func run(_ time: Timestamp) async throws -> ExpiryRecorder.Report {
                try await ExpiryRecorder(ledger: ledger, clock: { time }, log: .none).run()
            }
            let nothing = ExpiryRecorder.Report()
            #expect(try await run("2026-11-30T23:59:59.999Z") == nothing)
            let first = try await run("2026-12-01T00:00:00Z")
            #expect((first.accounts, first.lots, first.coins) == (4, 4, 40))
            #expect(try await run("2026-12-01T00:00:00Z") == nothing)
            let second = try await run("2027-06-01T00:00:00Z")
            #expect((second.accounts, second.lots, second.coins) == (4, 4, 40))
            for account in accounts {
                #expect(try await store.account(account)?.production.free == 10)
            }
            try await expectSound(store)
        }
    }
}
