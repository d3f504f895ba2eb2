import Base
import CoinLedger
import EventStore

/// A store that counts, holds appends back, and fails as it's told to.
final class ScriptedStore: EventStore {
    enum Fault: Hashable {
        case conflict, unavailable, corrupt
        /// The answer is lost, and the batch with it.
        case unknownBefore
        /// The batch is appended, but the answer is lost.
        case unknownAfter
    }

    private struct State {
        var faults: [Fault] = []
        var metFaults: [Fault] = []
        var endlessFault: Fault?
        var loadFaults: [EventStoreError] = []
        var batchSizes: [Int] = []
        var loadedAccounts: [Set<AccountID>] = []
        var statesRead: [Set<AccountID>] = []
        var accountReads: [Int] = []
        var turns: [String] = []
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
        var whenHeld: [CheckedContinuation<Void, Never>] = []
    }

    fileprivate let inner: any EventStore
    private let state = Lock(State())

    init(_ inner: any EventStore) { self.inner = inner }

    var laneCount: Int64 { inner.laneCount }

    /// What the next appends meet, one each; then all go well.
    func fail(_ faults: Fault...) { state.withLock { $0.faults += faults } }
    /// The same in place of those that haven't been met yet.
    func replaceFaults(by faults: [Fault]) {
        state.withLock { ($0.faults, $0.metFaults) = (faults, []) }
    }
    /// What appends have met since `replaceFaults`.
    var metFaults: [Fault] { state.withLock { $0.metFaults } }
    /// What every append meets from now on, once the list of `fail` is used up.
    func failAlways(_ fault: Fault?) { state.withLock { $0.endlessFault = fault } }
    func failLoads(_ errors: EventStoreError...) { state.withLock { $0.loadFaults += errors } }

    /// How many commands' worth of grants each append held: its claims.
    var batchSizes: [Int] { state.withLock { $0.batchSizes } }
    var appends: Int { batchSizes.count }
    /// The accounts that each load asked for.
    var loadedAccounts: [Set<AccountID>] { state.withLock { $0.loadedAccounts } }
    /// The accounts that were asked for while something was appended.
    var statesRead: [Set<AccountID>] { state.withLock { $0.statesRead } }
    var accountReads: [Int] { state.withLock { $0.accountReads } }

    /// What was said of turns.
    var turns: [String] { state.withLock { $0.turns } }

    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// How much is held back.
    var heldCount: Int { state.withLock { $0.held.count } }

    /// Appends what another process would.
    func appendUnheld(_ batch: Batch) async throws(EventStoreError) {
        try await inner.append(batch)
    }

    /// Returns when something is held back.
    func waitUntilHeld() async {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.held.isEmpty { state.whenHeld.append(continuation) }
                return !state.held.isEmpty
            }
            if isHeld { continuation.resume() }
        }
    }

    private func waitIfHeld() async {
        await withCheckedContinuation { continuation in
            let waiting: [CheckedContinuation<Void, Never>]? = state.withLock { state in
                guard state.isHeld else { return nil }
                state.held.append(continuation)
                defer { state.whenHeld = [] }
                return state.whenHeld
            }
            guard let waiting else { return continuation.resume() }
            for other in waiting { other.resume() }
        }
    }

    func load(_ request: LoadRequest) async throws(EventStoreError) -> Loaded {
        let fault: EventStoreError? = state.withLock { state in
            state.loadedAccounts.append(Set(request.accounts + request.accountsWithoutLots))
            return state.loadFaults.isEmpty ? nil : state.loadFaults.removeFirst()
        }
        if let fault { throw fault }
        return try await inner.load(request)
    }

    func states(
        of ids: [AccountID], withLots: Bool
    ) async throws(EventStoreError) -> [AccountID: Account] {
        let fault: EventStoreError? = state.withLock { state in
            state.statesRead.append(Set(ids))
            return state.loadFaults.isEmpty ? nil : state.loadFaults.removeFirst()
        }
        if let fault { throw fault }
        return try await inner.states(of: ids, withLots: withLots)
    }

    func append(_ batch: Batch) async throws(EventStoreError) {
        await waitIfHeld()
        let fault: Fault? = state.withLock { state in
            state.batchSizes.append(batch.claims.count)
            let fault = state.faults.isEmpty ? state.endlessFault : state.faults.removeFirst()
            if let fault { state.metFaults.append(fault) }
            return fault
        }
        switch fault {
        case nil: try await inner.append(batch)
        case .conflict: throw .conflict
        case .unavailable: throw .unavailable("told to")
        case .corrupt: throw .corrupt("told to")
        case .unknownBefore: throw .resultUnknown("before")
        case .unknownAfter:
            try await inner.append(batch)
            throw .resultUnknown("after")
        }
    }

    func balances(
        of ids: [AccountID], at time: Timestamp
    ) async throws(EventStoreError) -> [AccountID: AccountBalance] {
        await waitIfHeld()
        let fault: EventStoreError? = state.withLock { state in
            state.accountReads.append(ids.count)
            return state.loadFaults.isEmpty ? nil : state.loadFaults.removeFirst()
        }
        if let fault { throw fault }
        return try await inner.balances(of: ids, at: time)
    }
}

/// What is only passed on.
extension ScriptedStore {
    func account(_ id: AccountID) async throws(EventStoreError) -> Account? {
        try await inner.account(id)
    }

    func claims(on keys: [PurchaseKey]) async throws(EventStoreError) -> PurchaseClaims {
        try await inner.claims(on: keys)
    }

    func event(_ id: EventID) async throws(EventStoreError) -> StoredEvent? {
        try await inner.event(id)
    }

    func order(_ id: OrderID) async throws(EventStoreError) -> StoredEvent? {
        try await inner.order(id)
    }

    func events(
        of account: AccountID, after version: Int64, limit: Int, where filter: EventFilter
    ) async throws(EventStoreError) -> [StoredEvent] {
        try await inner.events(of: account, after: version, limit: limit, where: filter)
    }

    func events(
        in lane: Lane, after position: Int64, limit: Int
    ) async throws(EventStoreError) -> [StoredEvent] {
        try await inner.events(in: lane, after: position, limit: limit)
    }

    func lots(
        of account: AccountID, after number: Int64, limit: Int, openOnly: Bool
    ) async throws(EventStoreError) -> [StoredLot] {
        try await inner.lots(of: account, after: number, limit: limit, openOnly: openOnly)
    }

    func lots(
        in lane: Lane, after last: LotID?, limit: Int
    ) async throws(EventStoreError) -> [StoredLot] {
        try await inner.lots(in: lane, after: last, limit: limit)
    }

    func accountsWithExpiredLots(
        in lane: Lane, at time: Timestamp, limit: Int
    ) async throws(EventStoreError) -> [AccountID] {
        try await inner.accountsWithExpiredLots(in: lane, at: time, limit: limit)
    }

    func takeTurn(in lane: Lane) async throws(EventStoreError) {
        state.withLock { $0.turns.append("take") }
        try await inner.takeTurn(in: lane)
    }

    func endTurn(in lane: Lane) async throws(EventStoreError) {
        state.withLock { $0.turns.append("end") }
        try await inner.endTurn(in: lane)
    }

    func heads() async throws(EventStoreError) -> [Lane: Int64] { try await inner.heads() }

    func accounts(
        in lane: Lane, after id: AccountID?, limit: Int
    ) async throws(EventStoreError) -> [(id: AccountID, account: Account)] {
        try await inner.accounts(in: lane, after: id, limit: limit)
    }

    func forgetAnswers(
        recordedBefore time: Timestamp, limit: Int
    ) async throws(EventStoreError) -> Int {
        try await inner.forgetAnswers(recordedBefore: time, limit: limit)
    }
}
