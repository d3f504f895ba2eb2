import Base
import CoinLedger
import CoinLedgerService

/// A command that was carried out, or would be, and how that's told.
///
/// Each function knows the events of its command; another one is a bug of the domain's.
struct DoneCommand {
    let account: AccountID
    let events: [RecordedEvent]
    let balance: AccountBalance

    private var first: RecordedEvent {
        guard let first = events.first else {
            preconditionFailure("a command that is done has caused an event")
        }
        return first
    }

    /// What new coins have paid of what was owed.
    private var debtPaid: Int64 {
        events.map { recorded in
            if case .debtPaid(let paid) = recorded.event {
                paid.taken.map(\.coins).sum()
            } else {
                Coins.zero
            }
        }.sum().amount
    }

    func grant() -> Answer {
        guard case .coinsGranted(let granted) = first.event, let lot = granted.lots.first else {
            preconditionFailure("a gift is granted")
        }
        return answer { object in
            object.member("eventId", first.id.description)
            object.object("coins") { granted.coins.write(to: &$0) }
            object.object("lot") { lot.write(to: &$0) }
            object.member("debtPaid", debtPaid)
        }
    }

    func adjustment() -> Answer {
        guard case .coinsAdjusted(let adjusted) = first.event else {
            preconditionFailure("an adjustment adjusts")
        }
        return answer { object in
            object.member("eventId", first.id.description)
            switch adjusted.change {
            case .added(let lot):
                object.member("coins", lot.coins.amount)
                object.object("lot") { lot.write(to: &$0) }
            case .removed(let slices):
                object.member("coins", -slices.map(\.coins).sum().amount)
                object.write(slices)
            }
            object.member("kind", Lot.Kind.free.rawValue)
            object.member("reason", adjusted.reason)
            object.member("ticketId", adjusted.ticketID)
            object.member("debtPaid", debtPaid)
        }
    }

    func spend() -> Answer {
        guard case .coinsSpent(let spent) = first.event else {
            preconditionFailure("a spend spends")
        }
        return answer { object in
            object.member("eventId", first.id.description)
            object.member("holdId", spent.hold?.description)
            object.object("coins") { coins in
                spent.slices.coins.write(to: &coins)
                coins.member("total", spent.coins.amount)
            }
            object.write(spent.slices)
            object.write(spent.purpose)
            object.member("policyVersion", spent.policyVersion)
        }
    }

    func reversal(of spend: EventID) -> Answer {
        guard case .spendReversed(let reversed) = first.event else {
            preconditionFailure("a reversal reverses")
        }
        return answer { object in
            object.member("eventId", first.id.description)
            object.member("spendId", spend.description)
            object.object("returned") { reversed.returned.coins.write(to: &$0) }
            object.object("lapsed") { reversed.lapsed.coins.write(to: &$0) }
            object.write(reversed.returned.map(\.slice))
        }
    }

    func hold() -> Answer {
        guard case .coinsHeld(let held) = first.event else { preconditionFailure("a hold holds") }
        return answer { object in
            object.member("holdId", first.id.description)
            object.member("coins", held.coins.amount)
            object.member("expiresAt", held.expiresAt.description)
            object.write(held.purpose)
            object.member("policyVersion", held.policyVersion)
        }
    }

    func release(of hold: EventID) -> Answer {
        answer(status: 200) { object in
            object.member("holdId", hold.description)
            object.member("eventId", first.id.description)
        }
    }

    private func answer(
        status: Int = 201, _ members: (inout JSONObjectWriter) -> Void
    ) -> Answer {
        var object = JSONObjectWriter()
        object.member("accountId", account.text)
        members(&object)
        object.object("balance") { balance.write(to: &$0) }
        return Answer(status: status, body: object.finish())
    }
}

extension Lot {
    fileprivate func write(to object: inout JSONObjectWriter) {
        object.member("number", number)
        object.member("kind", kind.rawValue)
        object.member("coins", coins.amount)
        object.nullable("expiresAt", expiresAt?.description)
    }
}

extension JSONObjectWriter {
    fileprivate mutating func write(_ slices: [Slice]) {
        objects("slices", slices) { object, slice in
            object.member("lot", slice.lot)
            object.member("kind", slice.kind.rawValue)
            object.member("coins", slice.coins.amount)
            if let value = slice.value {
                object.object("value") { value.write(to: &$0) }
            } else {
                object.null("value")
            }
        }
    }

    fileprivate mutating func write(_ purpose: Purpose) {
        switch purpose.subject {
        case .stamp(let id, let quantity, let unit, let catalogue):
            object("stamp") { stamp in
                stamp.member("stampId", id)
                stamp.member("quantity", quantity)
                stamp.member("unitCoins", unit.amount)
                stamp.member("catalogueVersion", catalogue)
            }
        case .other(let text): member("purpose", text)
        }
        nullable("programmeId", purpose.programmeID)
        nullable("performerId", purpose.performerID)
    }
}
