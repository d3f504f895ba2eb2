extension Account {
    /// The events that `command` causes in this account: at least one.
    ///
    /// - Throws: the `Rejection` if it causes none.
    package func decide(_ command: Command, knowing facts: Facts) throws(Rejection) -> [Event] {
        switch command.action {
        case .grantPurchase(let grant):
            try decide(grant, of: command, knowing: facts)
        case .linkAppAccountToken(let token):
            try decide(token, of: command, knowing: facts)
        }
    }

    private func decide(
        _ grant: PurchaseGrant, of command: Command, knowing facts: Facts
    ) throws(Rejection) -> [Event] {
        let purchase = grant.purchase
        for key in purchase.claimedKeys {
            guard let claim = facts.claims[key] else { continue }
            guard claim.account == command.account else { throw .grantedToOtherAccount }
            throw claim.command == command.id ? .alreadyDone(claim) : .alreadyGranted(claim)
        }
        try checkOwner(of: purchase, command, facts)
        let environment = purchase.key.environment
        guard self[environment].adding(grant.coins) != nil else { throw .balanceTooLarge }
        let recorded = PurchaseRecorded(
            purchase: purchase, catalogueVersion: grant.catalogueVersion)
        let granted = CoinsGranted(
            environment: environment, source: .purchase(purchase.key), lots: lots(of: grant))
        return [.purchaseRecorded(recorded), .coinsGranted(granted)]
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
        let kinds: [(Lot.Kind, Coins)] = [(.paid, grant.coins.paid), (.free, grant.coins.free)]
        let granted = kinds.filter { $0.1 > .zero }
        return granted.enumerated().map { index, lot in
            Lot(number: lotCount + Int64(index) + 1, kind: lot.0, coins: lot.1)
        }
    }

    private func decide(
        _ token: AppAccountToken, of command: Command, knowing facts: Facts
    ) throws(Rejection) -> [Event] {
        guard let owner = facts.tokenOwners[token] else { return [.appAccountTokenLinked(token)] }
        throw owner == command.account ? .tokenAlreadyLinked : .tokenLinkedToOtherAccount
    }
}
