import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService

extension Answer {
    init(_ problem: Problem) {
        self.init(status: problem.code.status, body: problem.json.bytes)
    }

    /// Words a command that was carried out, or tells why it wasn't.
    init(_ outcome: Outcome, of account: AccountID, _ words: (DoneCommand) -> Answer) {
        switch outcome.result {
        case .done(let events):
            self = words(
                DoneCommand(account: account, events: events, balance: outcome.balance))
        case .rejected(let rejection): self.init(rejection.problem)
        }
    }
}

extension Rejection {
    var problem: Problem {
        switch self {
        case .balanceTooLarge:
            Problem(.balanceTooLarge, "The account can't hold so many coins.")
        case .insufficientCoins(let needed, let available):
            Problem(
                .insufficientCoins, "The account has too few coins that can be used.",
                members: [
                    .init("needed", .integer(needed.amount)),
                    .init("available", .integer(available.amount)),
                ])
        case .inDebt(let debt):
            Problem(
                .inDebt, "The account owes coins, and nothing is spent until it has paid.",
                members: [.init("debt", .integer(debt.amount))])
        case .tooManyLots:
            Problem(.tooManyLots, "The coins lie in more lots than one command may draw from.")
        case .spendAlreadyReversed(let event):
            Problem(
                .alreadyReversed, "The spend was taken back before.",
                members: [.init("eventId", .string(event.description))])
        case .holdNotFound: CommandKind.capture.targetProblem
        case .holdExpired: Problem(.holdExpired, "The hold's time is over; its coins are free.")
        case .captureTooLarge(let held):
            Problem(
                .captureTooLarge, "The hold has fewer coins.",
                members: [.init("held", .integer(held.amount))])
        case .tooManyHolds: Problem(.tooManyHolds, "The account has as many holds as it may.")
        case .alreadyGranted, .alreadyDone, .grantedToOtherAccount, .belongsToOtherAccount,
            .refundedBefore, .tokenAlreadyLinked, .tokenLinkedToOtherAccount, .nothingExpired,
            .refundIsOlder, .refundAlreadyKnown, .purchaseIsGranted, .consentAlreadyRecorded,
            .orderAlreadyRecorded:
            // None of these is said of a command that a client words.
            Problem(.internalError, "The ledger answered something else than was asked.")
        }
    }
}

extension KeyedError {
    var problem: Problem {
        switch self {
        case .keyReused:
            Problem(
                .idempotencyKeyReused, "The key was used before, for something else.")
        case .writer(let error): error.problem
        }
    }
}

extension WriterError {
    var problem: Problem {
        switch self {
        case .overloaded: Problem(.overloaded, "The service has too much to do now.")
        case .unavailable: Problem(.ledgerUnavailable, "The ledger can't be reached now.")
        }
    }
}
