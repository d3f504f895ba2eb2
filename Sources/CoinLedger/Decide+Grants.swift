/// How coins come in.
extension Account {
    func decide(
        _ grant: PurchaseGrant, of command: Command, knowing facts: Facts
    ) throws(Rejection) -> [Event] {
        let purchase = grant.purchase
        for key in purchase.claimedKeys {
            guard let claim = facts.claims[key] else { continue }
            guard claim.account == command.account else { throw .grantedToOtherAccount }
            throw claim.command == command.id ? .alreadyDone(claim) : .alreadyGranted(claim)
        }
        let remembered = purchase.claimedKeys.compactMap { facts.rememberedRefunds[$0]?.refund }
        if remembered.contains(where: { $0.percentage > 0 }) { throw .refundedBefore }
        try checkOwner(of: purchase, command, facts)
        let environment = purchase.key.environment
        guard self[environment].hasRoom(for: grant.coins) else { throw .balanceTooLarge }
        let granted = CoinsGranted(
            environment: environment, source: .purchase(purchase.key), lots: lots(of: grant))
        var events: [Event] = [
            .purchaseRecorded(
                PurchaseRecorded(
                    purchase: purchase, catalogueVersion: grant.catalogueVersion,
                    redelivery: grant.redelivery)),
            .coinsGranted(granted),
        ]
        // The store's last word goes on counting: an older one must not take the coins.
        if let word = remembered.max(by: { $0.signedAt < $1.signedAt }) {
            events.append(
                .refundReversed(
                    RefundReversed(
                        purchase: purchase.key, signedAt: word.signedAt, returned: [],
                        debtCleared: .zero)))
        }
        return events + payments(of: self[environment], from: granted.lots)
    }

    /// A token belongs to the account it was linked to, or to the account that has it as its id.
    private func checkOwner(
        of purchase: Purchase, _ command: Command, _ facts: Facts
    ) throws(Rejection) {
        guard let token = purchase.appAccountToken else { return }
        if facts.tokenOwners[token] == command.account { return }
        if facts.tokenOwners[token] == nil, AppAccountToken(command.account.text) == token {
            return
        }
        throw .belongsToOtherAccount
    }

    private func lots(of grant: PurchaseGrant) -> [Lot] {
        var lots: [Lot] = []
        if grant.coins.paid > .zero {
            lots.append(
                Lot(
                    number: lotCount &+ 1, kind: .paid, coins: grant.coins.paid,
                    price: grant.purchase.price))
        }
        if grant.coins.free > .zero {
            lots.append(
                Lot(
                    number: lotCount &+ Int64(lots.count) &+ 1, kind: .free,
                    coins: grant.coins.free,
                    expiresAt: grant.freeExpiresAt))
        }
        return lots
    }

    func decide(_ gift: Gift) throws(Rejection) -> [Event] {
        let lot = try newFreeLot(gift.coins, gift.expiresAt, gift.environment)
        let granted = CoinsGranted(
            environment: gift.environment,
            source: .gift(reason: gift.reason, campaignID: gift.campaignID), lots: [lot])
        return [.coinsGranted(granted)] + payments(of: self[gift.environment], from: [lot])
    }

    func decide(_ adjustment: Adjustment, at time: Timestamp) throws(Rejection) -> [Event] {
        func adjusted(_ change: CoinsAdjusted.Change) -> Event {
            .coinsAdjusted(
                CoinsAdjusted(
                    environment: adjustment.environment, change: change,
                    reason: adjustment.reason, ticketID: adjustment.ticketID))
        }
        let purse = self[adjustment.environment]
        switch adjustment.change {
        case .add(let coins, let expiresAt):
            let lot = try newFreeLot(coins, expiresAt, adjustment.environment)
            return [adjusted(.added(lot))] + payments(of: purse, from: [lot])
        case .remove(let coins):
            let slices = purse.draw(coins, only: .free, at: time)
            try check(slices, cover: coins)
            return [adjusted(.removed(slices))]
        }
    }

    private func newFreeLot(
        _ coins: Coins, _ expiresAt: Timestamp?, _ environment: Environment
    ) throws(Rejection) -> Lot {
        guard self[environment].hasRoom(for: GrantedCoins(paid: .zero, free: coins)) else {
            throw .balanceTooLarge
        }
        return Lot(number: lotCount &+ 1, kind: .free, coins: coins, expiresAt: expiresAt)
    }

    func check(_ slices: [Slice], cover coins: Coins) throws(Rejection) {
        let found = slices.map(\.coins).sum()
        guard found == coins else { throw .insufficientCoins(needed: coins, available: found) }
        guard slices.count <= Account.slicesMax else { throw .tooManyLots }
    }

    /// How many lots one event may draw from.
    package static let slicesMax = 2000
}
