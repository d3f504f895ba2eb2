/// What the store's word on refunds does. The last word counts, by the date it was signed at, in
/// whatever order words arrive.
extension Account {
    func decide(_ notice: RefundNotice, at time: Timestamp) throws(Rejection) -> [Event] {
        var purse = self[notice.purchase.environment]
        let known = purse.refunds[notice.purchase] ?? Refund()
        if let signedAt = known.signedAt {
            let (old, new) = (
                Word(signedAt, known.percentage), Word(notice.signedAt, notice.percentage)
            )
            if old == new { throw .refundAlreadyKnown }
            if new < old { throw .refundIsOlder }
        }
        var events: [Event] = []
        if notice.percentage <= 0 || notice.percentage < known.percentage {
            let reversed = RefundReversed(
                purchase: notice.purchase, signedAt: notice.signedAt, returned: known.taken,
                debtCleared: known.debt)
            guard purse.hasRoom(for: known.taken.coins) else { throw .balanceTooLarge }
            events.append(.refundReversed(reversed))
            purse.give(known.taken)
            purse.update(notice.purchase) { $0 = Refund() }
        }
        if notice.percentage > 0 {
            events.append(.purchaseRefunded(purse.refund(notice, at: time)))
        }
        return events
    }

    func remember(
        _ refund: RefundWord, knowing facts: Facts
    ) throws(Rejection) -> Event {
        if let claim = facts.claims[refund.purchase] { throw .purchaseIsGranted(claim) }
        if let known = facts.rememberedRefunds[refund.purchase]?.refund {
            let (old, new) = (
                Word(known.signedAt, known.percentage), Word(refund.signedAt, refund.percentage)
            )
            if old == new { throw .refundAlreadyKnown }
            if new < old { throw .refundIsOlder }
        }
        return .refundRemembered(refund)
    }
}

/// The store's words on one purchase, the later one above. Of two signed in one millisecond a
/// reversal is the last, and more counts for later than less: so their order is always the same.
private struct Word: Comparable {
    private let signedAt: Timestamp
    private let percentage: Int64

    init(_ signedAt: Timestamp, _ percentage: Int64) {
        self.signedAt = signedAt
        self.percentage = percentage
    }

    static func < (one: Word, other: Word) -> Bool {
        (one.signedAt, one.rank) < (other.signedAt, other.rank)
    }

    private var rank: Int64 { percentage <= 0 ? .max : percentage }
}

extension Purse {
    /// Takes what is asked for beyond what was asked before: out of the purchase's own lots, as far
    /// as it's neither spent nor held; the rest is a shortfall. That of paid coins is dealt with by
    /// policy; free coins that came with the purchase and are gone are given up.
    fileprivate func refund(_ notice: RefundNotice, at time: Timestamp) -> PurchaseRefunded {
        let known = refunds[notice.purchase] ?? Refund()
        let held = heldByLot(at: time)
        var taken: [ReturnedSlice] = []
        var shortfall = Coins.zero
        var writtenOff = Coins.zero
        for lot in notice.lots {
            let target = Refund.target(of: lot.coins, percentage: notice.percentage)
            let before = Refund.target(of: lot.coins, percentage: known.percentage)
            let asked = target.subtracting(before)
            var found = Coins.zero
            if let open = openLot(lot) {
                found = min(asked, open.remaining.subtracting(held[lot.number] ?? .zero))
                if found > .zero {
                    taken.append(open.returning(found, value: open.slice(found).value))
                }
            }
            let missing = asked.subtracting(found)
            switch lot.kind {
            case .paid: shortfall = shortfall.addingSaturated(missing)
            case .free: writtenOff = writtenOff.addingSaturated(missing)
            }
        }
        switch notice.shortfallPolicy {
        case .debt: break
        case .writeOff:
            writtenOff = writtenOff.addingSaturated(shortfall)
            shortfall = .zero
        case .takeOtherPaid:
            let others = otherPaid(shortfall, than: notice.lots, held, at: time)
            taken += others
            shortfall = shortfall.subtracting(others.map(\.coins).sum())
        }
        return PurchaseRefunded(
            purchase: notice.purchase, percentage: notice.percentage, signedAt: notice.signedAt,
            shortfallPolicy: notice.shortfallPolicy, taken: taken, debt: shortfall,
            writtenOff: writtenOff)
    }

    /// Out of as many lots as one event may draw from.
    private func otherPaid(
        _ coins: Coins, than own: [Lot], _ held: [Int64: Coins], at time: Timestamp
    ) -> [ReturnedSlice] {
        var taken: [ReturnedSlice] = []
        var left = coins
        for open in openLots where open.lot.kind == .paid && !open.lot.isExpired(at: time) {
            guard left > .zero, taken.count < Account.slicesMax else { break }
            if own.contains(where: { $0.number == open.lot.number }) { continue }
            let takes = min(left, open.remaining.subtracting(held[open.lot.number] ?? .zero))
            guard takes > .zero else { continue }
            taken.append(open.returning(takes, value: open.slice(takes).value))
            left = left.subtracting(takes)
        }
        return taken
    }
}
