package import CoinLedger
package import EventStore
package import Telemetry

/// The only way to change the accounts of one lane: load, decide, append, commit, answer.
///
/// Group commit: while one batch is being committed the next one collects, and is decided as if the
/// first had succeeded; a lone command is committed at once. No outcome leaves before the commit has
/// returned. Another process may write
/// to the same lane: the fence of `append` finds it out, and the batch is decided again.
///
/// Most purchases are new. So a batch whose accounts are known is appended without looking for
/// claims first, and if one proves to be taken, it's decided again with open eyes.
package actor LedgerWriter {
    private let lane: Lane
    private let store: any EventStore
    private let limits: WriterLimits
    private let executor: any TaskExecutor
    private let pause: @Sendable (_ milliseconds: Int64) async -> Void
    private let telemetry: WriterTelemetry
    private let log: Log

    private let queue = WorkQueue()
    private var cache: AccountCache
    /// The lane's head as this writer knows it; nil where it has to be read.
    private var head: Int64?
    /// What comes after the batch that is being committed. Its decisions stand on that batch, and are
    /// missing if it failed or none is under way.
    private var next = NextBatch()
    /// For how many batches claims are looked for before appending, since some were taken lately.
    private var cautiousBatches = 0

    /// - Parameters:
    ///   - executor: where batches are made; the event loop of the store's connection, so that
    ///     nothing changes threads.
    ///   - pause: waits, between attempts to learn what has become of a commit.
    package init(
        lane: Lane, store: any EventStore, limits: WriterLimits = WriterLimits(),
        executor: any TaskExecutor, telemetry: WriterTelemetry, log: Log,
        pause: @escaping @Sendable (_ milliseconds: Int64) async -> Void
    ) {
        self.lane = lane
        self.store = store
        self.limits = limits
        self.executor = executor
        self.telemetry = telemetry
        self.log = log
        self.pause = pause
        cache = AccountCache(weightMax: limits.cachedAccountsMax)
    }

    /// Carries out `commands`, each on its own, and returns an outcome for each once all of them
    /// are durable. From a task on any thread, which is only left to wait.
    ///
    /// - Throws: `.overloaded` at once if the queue has no room for them; `.unavailable` if the
    ///   store didn't take them. Some may have been carried out all the same: a command that is
    ///   submitted again is not done twice.
    package nonisolated func submit(
        _ commands: [Command]
    ) async throws(WriterError) -> [Outcome] {
        guard !commands.isEmpty else { return [] }
        let result = await withCheckedContinuation { continuation in
            let submission = Submission(count: commands.count, continuation)
            let work = commands.enumerated().map { index, command in
                QueuedWork.command(command, index: index, submission)
            }
            guard accept(work) else { return continuation.resume(returning: .failure(.overloaded)) }
        }
        return try result.get()
    }

    /// Carries out a request at most once for its key, and returns the answer once it's durable: the
    /// first one, however often it's submitted. From a task on any thread.
    package nonisolated func submit(
        _ request: KeyedRequest
    ) async throws(KeyedError) -> Answered {
        let result = await withCheckedContinuation { continuation in
            guard accept([.keyed(request, continuation)]) else {
                return continuation.resume(returning: .failure(.writer(.overloaded)))
            }
        }
        return try result.get()
    }

    /// False if there is no room.
    private nonisolated func accept(_ work: [QueuedWork]) -> Bool {
        switch queue.append(work, limit: limits.queuedCommandsMax) {
        case .full:
            telemetry.overloads.increment()
            return false
        case .first: Task(executorPreference: executor) { await self.takeBatches() }
        case .more: Task(executorPreference: executor) { await self.decideAhead() }
        case .joined: break
        }
        return true
    }

    private func takeBatches() async {
        while var batch = takeBatch() { await commit(&batch) }
    }

    private func takeBatch() -> NextBatch? {
        decideAhead()
        var batch = NextBatch()
        swap(&batch, &next)
        guard let (rest, leaving) = queue.takeBatch(upTo: limits.batchCommandsMax) else {
            return nil
        }
        batch.work += rest
        telemetry.took(batch.work.count, leaving: leaving, lane: lane)
        return batch
    }

    /// Decides what has come while a batch is being committed, as far as that needs nothing to be
    /// read.
    private func decideAhead() {
        queue.heard()
        guard var decisions = next.decisions.take() else { return }
        while next.work.count < limits.batchCommandsMax,
            let work = queue.takeAhead(if: { canBeDecided($0, after: decisions) })
        {
            decide(work, in: &decisions)
            next.work.append(work)
        }
        next.decisions = decisions
    }

    private func canBeDecided(_ work: QueuedWork, after decisions: Decisions) -> Bool {
        var needed = NeededFacts()
        needed.add(work, cached: { decisions.states[$0] ?? cache[$0] })
        return !needed.mustBeLoaded(withClaims: cautiousBatches > 0)
    }

    private func decide(_ work: QueuedWork, in decisions: inout Decisions) {
        if let id = work.account, decisions.lacks(id) {
            decisions.add(id, cache.take(id) ?? .new)
        }
        decisions.decide(work)
    }

    /// Carries out one batch, however many attempts that takes within the limits, and answers it.
    private func commit(_ batch: inout NextBatch) async {
        var hasTurn = false
        await commit(&batch, &hasTurn)
        guard hasTurn else { return }
        do throws(EventStoreError) {
            try await store.endTurn(in: lane)
        } catch {
            log.warning("turn not ended", ["lane": lane.number, "error": "\(error)"])
        }
    }

    private func commit(_ batch: inout NextBatch, _ hasTurn: inout Bool) async {
        var conflicts = 0
        var isUnknown = false
        var unknownAttempts = 0
        while true {
            do throws(EventStoreError) {
                if !hasTurn, conflicts >= limits.conflictsBeforeTurn {
                    try await store.takeTurn(in: lane)
                    hasTurn = true
                }
                let decided = try await append(try await decide(&batch))
                cautiousBatches = max(0, cautiousBatches - 1)
                for (work, decision) in zip(batch.work, decided) { work.finish(decision) }
                return
            } catch {
                // Taken claims say nothing of what else is known.
                if error != .claimed { forget() }
                switch error {
                case .claimed:
                    conflicts += 1
                    cautiousBatches = limits.cautiousBatches
                    if conflicts <= limits.conflictsMax { continue }
                case .conflict:
                    conflicts += 1
                    telemetry.conflicts.increment()
                    if conflicts <= limits.conflictsMax { continue }
                case .resultUnknown:
                    // The batch may have been committed. Deciding it again tells: its claims then
                    // bear the commands' own ids.
                    isUnknown = true
                    telemetry.unknownResults.increment()
                    log.warning(
                        "commit result unknown", ["lane": lane.number, "error": "\(error)"])
                case .unavailable, .corrupt: break
                }
                // From then on every failure is one more vain attempt to learn the result.
                if isUnknown { unknownAttempts += 1 }
                if isUnknown, unknownAttempts <= limits.unknownResultAttemptsMax {
                    await pause(limits.unknownResultPauseMilliseconds)
                    continue
                }
                log.error("batch refused", ["lane": lane.number, "error": "\(error)"])
                for work in batch.work { work.fail(.unavailable) }
                return
            }
        }
    }

    private func decide(_ batch: inout NextBatch) async throws(EventStoreError) -> Decisions {
        var decided = batch.decisions.take()
        var undecided = batch.work[(decided?.decisions.count ?? 0)...]
        if let before = decided, undecided.contains(where: { needsMore($0, after: before) }) {
            // What is read doesn't know what isn't appended yet.
            decided = nil
            undecided = batch.work[...]
        }
        var needed = NeededFacts()
        for work in undecided {
            needed.add(work, cached: { decided?.states[$0] ?? cache[$0] })
        }
        var loaded: Loaded?
        if head == nil || needed.mustBeLoaded(withClaims: cautiousBatches > 0) {
            loaded = try await load(&needed, for: undecided)
        }
        var decisions =
            decided.take() ?? Decisions(lane: lane, expectedHead: loaded?.head ?? head ?? 0)
        if let loaded {
            decisions.add(loaded.facts, loaded.answers)
            for (id, account) in loaded.accounts {
                // It may have lots that weren't in memory.
                _ = cache.take(id)
                decisions.add(id, account)
            }
        }
        for work in undecided { decide(work, in: &decisions) }
        return decisions
    }

    /// Whether an account has to be read that was changed by what isn't appended yet.
    private func needsMore(_ work: QueuedWork, after decisions: Decisions) -> Bool {
        guard let command = work.command, let account = decisions.states[command.account] else {
            return false
        }
        return NeededFacts.needsLots(command, account)
    }

    private func load(
        _ needed: inout NeededFacts, for work: ArraySlice<QueuedWork>
    ) async throws(EventStoreError) -> Loaded {
        let knownHead = head
        let found = try await store.load(needed.loadRequest(in: lane))
        // A head that has moved means that cached accounts may be old.
        if let knownHead, knownHead != found.head { throw .conflict }
        if !found.facts.claims.isEmpty || !found.answers.isEmpty {
            cautiousBatches = limits.cautiousBatches
        }
        var isEnough = true
        for command in work.compactMap(\.command)
        where found.accounts[command.account]?.isUncertain(at: command.time) == true {
            needed.addLots(of: command.account)
            isEnough = false
        }
        // Once more at most: with their lots no accounts are uncertain.
        return isEnough ? found : try await load(&needed, for: work)
    }

    /// Appends what was decided, and takes it for done meanwhile.
    private func append(
        _ decisions: consuming Decisions
    ) async throws(EventStoreError) -> [Decision] {
        let decided = decisions.decisions
        let expectedHead = head
        let accounts = Array(decisions.states.keys)
        head = decisions.head
        var batch = decisions.batch
        for (account, state) in decisions.states { cache.put(account, state) }
        // From here on nobody else may hold a state, since it would have to be copied to be changed.
        _ = consume decisions
        guard let batch = batch.take() else { return decided }
        if next.work.isEmpty { next.decisions = Decisions(lane: lane, expectedHead: head ?? 0) }
        if queue.announce() { Task(executorPreference: executor) { await self.decideAhead() } }
        let timing = telemetry.begin()
        do throws(EventStoreError) {
            try await store.append(consume batch)
        } catch {
            head = expectedHead
            for account in accounts { _ = cache.take(account) }
            next.decisions = nil
            throw error
        }
        telemetry.committed(since: timing)
        return decided
    }

    private func forget() {
        cache.removeAll()
        head = nil
    }
}
