import CoinLedger
import EventStore

/// What is decided for the work of one batch, one piece after the other: each sees what those before
/// it have changed.
struct Decisions {
    private let lane: Lane
    let expectedHead: LaneHead
    /// Which batch of its writer this is; later ones have higher numbers.
    let sequence: Int
    private var facts = Facts()
    private var answers: [IdempotencyKey: StoredAnswer] = [:]
    private var batchInTheMaking: Batch

    /// Those that it reads or changes.
    private(set) var accounts: [KnownAccount] = []
    /// In the order of the work.
    private(set) var decisions: [Decision] = []

    init(lane: Lane, expectedHead: LaneHead, sequence: Int) {
        self.lane = lane
        self.expectedHead = expectedHead
        self.sequence = sequence
        batchInTheMaking = Batch(
            lane: lane, expectedHead: expectedHead, number: .random(in: .min ... .max))
    }

    /// Where the lane's head is once the batch is appended.
    var head: LaneHead { isEmpty ? expectedHead : batchInTheMaking.head }

    /// Whether there is nothing to append.
    var isEmpty: Bool { batchInTheMaking.events.isEmpty && batchInTheMaking.answers.isEmpty }

    /// What is to be appended, or nil if nothing is to be kept.
    var batch: Batch? {
        guard !isEmpty else { return nil }
        var batch = batchInTheMaking
        batch.accounts = accounts.compactMap(\.changed)
        return batch
    }

    private var lastPosition: Int64 { batchInTheMaking.head.position }

    /// Takes what was read. What the batch itself has caused is newer.
    mutating func add(_ facts: Facts, _ answers: [IdempotencyKey: StoredAnswer]) {
        self.facts.addOlder(facts)
        self.answers.merge(answers) { own, _ in own }
    }

    /// - Parameter account: that of the work's command, nil if it has none.
    mutating func decide(_ work: QueuedWork, _ account: KnownAccount?) {
        if let account, account.join(sequence) { accounts.append(account) }
        switch work {
        case .command(let command, _, _):
            decisions.append(.outcome(carryOut(command, account)))
        case .keyed(let request, _): decisions.append(decide(request, account))
        }
    }

    private mutating func decide(_ request: KeyedRequest, _ account: KnownAccount?) -> Decision {
        if !request.isDryRun, let known = answers[request.key] {
            guard known.requestSHA256 == request.requestSHA256 else { return .keyReused }
            let answer = Answer(status: Int(known.status), body: known.body)
            return .answered(Answered(answer: answer, isReplayed: true))
        }
        let answer =
            switch request.work {
            case .refuse(let answer): answer
            case .command(let command):
                request.answer(
                    request.isDryRun ? imagine(command, account) : carryOut(command, account))
            }
        if !request.isDryRun {
            let stored = StoredAnswer(
                requestSHA256: request.requestSHA256, status: Int64(answer.status),
                body: answer.body, recordedAt: request.time)
            answers[request.key] = stored
            batchInTheMaking.answers[request.key] = stored
        }
        return .answered(Answered(answer: answer, isReplayed: false))
    }

    private mutating func carryOut(_ command: Command, _ known: KnownAccount?) -> Outcome {
        guard let known else { preconditionFailure("a command without its account") }
        let result: Outcome.Result
        do throws(Rejection) {
            var recorded: [RecordedEvent] = []
            for event in try known.account.decide(command, knowing: facts) {
                let id = EventID(lane: lane, position: lastPosition + 1)
                known.evolve(event, id: id)
                append(event, id, known.account.version, command)
                learn(event, id, command)
                recorded.append(RecordedEvent(id: id, event: event))
            }
            result = .done(recorded)
        } catch {
            result = .rejected(error)
        }
        return Outcome(result: result, balance: known.account.balance(at: command.time))
    }

    /// What `carryOut` would come to, with nothing changed.
    private func imagine(_ command: Command, _ known: KnownAccount?) -> Outcome {
        guard var account = known?.account else {
            preconditionFailure("a command without its account")
        }
        do throws(Rejection) {
            var recorded: [RecordedEvent] = []
            for event in try account.decide(command, knowing: facts) {
                let id = EventID(lane: lane, position: lastPosition + 1 + Int64(recorded.count))
                account.evolve(event, id: id)
                recorded.append(RecordedEvent(id: id, event: event))
            }
            return Outcome(result: .done(recorded), balance: account.balance(at: command.time))
        } catch {
            return Outcome(
                result: .rejected(error), balance: account.balance(at: command.time))
        }
    }

    private mutating func append(
        _ event: Event, _ id: EventID, _ version: Int64, _ command: Command
    ) {
        let encoded = EventCodec.encode(event)
        batchInTheMaking.events.append(
            StoredEvent(
                id: id, account: command.account, version: version, command: command.id,
                occurredAt: event.occurredAt ?? command.time, recordedAt: command.time,
                type: encoded.type, schemaVersion: encoded.schemaVersion,
                payload: encoded.payload))
    }

    /// Keeps what later decisions depend on, and what is claimed for ever.
    private mutating func learn(_ event: Event, _ id: EventID, _ command: Command) {
        switch event {
        case .coinsGranted(let granted):
            guard case .grantPurchase(let grant) = command.action else { return }
            let claim = PurchaseClaim(
                account: command.account, command: command.id, grant: id, coins: granted.coins)
            for key in grant.purchase.claimedKeys {
                takeOver(key)
                facts.claims[key] = claim
                batchInTheMaking.claims[key] = claim
            }
        case .appAccountTokenLinked(let token):
            facts.tokenOwners[token] = command.account
            batchInTheMaking.tokenOwners[token] = command.account
        case .spendReversed(let reversed):
            facts.reversals[reversed.spend] = id
            batchInTheMaking.reversals[reversed.spend] = id
        case .refundRemembered(let refund):
            takeOver(refund.purchase)
            facts.rememberedRefunds[refund.purchase] = RememberedRefund(refund: refund, event: id)
            batchInTheMaking.remembered[refund.purchase] = id
        case .orderRecorded(let order):
            facts.orders[order.id] = id
            batchInTheMaking.orders[order.id] = id
        case .purchaseRecorded, .coinsSpent, .coinsExpired, .coinsAdjusted, .coinsHeld,
            .holdReleased, .purchaseRefunded, .refundReversed, .debtPaid, .consentRecorded:
            break
        }
    }

    /// A purchase that is remembered in the store changes hands; one that this very batch remembers
    /// is simply written as it ends.
    private mutating func takeOver(_ key: PurchaseKey) {
        // Hardly ever is there one, and to look for it costs a hash.
        guard !facts.rememberedRefunds.isEmpty,
            let known = facts.rememberedRefunds.removeValue(forKey: key)
        else { return }
        if batchInTheMaking.remembered.removeValue(forKey: key) == nil {
            batchInTheMaking.takenOver[key] = known.event
        }
    }
}

extension Facts {
    fileprivate mutating func addOlder(_ older: Facts) {
        claims.merge(older.claims) { own, _ in own }
        tokenOwners.merge(older.tokenOwners) { own, _ in own }
        rememberedRefunds.merge(older.rememberedRefunds) { own, _ in own }
        reversals.merge(older.reversals) { own, _ in own }
        lots.merge(older.lots) { own, _ in own }
        orders.merge(older.orders) { own, _ in own }
    }
}

extension Event {
    /// When it happened, where that's known to be earlier than when the ledger was told.
    fileprivate var occurredAt: Timestamp? {
        switch self {
        case .purchaseRecorded(let event): event.purchase.purchasedAt
        case .purchaseRefunded(let event): event.signedAt
        case .refundReversed(let event): event.signedAt
        case .refundRemembered(let event): event.signedAt
        case .coinsGranted, .appAccountTokenLinked, .coinsSpent, .spendReversed, .coinsExpired,
            .coinsAdjusted, .coinsHeld, .holdReleased, .debtPaid, .consentRecorded, .orderRecorded:
            nil
        }
    }
}
