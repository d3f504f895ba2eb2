import Base
package import CoinLedger
package import EventStore
package import Telemetry

/// The only way to change the accounts of one lane: load, decide, append, commit, answer.
///
/// Group commit: while one batch is being appended the next one collects, and is decided as if the
/// first had succeeded. Once there are as many commands in it, it's sent after the first one, so that
/// the database needn't wait for it; a lone command is appended at once. No outcome leaves before
/// the commit has returned. Another process may write to the same lane: the fence of `append` finds
/// it out, and all that stood on the failed batch is decided again.
///
/// Most purchases are new. So a batch whose accounts are known is appended without looking for
/// claims first, and if one proves to be taken, it's decided again with open eyes.
package actor LedgerWriter {
    let lane: Lane
    let store: any EventStore
    let limits: WriterLimits
    let executor: any TaskExecutor
    let pause: @Sendable (_ milliseconds: Int64) async -> Void
    let telemetry: WriterTelemetry
    let log: Log

    let queue = WorkQueue()
    var accounts: KnownAccounts
    private var lastSequence = 0
    /// The lane's head once all is appended that is under way; nil where it has to be read.
    var head: LaneHead?
    /// Oldest first; each stands on those before it.
    var underWay: [BatchUnderWay] = []
    /// What comes after these. Its decisions stand on them, and are missing if one failed or none is
    /// under way.
    var next = NextBatch()
    /// Failed, and to be decided anew before anything else.
    var again: [NextBatch] = []
    /// Reads states that the next batch needs, while others are under way.
    var reading: Task<Void, Never>?
    /// For how many batches claims are looked for before appending, since some were taken lately.
    var cautiousBatches = 0

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
        accounts = KnownAccounts(weightMax: limits.cachedAccountsMax)
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
        while true {
            if !underWay.isEmpty {
                await finishFirst()
            } else {
                await reading?.value
                guard let batch = takeBatch() else { return }
                await begin(batch)
            }
        }
    }

    private func takeBatch() -> NextBatch? {
        if !again.isEmpty { return again.removeFirst() }
        decideAhead()
        return takeNext(upTo: limits.batchCommandsMax)
    }

    /// The next batch as far as it was decided, and what else has come, up to so many commands in all.
    func takeNext(upTo limit: Int) -> NextBatch? {
        guard let (rest, leaving) = queue.takeBatch(upTo: limit) else { return nil }
        var batch = NextBatch()
        swap(&batch, &next)
        batch.work += rest
        telemetry.took(batch.work.count, leaving: leaving, lane: lane)
        return batch
    }

    private func startDecisions(at head: LaneHead) -> Decisions {
        lastSequence += 1
        return Decisions(lane: lane, expectedHead: head, sequence: lastSequence)
    }

    /// Decides a batch that stands on nothing, and appends it.
    private func begin(_ batch: NextBatch) async {
        var batch = batch
        do throws(EventStoreError) {
            if !batch.attempts.hasTurn, batch.attempts.conflicts >= limits.conflictsBeforeTurn {
                try await store.takeTurn(in: lane)
                batch.attempts.hasTurn = true
            }
            let decisions = try await decide(&batch)
            append(decisions, for: batch)
        } catch {
            if error != .claimed { forget() }
            await tryAgain(batch, after: error)
        }
    }

    private func decide(_ batch: inout NextBatch) async throws(EventStoreError) -> Decisions {
        var decided = batch.decisions.take()
        var undecided = batch.work[(decided?.decisions.count ?? 0)...]
        if let before = decided, undecided.contains(where: { needsMore($0, after: before) }) {
            // What is read doesn't know what isn't appended yet.
            accounts.remove(before.accounts)
            decided = nil
            undecided = batch.work[...]
        }
        var loaded: Loaded?
        if head == nil || !undecided.allSatisfy({ canBeDecided($0, known($0)) }) {
            var needed = NeededFacts()
            for work in undecided { needed.add(work, in: accounts) }
            loaded = try await load(&needed, for: undecided)
        }
        var decisions = decided.take() ?? startDecisions(at: loaded?.head ?? head ?? .start)
        if let loaded {
            decisions.add(loaded.facts, loaded.answers)
            for (id, account) in loaded.accounts { accounts.add(id, account) }
        }
        for work in undecided {
            // What wasn't found is new.
            decisions.decide(work, known(work) ?? work.account.map { accounts.add($0, .new) })
        }
        return decisions
    }

    func known(_ work: QueuedWork) -> KnownAccount? { work.account.flatMap { accounts[$0] } }

    /// Whether an account has to be read that was changed by what isn't appended yet.
    private func needsMore(_ work: QueuedWork, after decisions: Decisions) -> Bool {
        guard let known = known(work), known.sequence == decisions.sequence,
            let command = work.command
        else { return false }
        return NeededFacts.needsLots(command, known.account)
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
        for command in work.compactMap(\.command) {
            guard let account = found.accounts[command.account],
                NeededFacts.needsLots(command, account)
            else { continue }
            needed.addLots(of: command.account)
            isEnough = false
        }
        // Once more at most: then all of their lots are there.
        return isEnough ? found : try await load(&needed, for: work)
    }

    /// Appends what was decided, and takes it for done meanwhile.
    func append(_ decisions: Decisions, for batch: NextBatch) {
        head = decisions.head
        accounts.use(
            decisions.accounts,
            keepingSince: underWay.first?.sequence ?? decisions.sequence)
        // For the task that appends it to take: nobody may hold a state that is to be changed, since
        // it would have to be copied.
        let outgoing = Lock(decisions.batch)
        // Not on this actor, or it wouldn't begin at once.
        let end = Task.immediate(executorPreference: executor) { @concurrent [store, telemetry] in
            await LedgerWriter.append(outgoing, to: store, telemetry)
        }
        underWay.append(
            BatchUnderWay(
                batch: batch, decisions: decisions.decisions, expectedHead: decisions.expectedHead,
                sequence: decisions.sequence, accounts: decisions.accounts, end: end))
        guard again.isEmpty, next.work.isEmpty else { return }
        next.decisions = head.map { startDecisions(at: $0) }
        if queue.announce() { Task(executorPreference: executor) { await self.decideAhead() } }
    }

    /// Returns why that failed, nil if it's durable or there was nothing to append.
    private static func append(
        _ outgoing: Lock<Batch?>, to store: any EventStore, _ telemetry: WriterTelemetry
    ) async -> EventStoreError? {
        guard let batch = outgoing.withLock({ $0.take() }) else { return nil }
        let timing = telemetry.begin()
        do throws(EventStoreError) {
            try await store.append(consume batch)
        } catch {
            return error
        }
        telemetry.committed(since: timing)
        return nil
    }

    /// Waits for the end of the oldest batch, and answers it.
    private func finishFirst() async {
        guard let first = underWay.first else { return }
        guard await first.end.value == nil else { return await recover() }
        underWay.removeFirst()
        await finish(first)
        sendAhead()
    }

    func finish(_ done: BatchUnderWay) async {
        cautiousBatches = max(0, cautiousBatches - 1)
        for (work, decision) in zip(done.batch.work, done.decisions) { work.finish(decision) }
        await endTurn(of: done.batch)
    }

    func endTurn(of batch: NextBatch) async {
        guard batch.attempts.hasTurn else { return }
        do throws(EventStoreError) {
            try await store.endTurn(in: lane)
        } catch {
            log.warning("turn not ended", ["lane": lane.number, "error": "\(error)"])
        }
    }

    func forget() {
        accounts.removeAll()
        head = nil
    }
}
