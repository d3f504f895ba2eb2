import Base
package import CoinLedger
package import EventStore

/// Reads balances: while one read is under way the next one collects, so that a busy service
/// asks the store for many accounts at once and an idle one for a single account without delay.
package final class BalanceReader: Sendable {
    private let store: any EventStore
    private let executor: any TaskExecutor
    private let clock: @Sendable () -> Timestamp
    private let state = Lock(State())

    private struct State {
        var waiting: [Waiter] = []
        var isReading = false
    }

    private typealias Answer = Result<AccountBalance, EventStoreError>

    private struct Waiter {
        let account: AccountID
        let continuation: CheckedContinuation<Answer, Never>
    }

    private enum Reception {
        /// There is no room.
        case full
        /// Nobody reads yet.
        case first
        case joined
    }

    package static let accountsMax = 1024
    package static let waitingMax = 16_384

    package init(
        store: any EventStore, executor: any TaskExecutor,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.executor = executor
        self.clock = clock
    }

    /// The account's balance now; zero if nothing has happened to it.
    package func balance(of id: AccountID) async throws(EventStoreError) -> AccountBalance {
        let answer: Answer = await withCheckedContinuation { continuation in
            switch join(Waiter(account: id, continuation: continuation)) {
            case .full:
                let failure = EventStoreError.unavailable("too many reads are waiting")
                continuation.resume(returning: .failure(failure))
            case .first: Task(executorPreference: executor) { await self.read() }
            case .joined: break
            }
        }
        return try answer.get()
    }

    private func join(_ waiter: Waiter) -> Reception {
        state.withLock { state in
            guard state.waiting.count < BalanceReader.waitingMax else { return .full }
            state.waiting.append(waiter)
            defer { state.isReading = true }
            return state.isReading ? .joined : .first
        }
    }

    /// Who is answered next; nil if nobody waits, and the reading ends.
    private func takeRound() -> [Waiter]? {
        state.withLock { state in
            let round = Array(state.waiting.prefix(BalanceReader.accountsMax))
            state.waiting.removeFirst(round.count)
            state.isReading = !round.isEmpty
            return round.isEmpty ? nil : round
        }
    }

    private func read() async {
        while let round = takeRound() {
            do throws(EventStoreError) {
                let found = try await store.balances(
                    of: Array(Set(round.map(\.account))), at: clock())
                for waiter in round {
                    waiter.continuation.resume(returning: .success(found[waiter.account] ?? .zero))
                }
            } catch {
                for waiter in round { waiter.continuation.resume(returning: .failure(error)) }
            }
        }
    }
}
