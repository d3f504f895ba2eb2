import CoinLedger
import EventStore

/// What is done for the next batch while others are under way.
extension LedgerWriter {
    /// Decides what has come while something is being appended, as far as that needs no more than
    /// account states to be read, and sends it on if it's enough for a batch.
    func decideAhead() {
        queue.heard()
        guard var decisions = next.decisions.take() else { return }
        while next.work.count < limits.batchCommandsMax, let work = queue.first {
            let account = known(work)
            guard canBeDecided(work, account) else { break }
            queue.takeFirstAhead()
            decisions.decide(work, account)
            next.work.append(work)
        }
        readAhead()
        next.decisions = decisions
        sendAhead()
    }

    /// Whether nothing has to be read for `work`.
    func canBeDecided(_ work: QueuedWork, _ known: KnownAccount?) -> Bool {
        NeededFacts.isEnough(known, for: work, withClaims: cautiousBatches > 0)
    }

    /// Has the states read that come next and aren't known, or not with the lots that it takes.
    /// Nothing that is under way changes them.
    private func readAhead() {
        let room = limits.batchCommandsMax - next.work.count
        guard reading == nil, let oldest = underWay.first, room > 0 else { return }
        let waiting = queue.first(room)
        var wanted = WantedStates(upTo: waiting.count)
        for work in waiting {
            guard let command = work.command else { continue }
            let known = accounts[command.account]
            if let known, known.sequence >= oldest.sequence { continue }
            wanted.add(command, known?.account)
        }
        guard !wanted.isEmpty else { return }
        let whatIsWanted = wanted
        reading = Task.immediate(executorPreference: executor) { @concurrent [store] in
            // If that fails, they are read as for any batch, and that tells why.
            await self.didRead(try? await whatIsWanted.read(from: store))
        }
    }

    private func didRead(_ found: [AccountID: Account]?) {
        reading = nil
        guard let found, next.decisions != nil else { return }
        for (id, account) in found { accounts.add(id, account) }
        decideAhead()
    }

    /// Appends the next batch after the one that is under way, once it has as many commands. If it
    /// were sent sooner, batches would become small, of which each has its price.
    func sendAhead() {
        guard let last = underWay.last, underWay.count < limits.batchesUnderWayMax, next.isReady,
            next.work.count >= last.batch.work.count, var batch = takeNext(upTo: next.work.count),
            let decisions = batch.decisions.take()
        else { return }
        append(decisions, for: batch)
    }
}

/// Accounts whose states are to be read.
private struct WantedStates: Sendable {
    private var unknown: Set<AccountID> = []
    /// Those among the unknown that coins are to be taken out of.
    private var drawn: Set<AccountID> = []
    /// Those that are known without the lots that it takes.
    private var partial: Set<AccountID> = []
    /// How many they may become.
    private let countMax: Int

    init(upTo countMax: Int) { self.countMax = countMax }

    var isEmpty: Bool { unknown.isEmpty && partial.isEmpty }

    mutating func add(_ command: Command, _ known: Account?) {
        if let known {
            if NeededFacts.needsLots(command, known) { partial.insert(command.account) }
        } else {
            if unknown.isEmpty { unknown.reserveCapacity(countMax) }
            unknown.insert(command.account)
            if command.action.needsLots { drawn.insert(command.account) }
        }
    }

    func read(from store: any EventStore) async throws(EventStoreError) -> [AccountID: Account] {
        var states: [AccountID: Account] = [:]
        if !unknown.isEmpty {
            states = try await store.states(of: Array(unknown), withLots: false)
        }
        let whole = partial.union(drawn.filter { states[$0]?.isPartial == true })
        if !whole.isEmpty {
            states.merge(try await store.states(of: Array(whole), withLots: true)) { $1 }
        }
        for id in unknown where states[id] == nil { states[id] = .new }
        return states
    }
}
