package import CoinLedger
package import EventStore
package import Telemetry

/// The only way to change the accounts of one lane: load, decide, append, commit, answer.
///
/// Group commit: while one batch is being committed the next one collects; a lone command is
/// committed at once. No outcome leaves before the commit has returned. Another process may write
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
        case .joined: break
        }
        return true
    }

    private func takeBatches() async {
        while let (batch, leaving) = queue.take(upTo: limits.batchCommandsMax) {
            telemetry.took(batch.count, leaving: leaving, lane: lane)
            await commit(batch)
        }
    }

    /// Carries out one batch, however many attempts that takes within the limits, and answers it.
    private func commit(_ batch: [QueuedWork]) async {
        var hasTurn = false
        await commit(batch, &hasTurn)
        guard hasTurn else { return }
        do throws(EventStoreError) {
            try await store.endTurn(in: lane)
        } catch {
            log.warning("turn not ended", ["lane": lane.number, "error": "\(error)"])
        }
    }

    private func commit(_ batch: [QueuedWork], _ hasTurn: inout Bool) async {
        var conflicts = 0
        var isUnknown = false
        var unknownAttempts = 0
        while true {
            do throws(EventStoreError) {
                if !hasTurn, conflicts >= limits.conflictsBeforeTurn {
                    try await store.takeTurn(in: lane)
                    hasTurn = true
                }
                let decisions = try await decide(batch)
                try await append(decisions)
                cautiousBatches = max(0, cautiousBatches - 1)
                for (work, decision) in zip(batch, decisions.decisions) { work.finish(decision) }
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
                for work in batch { work.fail(.unavailable) }
                return
            }
        }
    }

    private func decide(_ batch: [QueuedWork]) async throws(EventStoreError) -> Decisions {
        var needed = NeededFacts()
        for work in batch { needed.add(work, cached: { cache[$0] }) }
        let knownHead = head
        var loaded: Loaded?
        if knownHead == nil || needed.mustBeLoaded(withClaims: cautiousBatches > 0) {
            loaded = try await load(&needed, for: batch)
        }
        let accounts = loaded?.accounts ?? [:]
        var decisions = Decisions(
            lane: lane, expectedHead: loaded?.head ?? knownHead ?? 0,
            facts: loaded?.facts ?? Facts(), answers: loaded?.answers ?? [:])
        for work in batch {
            if let id = work.account, decisions.lacks(id) {
                // What was read just now may have lots that aren't in memory.
                let cached = cache.take(id)
                decisions.add(id, accounts[id] ?? cached ?? .new)
            }
            decisions.decide(work)
        }
        return decisions
    }

    private func load(
        _ needed: inout NeededFacts, for batch: [QueuedWork]
    ) async throws(EventStoreError) -> Loaded {
        let knownHead = head
        let found = try await store.load(needed.loadRequest(in: lane))
        // A head that has moved means that cached accounts may be old.
        if let knownHead, knownHead != found.head { throw .conflict }
        if !found.facts.claims.isEmpty || !found.answers.isEmpty {
            cautiousBatches = limits.cautiousBatches
        }
        var isEnough = true
        for command in batch.compactMap(\.command)
        where found.accounts[command.account]?.isUncertain(at: command.time) == true {
            needed.addLots(of: command.account)
            isEnough = false
        }
        // Once more at most: with their lots no accounts are uncertain.
        return isEnough ? found : try await load(&needed, for: batch)
    }

    private func append(_ decisions: Decisions) async throws(EventStoreError) {
        if let batch = decisions.batch {
            let timing = telemetry.begin()
            try await store.append(batch)
            telemetry.committed(since: timing)
        }
        head = decisions.head
        for (account, state) in decisions.states { cache.put(account, state) }
    }

    private func forget() {
        cache.removeAll()
        head = nil
    }
}
