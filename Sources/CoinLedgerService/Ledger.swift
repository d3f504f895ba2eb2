package import CoinLedger
package import EventStore

/// A ledger as its users see it: commands go to the writer of their account's lane.
package struct Ledger: Sendable {
    package let store: any EventStore
    private let writers: [LedgerWriter]

    /// - Parameter writer: makes the writer of a lane.
    package init(store: any EventStore, writer: (Lane) -> LedgerWriter) {
        self.store = store
        writers = (0..<store.laneCount).compactMap(Lane.init).map(writer)
    }

    /// The same ledger, read through another store.
    ///
    /// Commands still go to the same writers, which work where they were made, since two writers of
    /// one lane would be in each other's way.
    package func reading(from store: any EventStore) -> Ledger {
        Ledger(store: store, writers: writers)
    }

    private init(store: any EventStore, writers: [LedgerWriter]) {
        (self.store, self.writers) = (store, writers)
    }

    /// Carries out commands of one account; see `LedgerWriter.submit`.
    package func submit(
        _ commands: [Command], of account: AccountID
    ) async throws(WriterError) -> [Outcome] {
        let lane = Lane.of(account, count: store.laneCount)
        return try await writers[Int(lane.number)].submit(commands)
    }

    /// Carries out a request at most once for its key; see `LedgerWriter.submit`.
    package func submit(_ request: KeyedRequest) async throws(KeyedError) -> Answered {
        let lane = Lane.of(request.key.account, count: store.laneCount)
        return try await writers[Int(lane.number)].submit(request)
    }
}
