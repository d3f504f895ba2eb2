import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService

extension CommandPlanner {
    /// What a spend or a hold takes, and for what.
    struct Price: Sendable {
        let coins: Coins
        let purpose: Purpose
    }

    private static let quantities: ClosedRange<Int64> = 1...10_000
    private static let purposeBytes = 1...200
    private static let stampBytes = 1...255

    /// Of stamps by the catalogue, or of anything at whatever the backend says, which needs a scope of
    /// its own.
    func price(
        _ request: CommandRequest
    ) throws(InvalidRequest) -> Result<Price, InvalidRequest> {
        let body = request.body
        let isRaw = body.has("coins") || body.has("purpose")
        guard request.scopes.contains(isRaw ? .rawSpends : .spends) else {
            throw InvalidRequest(KeyRing.Denial.forbidden.problem)
        }
        return isRaw ? .success(try rawPrice(body)) : try stampPrice(body)
    }

    private func rawPrice(_ body: RequestBody) throws(InvalidRequest) -> Price {
        try body.refuse(["stampId", "quantity", "expectedCoins"], beside: "coins or purpose")
        let purpose = Purpose(
            subject: .other(try body.text("purpose", bytes: CommandPlanner.purposeBytes)),
            programmeID: try body.optionalIdentifier("programmeId"),
            performerID: try body.optionalIdentifier("performerId"))
        return Price(coins: try body.coins("coins"), purpose: purpose)
    }

    private func stampPrice(
        _ body: RequestBody
    ) throws(InvalidRequest) -> Result<Price, InvalidRequest> {
        let id = try body.text("stampId", bytes: CommandPlanner.stampBytes)
        let quantity = try body.integer("quantity", in: CommandPlanner.quantities)
        let programme = try body.identifier("programmeId")
        let performer = try body.optionalIdentifier("performerId")
        let expected = try body.optionalCoins("expectedCoins")
        do throws(CommandRules.StampRefusal) {
            let (coins, purpose) = try rules.stamps(
                id, quantity: quantity, programmeID: programme, performerID: performer,
                expected: expected, at: now)
            return .success(Price(coins: coins, purpose: purpose))
        } catch {
            return .failure(InvalidRequest(error.problem(expected: expected)))
        }
    }
}

extension CommandRules.StampRefusal {
    fileprivate func problem(expected: Coins?) -> Problem {
        switch self {
        case .unknownStamp:
            Problem(.unknownStamp, "The catalogue has no such stamp now.")
        case .priceChanged(let current):
            Problem(
                .priceChanged, "The stamps cost another number of coins now.",
                members: [
                    .init("currentCoins", .integer(current.amount)),
                    .init("expectedCoins", .integer(expected?.amount ?? 0)),
                ])
        case .tooManyCoins:
            Problem(.quantityOutOfRange, "So many stamps cost more coins than anybody can have.")
        }
    }
}

extension RequestBody {
    func coins(_ name: String) throws(InvalidRequest) -> Coins {
        guard let coins = Coins(try integer(name, in: CommandPlanner.amounts)) else {
            preconditionFailure("a number in the range of coins is a number of coins")
        }
        return coins
    }

    func optionalCoins(_ name: String) throws(InvalidRequest) -> Coins? {
        has(name) ? try coins(name) : nil
    }

    func timestamp(_ name: String) throws(InvalidRequest) -> Timestamp {
        try value(name, Timestamp.init, mustBe: "an instant of RFC 3339 with an offset")
    }

    /// Where nothing is said, money is real.
    func environment() throws(InvalidRequest) -> Environment {
        try optionalValue(
            "environment", Environment.init(rawValue:), mustBe: "Production or Sandbox")
            ?? .production
    }
}
