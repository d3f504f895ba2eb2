import CoinLedger
import EventStore

/// An account as a writer knows it: after all that it has decided, appended or not.
///
/// A class, so that it's found once for a command, and changed where it is: a state with thousands of
/// lots must not be copied.
final class KnownAccount {
    let id: AccountID
    private(set) var account: Account
    /// The last batch that used it: see `Decisions.sequence`.
    private(set) var sequence = 0
    private var change = Change()
    /// In which it was used last, nil if it never was.
    fileprivate var generation: Int?

    /// What that batch does to it.
    private struct Change {
        var versionBefore: Int64 = 0
        var lotCountBefore: Int64 = 0
        var lots = TouchedLots()
    }

    fileprivate init(_ id: AccountID, _ account: Account) {
        self.id = id
        self.account = account
    }

    /// Becomes part of a batch; false if it is already.
    func join(_ sequence: Int) -> Bool {
        guard self.sequence != sequence else { return false }
        self.sequence = sequence
        change = Change(versionBefore: account.version, lotCountBefore: account.lotCount)
        return true
    }

    func evolve(_ event: Event, id: EventID) {
        change.lots.note(event, before: account)
        account.evolve(event, id: id)
    }

    /// What its last batch does to it, nil if nothing.
    var changed: ChangedAccount? {
        guard account.version != change.versionBefore else { return nil }
        return ChangedAccount(
            id: id, account: account, versionBefore: change.versionBefore,
            lotCountBefore: change.lotCountBefore, changedLots: change.lots.changed(in: account))
    }

    fileprivate var weight: Int {
        let lots = account.production.openLotCount + account.sandbox.openLotCount
        return 1 + lots / KnownAccounts.lotsPerWeight
    }
}

/// The accounts of the last batches, the least recently used forgotten first.
///
/// Two generations: what is used becomes young; when these are too many, they become old and the old
/// ones are forgotten. So between half of and all of `weightMax` is kept, at the cost of a dictionary.
struct KnownAccounts {
    private let generationMax: Int
    private var accounts: [AccountID: KnownAccount] = [:]
    private var generation = 0
    private var youngWeight = 0

    /// Open lots that weigh as much as an account without any.
    fileprivate static let lotsPerWeight = 4

    init(weightMax: Int) { generationMax = max(1, weightMax / 2) }

    subscript(id: AccountID) -> KnownAccount? { accounts[id] }

    /// Takes a state that was read, in place of what was known.
    @discardableResult
    mutating func add(_ id: AccountID, _ account: Account) -> KnownAccount {
        let known = KnownAccount(id, account)
        accounts[id] = known
        return known
    }

    /// Makes those young that were used, and forgets others if there are too many.
    ///
    /// - Parameter sequence: that of the first batch whose accounts must stay, since the store doesn't
    ///   know yet what it does to them.
    mutating func use(_ used: [KnownAccount], keepingSince sequence: Int) {
        for known in used where known.generation != generation {
            if youngWeight >= generationMax { forgetOld(keepingSince: sequence) }
            known.generation = generation
            youngWeight += known.weight
        }
    }

    private mutating func forgetOld(keepingSince sequence: Int) {
        accounts = accounts.filter { $1.generation == generation || $1.sequence >= sequence }
        generation += 1
        youngWeight = 0
    }

    mutating func remove(_ removed: [KnownAccount]) {
        for known in removed { accounts[known.id] = nil }
    }

    mutating func removeAll() {
        accounts.removeAll(keepingCapacity: true)
        youngWeight = 0
    }
}
