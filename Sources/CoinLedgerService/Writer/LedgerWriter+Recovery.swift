import CoinLedger
import EventStore
import Telemetry

/// What becomes of batches that weren't appended.
extension LedgerWriter {
    /// Gives up what stands on a batch that failed, and sees to it that all is decided again in its
    /// order.
    func recover() async {
        if let decisions = next.decisions.take() { accounts.remove(decisions.accounts) }
        await reading?.value
        var ends: [EventStoreError?] = []
        for batch in underWay { ends.append(await batch.end.value) }
        let ended = underWay
        underWay = []
        // What was appended proves that so was what it stands on, whatever was heard of that.
        let doneCount = ends.lastIndex(of: nil).map { $0 + 1 } ?? 0
        for batch in ended[..<doneCount] { await finish(batch) }
        guard doneCount < ended.count else { return }
        head = ended[doneCount].expectedHead
        for batch in ended[doneCount...] { accounts.remove(batch.accounts) }
        // Taken claims say nothing of what else is known.
        if ends[doneCount] != .claimed { forget() }
        for index in (doneCount..<ended.count).reversed() {
            let cause = index == doneCount ? ends[index] : ends[index]?.ofItsOwn
            await tryAgain(ended[index].batch, after: cause)
        }
    }

    /// Has a failed batch decided again before all others, if it's worth it, or else refuses it.
    func tryAgain(_ batch: NextBatch, after error: EventStoreError?) async {
        var batch = batch
        guard let error, await !isWorthAnother(&batch.attempts, after: error) else {
            batch.decisions = nil
            return again.insert(batch, at: 0)
        }
        log.error("batch refused", ["lane": lane.number, "error": "\(error)"])
        for work in batch.work { work.fail(.unavailable) }
        await endTurn(of: batch)
    }

    private func isWorthAnother(
        _ attempts: inout BatchAttempts, after error: EventStoreError
    ) async -> Bool {
        switch error {
        case .claimed:
            attempts.conflicts += 1
            cautiousBatches = limits.cautiousBatches
            if attempts.conflicts <= limits.conflictsMax { return true }
        case .conflict:
            attempts.conflicts += 1
            telemetry.conflicts.increment()
            if attempts.conflicts <= limits.conflictsMax { return true }
        case .resultUnknown:
            // The batch may have been committed. Deciding it again tells: its claims then bear the
            // commands' own ids.
            attempts.isUnknown = true
            telemetry.unknownResults.increment()
            log.warning("commit result unknown", ["lane": lane.number, "error": "\(error)"])
        case .unavailable, .corrupt: break
        }
        // From then on every failure is one more vain attempt to learn the result.
        guard attempts.isUnknown else { return false }
        attempts.unknown += 1
        guard attempts.unknown <= limits.unknownResultAttemptsMax else { return false }
        await pause(limits.unknownResultPauseMilliseconds)
        return true
    }
}

extension EventStoreError {
    /// What a batch has met itself that stands on a failed one, and so had to fail.
    fileprivate var ofItsOwn: EventStoreError? {
        switch self {
        case .conflict, .unavailable: nil
        case .claimed, .resultUnknown, .corrupt: self
        }
    }
}
