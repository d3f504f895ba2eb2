import CoinLedger
import EventStore

/// The work of a batch, which may have been decided in part before the batch's turn has come.
struct NextBatch {
    var work: [QueuedWork] = []
    /// Of the first so many of `work`, in this order.
    var decisions: Decisions?
    var attempts = BatchAttempts()

    /// Whether all of it is decided, and there is something to append.
    var isReady: Bool {
        guard let decisions else { return false }
        return decisions.decisions.count == work.count && !decisions.isEmpty
    }
}

/// What has become of a batch's earlier attempts.
struct BatchAttempts {
    var conflicts = 0
    /// Whether it may have been appended; from then on every failure counts as `unknown`.
    var isUnknown = false
    var unknown = 0
    /// Whether others are kept out of the lane for it.
    var hasTurn = false
}

/// A batch that was handed to the store.
struct BatchUnderWay {
    let batch: NextBatch
    let decisions: [Decision]
    /// Where the lane's head is if it fails.
    let expectedHead: LaneHead
    let sequence: Int
    /// Those that it read or changed.
    let accounts: [KnownAccount]
    /// Why it failed, nil if it's durable.
    let end: Task<EventStoreError?, Never>
}
