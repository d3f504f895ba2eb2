import CoinLedger
import EventStore

/// What is done for the next batch while others are under way.
extension LedgerWriter {
    /// Decides what has come while something is being appended, as far as that needs no more than
    /// account states to be read, and sends it on if it's enough for a batch.
    func decideAhead() {
        queue.heard()
        guard var decisions = next.decisions.take() else { return }
        while next.work.count < limits.batchCommandsMax,
            let work = queue.takeAhead(if: { canBeDecided($0, after: decisions) })
        {
            decide(work, in: &decisions)
            next.work.append(work)
        }
        readAhead(for: decisions)
        next.decisions = decisions
        sendAhead()
    }

    private func canBeDecided(_ work: QueuedWork, after decisions: Decisions) -> Bool {
        let known = work.account.flatMap { decisions.states[$0] ?? cache[$0] }
        return NeededFacts.isEnough(known, for: work, withClaims: cautiousBatches > 0)
    }

    /// Has the states read of accounts that come next and that nobody here knows, so that nothing
    /// which is under way changes them.
    private func readAhead(for decisions: Decisions) {
        let room = limits.batchCommandsMax - next.work.count
        guard reading == nil, !underWay.isEmpty, room > 0 else { return }
        var unknown: Set<AccountID> = []
        for work in queue.first(room) {
            guard let id = work.account, decisions.lacks(id), cache[id] == nil,
                !underWay.contains(where: { $0.accounts.contains(id) })
            else { continue }
            unknown.insert(id)
        }
        guard !unknown.isEmpty else { return }
        let ids = Array(unknown)
        reading = Task.immediate(executorPreference: executor) { @concurrent [store] in
            // If that fails, they are read as for any batch, and that tells why.
            await self.didRead(ids, try? await store.states(of: ids))
        }
    }

    private func didRead(_ ids: [AccountID], _ found: [AccountID: Account]?) {
        reading = nil
        guard let found, next.decisions != nil else { return }
        for id in ids { next.decisions?.add(id, found[id] ?? .new) }
        decideAhead()
    }

    /// Appends the next batch after the one that is under way, once it has as many commands. If it
    /// were sent sooner, batches would become small, of which each has its price.
    func sendAhead() {
        guard let last = underWay.last, underWay.count < limits.batchesUnderWayMax, next.isReady,
            next.work.count >= min(last.batch.work.count, limits.batchCommandsMax),
            let (_, leaving) = queue.takeBatch(upTo: next.work.count)
        else { return }
        var batch = NextBatch()
        swap(&batch, &next)
        telemetry.took(batch.work.count, leaving: leaving, lane: lane)
        guard let decisions = batch.decisions.take() else { return }
        append(decisions, for: batch)
    }
}
