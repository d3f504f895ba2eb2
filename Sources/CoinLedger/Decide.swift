extension Account {
    /// The events that `command` causes in this account: at least one.
    ///
    /// - Throws: the `Rejection` if it causes none.
    package func decide(_ command: Command, knowing facts: Facts) throws(Rejection) -> [Event] {
        switch command.action {
        case .grantPurchase(let grant): try decide(grant, of: command, knowing: facts)
        case .linkAppAccountToken(let token): try decide(token, of: command, knowing: facts)
        case .give(let gift): try decide(gift)
        case .spend(let spend): [try decide(spend, at: command.time)]
        case .reverseSpend(let reversal): [try decide(reversal, of: command, knowing: facts)]
        case .adjust(let adjustment): try decide(adjustment, at: command.time)
        case .hold(let request): [try decide(request, at: command.time)]
        case .captureHold(let capture): [try decide(capture, at: command.time)]
        case .releaseHold(let hold): [try release(hold, at: command.time)]
        case .expireCoins: try expire(at: command.time)
        case .refund(let notice): try decide(notice, at: command.time)
        case .rememberRefund(let refund): [try remember(refund, knowing: facts)]
        case .recordConsent(let consent): [try decide(consent)]
        case .recordOrder(let order): [try decide(order, knowing: facts)]
        }
    }

    private func decide(
        _ token: AppAccountToken, of command: Command, knowing facts: Facts
    ) throws(Rejection) -> [Event] {
        guard let owner = facts.tokenOwners[token] else { return [.appAccountTokenLinked(token)] }
        throw owner == command.account ? .tokenAlreadyLinked : .tokenLinkedToOtherAccount
    }

    private func decide(_ recorded: ConsentRecorded) throws(Rejection) -> Event {
        if consent == recorded.isGiven { throw .consentAlreadyRecorded }
        return .consentRecorded(recorded)
    }

    private func decide(
        _ order: OrderRecorded, knowing facts: Facts
    ) throws(Rejection) -> Event {
        if let event = facts.orders[order.id] { throw .orderAlreadyRecorded(event) }
        return .orderRecorded(order)
    }

    /// What new lots pay at once, if coins are owed: paid coins before free ones, the oldest debt
    /// first.
    func payments(of debtors: Purse, from lots: [Lot]) -> [Event] {
        guard debtors.debt > .zero else { return [] }
        var open = lots.sorted { $0.kind == .paid && $1.kind == .free }.map { OpenLot($0) }
        var events: [Event] = []
        for (purchase, refund) in debtors.refundsByDate where refund.debt > .zero {
            var left = refund.debt
            var taken: [ReturnedSlice] = []
            for index in open.indices {
                let takes = min(left, open[index].remaining)
                guard takes > .zero else { continue }
                let slice = open[index].slice(takes)
                open[index].take(slice)
                taken.append(open[index].returning(takes, value: slice.value))
                left = left.subtracting(takes)
            }
            guard !taken.isEmpty else { break }
            events.append(.debtPaid(DebtPaid(purchase: purchase, taken: taken)))
        }
        return events
    }
}

extension Purse {
    /// The oldest first; of one date, by transaction id.
    fileprivate var refundsByDate: [(PurchaseKey, Refund)] {
        refunds.sorted {
            let (one, other) = (
                $0.value.signedAt?.milliseconds ?? .min, $1.value.signedAt?.milliseconds ?? .min
            )
            return (one, $0.key.transactionID.text) < (other, $1.key.transactionID.text)
        }.map { ($0.key, $0.value) }
    }
}
