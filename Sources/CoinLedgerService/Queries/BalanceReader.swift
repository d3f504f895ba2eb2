package import CoinLedger
package import EventStore

/// Reads balances: while one read is under way the next one collects, so that a busy service
/// asks the store for many accounts at once and an idle one for a single account without delay.
package actor BalanceReader {
    private let store: any EventStore
    private let executor: any TaskExecutor
    private let clock: @Sendable () -> Timestamp
    private var waiting: [Waiter] = []
    private var isReading = false

    private typealias Answer = Result<AccountBalance, EventStoreError>

    private struct Waiter {
        let account: AccountID
        let continuation: CheckedContinuation<Answer, Never>
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
        guard waiting.count < BalanceReader.waitingMax else {
            throw .unavailable("too many reads are waiting")
        }
        let answer: Answer = await withCheckedContinuation { continuation in
            waiting.append(Waiter(account: id, continuation: continuation))
            guard !isReading else { return }
            isReading = true
            Task(executorPreference: executor) { await self.read() }
        }
        return try answer.get()
    }

    private func read() async {
        while !waiting.isEmpty {
            let round = Array(waiting.prefix(BalanceReader.accountsMax))
            waiting.removeFirst(round.count)
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
        isReading = false
    }
}
