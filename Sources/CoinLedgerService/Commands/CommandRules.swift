package import CoinLedger

/// Turns what clients ask for into actions, by the catalogue and the policy in force.
package struct CommandRules: Sendable {
    package let catalogue: Catalogue
    package let policy: LedgerPolicy

    package init(catalogue: Catalogue, policy: LedgerPolicy) {
        self.catalogue = catalogue
        self.policy = policy
    }

    /// Why a stamp can't be paid for.
    package enum StampRefusal: Error, Hashable, Sendable {
        case unknownStamp
        /// It costs another number of coins than the client believes.
        case priceChanged(Coins)
        case tooManyCoins
    }

    package var consumption: Consumption {
        Consumption(order: policy.consumption, policyVersion: policy.version)
    }

    /// When free coins that come in at `time` expire where nobody says so.
    package func freeExpiry(at time: Timestamp) -> Timestamp? {
        policy.freeExpiry?.expiry(of: time)
    }

    /// What stamps cost, and what they are for.
    ///
    /// - Parameter expected: what the client believes that all of them cost.
    package func stamps(
        _ id: String, quantity: Int64, programmeID: String?, performerID: String?,
        expected: Coins?, at time: Timestamp
    ) throws(StampRefusal) -> (coins: Coins, purpose: Purpose) {
        guard let unit = catalogue.price(of: id, at: time) else { throw .unknownStamp }
        guard let coins = unit.multiplied(by: quantity) else { throw .tooManyCoins }
        if let expected, expected != coins { throw .priceChanged(coins) }
        let purpose = Purpose(
            subject: .stamp(
                id: id, quantity: quantity, unitCoins: unit, catalogueVersion: catalogue.version),
            programmeID: programmeID, performerID: performerID)
        return (coins, purpose)
    }

    package func spend(
        _ coins: Coins, on purpose: Purpose, _ environment: Environment
    ) -> Command.Action {
        .spend(
            Spend(
                environment: environment, coins: coins, purpose: purpose, consumption: consumption))
    }

    /// - Parameter seconds: nil for as long as is usual; at most `policy.holdSecondsMax`.
    package func hold(
        _ coins: Coins, for purpose: Purpose, _ environment: Environment, seconds: Int64?,
        at time: Timestamp
    ) -> Command.Action {
        let seconds = min(seconds ?? policy.holdSeconds, policy.holdSecondsMax)
        let expiresAt = Timestamp(milliseconds: time.milliseconds + seconds * 1000) ?? time
        return .hold(
            HoldRequest(
                environment: environment, coins: coins, purpose: purpose, expiresAt: expiresAt,
                consumption: consumption))
    }

    package func capture(_ hold: EventID, _ coins: Coins?) -> Command.Action {
        .captureHold(HoldCapture(hold: hold, coins: coins, consumption: consumption))
    }
}
