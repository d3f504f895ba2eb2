/// The limits of a `LedgerWriter`.
package struct WriterLimits: Sendable {
    /// Commands in one batch. More bring little speed and multiply latency.
    package var batchCommandsMax = 256
    /// Batches that are being appended at one time; one waits for the other in the database.
    package var batchesUnderWayMax = 2
    /// Commands that wait for their batch; beyond it a command is refused at once.
    package var queuedCommandsMax = 8192
    /// Account states kept between batches; one with many open lots counts for several.
    package var cachedAccountsMax = 32_768
    /// How often a batch is decided again because something else was written meanwhile.
    package var conflictsMax = 50
    /// After so many of them all others are kept from the lane until the batch is appended.
    package var conflictsBeforeTurn = 3
    /// After a claim was found taken, for so many batches claims are looked for before appending.
    package var cautiousBatches = 32
    /// How often the fate of a commit whose answer was lost is asked for, and how long to wait
    /// in between: together about ten seconds.
    package var unknownResultAttemptsMax = 50
    package var unknownResultPauseMilliseconds: Int64 = 200

    package init() {}
}

/// Why a writer carried nothing out.
package enum WriterError: Error, Hashable, Sendable {
    /// More commands wait than are allowed.
    case overloaded
    /// The store can't be reached or takes no writes.
    case unavailable
}
