/// What an account has in one environment: lots, coins held, and what refunds have taken.
package struct Purse: Hashable, Sendable {
    /// The coins of open lots by kind, expired ones among them until that is recorded.
    package private(set) var paid = Coins.zero
    package private(set) var free = Coins.zero
    private var paidLots = LotQueue(.paid)
    private var freeLots = LotQueue(.free)
    /// Lots that were there before and haven't been read, if there are any.
    private var unread: UnreadLots?
    /// Coins set aside, in the order in which that was done; expired ones stay for a while.
    package private(set) var holds: [Hold] = []
    /// What the store has said of refunds of each purchase, as far as it ever did.
    package private(set) var refunds: [PurchaseKey: Refund] = [:]

    package static let empty = Purse()

    private init() {}

    /// A purse as it was kept.
    package init(openLots: [OpenLot], holds: [Hold], refunds: [PurchaseKey: Refund]) {
        for lot in openLots { add(lot) }
        self.holds = holds
        self.refunds = refunds
    }

    /// A purse as it was kept, of whose lots only some were read. If these aren't all, it's enough
    /// to put coins in, but not to take any out.
    package init(
        paid: Coins, free: Coins, nextExpiry: Timestamp?, openLots: [OpenLot], holds: [Hold],
        refunds: [PurchaseKey: Refund]
    ) {
        self.init(openLots: openLots, holds: holds, refunds: refunds)
        guard (self.paid, self.free) != (paid, free) || self.nextExpiry != nextExpiry else {
            return
        }
        (self.paid, self.free) = (paid, free)
        unread = UnreadLots(nextExpiry: nextExpiry)
    }

    /// Whether it has lots that haven't been read.
    package var isPartial: Bool { unread != nil }

    /// Every lot with coins left: paid ones, then free ones.
    package var openLots: [OpenLot] { Array(paidLots.all) + Array(freeLots.all) }

    /// Calls `body` with the open lots that have a number above `number`.
    package func forEachOpenLot(above number: Int64, _ body: (OpenLot) -> Void) {
        for lot in paidLots.newest(above: number) where lot.lot.number > number { body(lot) }
        for lot in freeLots.newest(above: number) where lot.lot.number > number { body(lot) }
    }

    package var openLotCount: Int { paidLots.count + freeLots.count }

    package func openLot(_ number: Int64) -> OpenLot? { paidLots[number] ?? freeLots[number] }

    /// The same where the whole lot is known, however many there are.
    package func openLot(_ lot: Lot) -> OpenLot? {
        lot.kind == .paid ? paidLots[lot] : freeLots[lot]
    }

    /// The earliest expiry of an open lot, recorded as expired or not.
    package var nextExpiry: Timestamp? {
        let open = Timestamp.earlier(paidLots.nextExpiry, freeLots.nextExpiry)
        return Timestamp.earlier(open, unread?.nextExpiry)
    }

    /// What spent coins are still owed, because their purchase was refunded.
    package var debt: Coins { refunds.isEmpty ? .zero : refunds.values.map(\.debt).sum() }

    /// The coins that may go out at `time`, as slices in `order`: as many as there are, up to
    /// `coins`.
    func draw(_ coins: Coins, _ order: ConsumptionOrder, at time: Timestamp) -> [Slice] {
        draw(coins, from: order.lots(freeLots, paidLots), at: time)
    }

    /// The same from lots of one kind.
    func draw(_ coins: Coins, only kind: Lot.Kind, at time: Timestamp) -> [Slice] {
        draw(coins, from: [kind == .paid ? paidLots.all : freeLots.all], at: time)
    }

    private func draw(
        _ coins: Coins, from parts: [ArraySlice<OpenLot>], at time: Timestamp
    ) -> [Slice] {
        let held = heldByLot(at: time)
        var slices: [Slice] = []
        var left = coins
        for part in parts {
            for open in part {
                guard left > .zero else { return slices }
                if open.lot.isExpired(at: time) { continue }
                let takes = min(left, open.remaining.subtracting(held[open.lot.number] ?? .zero))
                guard takes > .zero else { continue }
                slices.append(open.slice(takes))
                left = left.subtracting(takes)
            }
        }
        return slices
    }

    /// What is held at `time` of each lot.
    func heldByLot(at time: Timestamp) -> [Int64: Coins] {
        guard !holds.isEmpty else { return [:] }
        var held: [Int64: Coins] = [:]
        for hold in holds where !hold.isExpired(at: time) {
            for slice in hold.slices {
                held[slice.lot] = (held[slice.lot] ?? .zero).addingSaturated(slice.coins)
            }
        }
        return held
    }

    func hold(_ id: EventID) -> Hold? { holds.first { $0.id == id } }

    /// Open lots whose time is over at `time`, and their unheld coins.
    func expired(at time: Timestamp) -> [Slice] {
        guard let next = nextExpiry, next <= time else { return [] }
        let held = heldByLot(at: time)
        return openLots.filter { $0.lot.isExpired(at: time) }.compactMap { open in
            let coins = open.remaining.subtracting(held[open.lot.number] ?? .zero)
            return coins > .zero ? open.slice(coins) : nil
        }
    }

    /// Whether `coins` more stay within what a balance may be.
    func hasRoom(for coins: GrantedCoins) -> Bool {
        guard let paid = paid.adding(coins.paid), let free = free.adding(coins.free) else {
            return false
        }
        return paid.adding(free) != nil
    }
}

/// What is known of lots that haven't been read. Their coins are in the purse's sums.
private struct UnreadLots: Hashable, Sendable {
    let nextExpiry: Timestamp?
}

/// What events do to a purse.
extension Purse {
    mutating func add(_ open: OpenLot) {
        switch open.lot.kind {
        case .paid:
            paid = paid.addingSaturated(open.remaining)
            if open.remaining > .zero { paidLots.add(open) }
        case .free:
            free = free.addingSaturated(open.remaining)
            if open.remaining > .zero { freeLots.add(open) }
        }
    }

    mutating func take(_ slices: [Slice]) {
        for slice in slices {
            switch slice.kind {
            case .paid: if paidLots.take(slice) { paid = paid.subtracting(slice.coins) }
            case .free: if freeLots.take(slice) { free = free.subtracting(slice.coins) }
            }
        }
    }

    mutating func give(_ slices: [ReturnedSlice]) {
        for slice in slices {
            switch slice.lot.kind {
            case .paid:
                paidLots.give(slice)
                paid = paid.addingSaturated(slice.coins)
            case .free:
                freeLots.give(slice)
                free = free.addingSaturated(slice.coins)
            }
        }
    }

    mutating func add(_ hold: Hold, at time: Timestamp) {
        holds.removeAll { $0.isExpired(at: time) }
        holds.append(hold)
    }

    mutating func endHold(_ id: EventID) { holds.removeAll { $0.id == id } }

    mutating func update(_ key: PurchaseKey, _ change: (inout Refund) -> Void) {
        var refund = refunds[key] ?? Refund()
        change(&refund)
        refunds[key] = refund
    }
}
