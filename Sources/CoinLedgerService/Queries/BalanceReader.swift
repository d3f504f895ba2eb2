package import CoinLedger
package import EventStore

/// Reads account states: while one read is under way the next one collects, so that a busy service
/// asks the store for many accounts at once and an idle one for a single account without delay.
package actor BalanceReader {
    private let store: any EventStore
    private let executor: any TaskExecutor
    private var waiting: [Waiter] = []
    private var isReading = false

    private typealias Answer = Result<Account, EventStoreError>

    private struct Waiter {
        let account: AccountID
        let continuation: CheckedContinuation<Answer, Never>
    }

    package static let accountsMax = 1024
    package static let waitingMax = 16_384

    package init(store: any EventStore, executor: any TaskExecutor) {
        self.store = store
        self.executor = executor
    }

    /// The account after its last event; `Account.new` if nothing has happened to it.
    package func account(_ id: AccountID) async throws(EventStoreError) -> Account {
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
                let found = try await store.accounts(Array(Set(round.map(\.account))))
                for waiter in round {
                    waiter.continuation.resume(returning: .success(found[waiter.account] ?? .new))
                }
            } catch {
                for waiter in round { waiter.continuation.resume(returning: .failure(error)) }
            }
        }
        isReading = false
    }
}
