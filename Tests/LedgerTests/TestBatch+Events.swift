import CoinLedger
import EventStore
import LedgerTestSupport

/// What tests let happen.
extension TestBatch {
    static let price = StatedPrice(milliunits: 160_000, currency: "JPY")

    func grant(
        _ id: TransactionID, original: TransactionID? = nil, to account: AccountID,
        paid: Coins = 100, free: Coins = 0, price: StatedPrice? = nil,
        freeExpiresAt: Timestamp? = nil, environment: Environment = .production
    ) -> TestBatch {
        let purchase = Purchase.appStore(id, original: original, environment: environment)
        var number = state(of: account).lotCount
        var lots: [Lot] = []
        if paid > 0 {
            number += 1
            lots.append(Lot(number: number, kind: .paid, coins: paid, price: price))
        }
        if free > 0 {
            number += 1
            lots.append(
                Lot(number: number, kind: .free, coins: free, expiresAt: freeExpiresAt))
        }
        let granted = with(
            .purchaseRecorded(PurchaseRecorded(purchase: purchase, catalogueVersion: "1")),
            of: account
        ).with(
            .coinsGranted(
                CoinsGranted(
                    environment: environment, source: .purchase(purchase.key), lots: lots)),
            of: account)
        return granted.changing { batch in
            for key in purchase.claimedKeys {
                batch.claims[key] = PurchaseClaim(
                    account: account, command: .numbered(1), grant: granted.lastEvent,
                    coins: GrantedCoins(paid: paid, free: free))
            }
        }
    }

    func link(_ token: AppAccountToken, to account: AccountID) -> TestBatch {
        with(.appAccountTokenLinked(token), of: account).changing {
            $0.tokenOwners[token] = account
        }
    }

    func give(
        _ coins: Coins, to account: AccountID, expiresAt: Timestamp? = nil,
        campaign: String? = nil, at time: Timestamp = .noon
    ) -> TestBatch {
        let lot = Lot(
            number: state(of: account).lotCount + 1, kind: .free, coins: coins,
            expiresAt: expiresAt)
        return with(
            .coinsGranted(
                CoinsGranted(
                    environment: .production, source: .gift(reason: "gift", campaignID: campaign),
                    lots: [lot])), of: account, at: time)
    }

    func spend(_ slices: [Slice], of account: AccountID, hold: EventID? = nil) -> TestBatch {
        with(
            .coinsSpent(
                CoinsSpent(
                    environment: .production, coins: slices.map(\.coins).sum(),
                    purpose: .poll, hold: hold, order: .freeFirst, policyVersion: "1",
                    slices: slices)), of: account)
    }

    func reverse(
        _ spend: EventID, returning returned: [ReturnedSlice], of account: AccountID
    ) -> TestBatch {
        let next = with(
            .spendReversed(
                SpendReversed(
                    environment: .production, spend: spend, reason: "test", returned: returned,
                    lapsed: [])), of: account)
        return next.changing { $0.reversals[spend] = next.lastEvent }
    }

    func hold(
        _ slices: [HeldSlice], of account: AccountID, until expiresAt: Timestamp
    ) -> TestBatch {
        with(
            .coinsHeld(
                CoinsHeld(
                    environment: .production, coins: slices.map(\.coins).sum(), purpose: .poll,
                    heldAt: .noon, expiresAt: expiresAt, order: .freeFirst, policyVersion: "1",
                    slices: slices)), of: account)
    }

    func refund(
        _ id: TransactionID, of account: AccountID, taken: [ReturnedSlice], debt: Coins = 0,
        signedAt: Timestamp = .noon
    ) -> TestBatch {
        with(
            .purchaseRefunded(
                PurchaseRefunded(
                    purchase: .appStore(id), percentage: Refund.percentageMax,
                    signedAt: signedAt, shortfallPolicy: .debt, taken: taken, debt: debt,
                    writtenOff: 0)), of: account)
    }

    /// - Parameter known: the event that remembers an earlier word.
    func remember(
        _ id: TransactionID, percentage: Int64 = Refund.percentageMax,
        signedAt: Timestamp = .noon, after known: EventID? = nil
    ) -> TestBatch {
        let key = PurchaseKey.appStore(id)
        let next = with(
            .refundRemembered(
                RefundWord(purchase: key, percentage: percentage, signedAt: signedAt)),
            of: .unclaimed)
        return next.changing { batch in
            batch.remembered[key] = next.lastEvent
            batch.takenOver[key] = known
        }
    }

    func consent(_ isGiven: Bool, of account: AccountID) -> TestBatch {
        with(.consentRecorded(ConsentRecorded(isGiven: isGiven)), of: account)
    }

    func order(_ id: OrderID, _ purchases: OrderedPurchase...) -> TestBatch {
        let next = with(
            .orderRecorded(OrderRecorded(id: id, purchases: purchases)), of: .unclaimed)
        return next.changing { $0.orders[id] = next.lastEvent }
    }

    func answer(_ key: IdempotencyKey, _ body: String, at time: Timestamp = .noon) -> TestBatch {
        changing { batch in
            batch.answers[key] = StoredAnswer(
                requestSHA256: Array(repeating: 7, count: 32), status: 201,
                body: Array(body.utf8), recordedAt: time)
        }
    }
}

extension Purpose {
    static let poll = Purpose(subject: .other("poll"), programmeID: nil, performerID: nil)
}

extension Slice {
    /// A slice of a lot with the price of the tests.
    static func paid(_ lot: Int64, _ coins: Coins, value: Int64) -> Slice {
        Slice(
            lot: lot, kind: .paid, coins: coins,
            value: StatedPrice(milliunits: value, currency: "JPY"))
    }

    static func free(_ lot: Int64, _ coins: Coins) -> Slice {
        Slice(lot: lot, kind: .free, coins: coins, value: nil)
    }

    func returned(to lot: Lot) -> ReturnedSlice {
        ReturnedSlice(lot: lot, coins: coins, value: value)
    }
}
