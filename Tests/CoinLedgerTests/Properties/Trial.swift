import CoinLedger
import LedgerTestSupport

/// One account that carries out wishes, as the domain has it.
struct Trial {
    private(set) var history: History
    private var spends: [Int: (id: EventID, spent: CoinsSpent)] = [:]
    private var holds: [Int: EventID] = [:]

    init() {
        history = History()
        let claim = PurchaseClaim(
            account: "u2", command: .numbered(0), grant: EventID(lane: 0, position: 1),
            coins: GrantedCoins(paid: 1, free: 0))
        for environment in Environment.allCases {
            history.facts.claims[.appStore("X", environment)] = claim
        }
        history.facts.tokenOwners = [AppAccountToken(stringLiteral: Wishes.tokens[0]): "u2"]
    }

    /// `done`, or why not, in the words of the reference; and what has happened.
    mutating func judge(_ wish: Wish) -> (verdict: String, events: [Event]) {
        let time = Timestamp.noon(plus: Int64(wish.now))
        guard let action = action(wish) else { return ("no hold", []) }
        do throws(Rejection) {
            let events = try history.carryOut(action, at: time, command: UInt64(wish.number))
            for event in events { learn(event, of: wish) }
            return ("done", events)
        } catch {
            return (verdict(error), [])
        }
    }

    private mutating func learn(_ event: Event, of wish: Wish) {
        switch event {
        case .coinsSpent(let spent): spends[wish.number] = (history.last, spent)
        case .coinsHeld: holds[wish.number] = history.last
        case .purchaseRecorded, .coinsGranted, .appAccountTokenLinked, .spendReversed,
            .coinsExpired, .coinsAdjusted, .holdReleased, .purchaseRefunded, .refundReversed,
            .debtPaid, .refundRemembered, .consentRecorded, .orderRecorded:
            break
        }
    }

    private func action(_ wish: Wish) -> Command.Action? {
        let environment: Environment = wish.purse == "Sandbox" ? .sandbox : .production
        switch wish.what {
        case .link(let token): return .linkAppAccountToken(AppAccountToken(stringLiteral: token))
        case .buy(let order): return .grantPurchase(grant(order, environment))
        case .give(let coins, let end):
            return .give(
                Gift(
                    environment: environment, coins: number(coins), expiresAt: instant(end),
                    reason: "welcome", campaignID: nil))
        case .add(let coins, let end):
            return adjust(.add(number(coins), expiresAt: instant(end)), environment)
        case .remove(let coins): return adjust(.remove(number(coins)), environment)
        case .spend(let coins, let order):
            return .spend(
                Spend(
                    environment: environment, coins: number(coins), purpose: .stamp,
                    consumption: consumption(order)))
        case .undo(let number):
            // Of a spend that never was, nothing comes back.
            let spent = CoinsSpent(
                environment: environment, coins: 0, purpose: .stamp, hold: nil, order: .freeFirst,
                policyVersion: "7", slices: [])
            let spend = spends[number] ?? (EventID(lane: 0, position: .max), spent)
            return .reverseSpend(SpendReversal(spend: spend.id, spent: spend.spent, reason: ""))
        case .hold(let coins, let order, let end):
            return .hold(
                HoldRequest(
                    environment: environment, coins: number(coins), purpose: .stamp,
                    expiresAt: .noon(plus: Int64(end)), consumption: consumption(order)))
        case .capture(let hold, let coins):
            let capture = holds[hold].map {
                HoldCapture(hold: $0, coins: coins.map(number), consumption: .by(.freeFirst))
            }
            return capture.map { .captureHold($0) }
        case .release(let hold): return holds[hold].map { .releaseHold($0) }
        case .expire: return .expireCoins
        case .word(let id, let percentage, let signed, let policy):
            let key = PurchaseKey.appStore(TransactionID(stringLiteral: id), environment)
            return .refund(
                RefundNotice(
                    purchase: key, lots: history.lots(of: key), percentage: Int64(percentage),
                    signedAt: .noon(plus: Int64(signed)),
                    shortfallPolicy: ShortfallPolicy(rawValue: policy) ?? .debt))
        case .remember(let id, let percentage, let signed):
            return .rememberRefund(
                RefundWord(
                    purchase: .appStore(TransactionID(stringLiteral: id), environment),
                    percentage: Int64(percentage), signedAt: .noon(plus: Int64(signed))))
        case .consent(let isGiven): return .recordConsent(ConsentRecorded(isGiven: isGiven))
        }
    }

    private func grant(_ order: Wish.Order, _ environment: Environment) -> PurchaseGrant {
        PurchaseGrant(
            purchase: .appStore(
                TransactionID(stringLiteral: order.id),
                original: TransactionID(stringLiteral: order.original), environment: environment,
                token: order.token.map { AppAccountToken(stringLiteral: $0) },
                price: order.price.map { Int64($0) }),
            coins: GrantedCoins(paid: number(order.paid), free: number(order.free)),
            catalogueVersion: "2026-11", freeExpiresAt: instant(order.end))
    }

    private func adjust(
        _ change: Adjustment.Change, _ environment: Environment
    ) -> Command.Action {
        .adjust(
            Adjustment(environment: environment, change: change, reason: "lost", ticketID: "S-1"))
    }

    private func number(_ coins: Int) -> Coins { Coins(integerLiteral: Int64(coins)) }

    private func instant(_ end: Int?) -> Timestamp? { end.map { .noon(plus: Int64($0)) } }

    private func consumption(_ order: String) -> Consumption {
        .by(ConsumptionOrder(rawValue: order) ?? .freeFirst)
    }

    private func verdict(_ rejection: Rejection) -> String {
        switch rejection {
        case .alreadyGranted: "bought"
        case .alreadyDone: "done before"
        case .grantedToOtherAccount: "elsewhere"
        case .belongsToOtherAccount: "foreign"
        case .refundedBefore: "refunded"
        case .tokenAlreadyLinked: "linked"
        case .tokenLinkedToOtherAccount: "linked elsewhere"
        case .balanceTooLarge: "too large"
        case .insufficientCoins(let needed, let available):
            "needs \(needed.amount) of \(available.amount)"
        case .inDebt(let debt): "owes \(debt.amount)"
        case .tooManyLots: "too many lots"
        case .spendAlreadyReversed: "undone"
        case .holdNotFound: "no hold"
        case .holdExpired: "hold is over"
        case .captureTooLarge(let held): "holds \(held.amount)"
        case .tooManyHolds: "too many holds"
        case .nothingExpired: "nothing expired"
        case .refundIsOlder: "older"
        case .refundAlreadyKnown: "known"
        case .purchaseIsGranted: "granted"
        case .consentAlreadyRecorded: "said before"
        case .orderAlreadyRecorded: "looked up before"
        }
    }

    /// Everything an account has, in the numbers of the reference.
    func snapshot(at now: Int) -> Snapshot {
        var snapshot = Snapshot()
        snapshot.lotCount = Int(history.account.lotCount)
        snapshot.consent = history.account.consent
        let wishes = Dictionary(uniqueKeysWithValues: holds.map { ($0.value, $0.key) })
        for environment in Environment.allCases {
            let purse = history.account[environment]
            snapshot.balances[environment.rawValue] = numbers(
                purse.balance(at: .noon(plus: Int64(now))))
            for open in purse.openLots {
                snapshot.lots[Int(open.lot.number)] = [
                    Int(open.remaining.amount), Int(open.valueOut),
                ]
            }
            for hold in purse.holds {
                snapshot.holds[wishes[hold.id] ?? -1] = Int(hold.coins.amount)
            }
            for (key, refund) in purse.refunds {
                let name = "\(environment.rawValue) \(key.transactionID)"
                snapshot.add(refund, named: name)
            }
        }
        return snapshot
    }

    private func numbers(_ balance: Balance) -> [Int?] {
        let next = balance.nextExpiry.map { Int($0.milliseconds - Timestamp.noon.milliseconds) }
        return [balance.paid, balance.free, balance.held, balance.debt].map { Int($0.amount) }
            + [next]
    }
}

/// The state of an account, as far as the domain and the reference must agree.
struct Snapshot: Equatable {
    /// Paid, free, held, owed, and the next expiry if there is one, by purse.
    var balances: [String: [Int?]] = [:]
    /// What is left and the money that is out, by the numbers of open lots.
    var lots: [Int: [Int]] = [:]
    /// By the number of the wish.
    var holds: [Int: Int] = [:]
    /// When signed, percentage, owed, given up; then lot, coins and money of all that was taken.
    var refunds: [String: [Int]] = [:]
    var lotCount = 0
    var consent: Bool?

    mutating func add(_ refund: Refund, named name: String) {
        let signed = (refund.signedAt?.milliseconds ?? .min) - Timestamp.noon.milliseconds
        var numbers = [
            Int(signed), Int(refund.percentage), Int(refund.debt.amount),
            Int(refund.writtenOff.amount),
        ]
        for slice in refund.taken {
            numbers += [
                Int(slice.lot.number), Int(slice.coins.amount), Int(slice.value?.milliunits ?? 0),
            ]
        }
        refunds[name] = numbers
    }
}

extension ReferenceLedger {
    func snapshot(at now: Int) -> Snapshot {
        var snapshot = Snapshot()
        snapshot.lotCount = parcels.count
        snapshot.consent = consent
        for purse in ["Production", "Sandbox"] {
            snapshot.balances[purse] = balance(of: purse, at: now)
        }
        for (number, rest) in rest() where rest != 0 {
            snapshot.lots[number] = [rest, moneyOut(of: number)]
        }
        snapshot.holds = holds.mapValues(\.coins)
        for (purchase, word) in words {
            var numbers = [
                word.signed, word.percentage, owed[purchase] ?? 0, forgiven[purchase] ?? 0,
            ]
            for (number, sum) in moved("refund \(purchase)").sorted(by: { $0.key < $1.key }) {
                numbers += [number, sum.coins, sum.money]
            }
            snapshot.refunds[purchase] = numbers
        }
        return snapshot
    }
}
