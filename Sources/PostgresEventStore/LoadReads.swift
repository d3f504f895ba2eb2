import CoinLedger
import EventStore
import Postgres

/// The queries of a `LoadRequest`, the lane's head first, and what their rows say.
struct LoadReads {
    private let request: LoadRequest
    private let states: StateReads

    init(_ request: LoadRequest) {
        self.request = request
        states = StateReads(request.accounts, withoutLots: request.accountsWithoutLots)
    }

    private enum Part: CaseIterable {
        case purchases, tokens, spends, orders, lots, keys
    }

    var queries: [(PostgresStatement, [PostgresValue])] {
        [(Statements.head, [.int8(request.lane.number)])] + states.queries
            + Part.allCases.compactMap(query)
    }

    /// The query of a part, nil if nothing of it is asked for.
    private func query(_ part: Part) -> (PostgresStatement, [PostgresValue])? {
        switch part {
        case .purchases where !request.purchases.isEmpty:
            (Statements.claims, [.textArray(request.purchases.map(\.transactionID.text))])
        case .tokens where !request.tokens.isEmpty:
            (Statements.tokenOwners, [.textArray(request.tokens.map(\.text))])
        case .spends where !request.spends.isEmpty:
            (
                Statements.reversals,
                [
                    .int8Array(request.spends.map(\.lane.number)),
                    .int8Array(request.spends.map(\.position)),
                ]
            )
        case .orders where !request.orders.isEmpty:
            (Statements.orders, [.textArray(request.orders.map(\.text))])
        case .lots where !request.lots.isEmpty:
            (
                Statements.lots,
                [
                    .textArray(request.lots.map(\.account.text)),
                    .int8Array(request.lots.map(\.number)),
                ]
            )
        case .keys where !request.keys.isEmpty:
            (
                Statements.answers,
                [
                    .textArray(request.keys.map(\.account.text)),
                    .textArray(request.keys.map(\.text)),
                ]
            )
        case .purchases, .tokens, .spends, .orders, .lots, .keys: nil
        }
    }

    func loaded(_ results: [PostgresRows]) throws(PostgresError) -> Loaded {
        let parts = Part.allCases.filter { query($0) != nil }
        let stateCount = states.queries.count
        guard results.count == 1 + stateCount + parts.count, results[0].count == 1 else {
            throw .protocolViolation("the lane isn't there")
        }
        let accounts = try states.states(Array(results[1..<(1 + stateCount)]))
        var facts = Facts()
        var answers: [IdempotencyKey: StoredAnswer] = [:]
        for (part, rows) in zip(parts, results.dropFirst(1 + stateCount)) {
            switch part {
            case .purchases:
                let claims = try ClaimRows(rows).claims()
                facts.claims = claims.granted
                facts.rememberedRefunds = claims.remembered
            case .tokens: facts.tokenOwners = try tokenOwners(rows)
            case .spends: facts.reversals = try reversals(rows)
            case .orders: facts.orders = try orders(rows)
            case .lots: facts.lots = try lots(rows)
            case .keys: answers = try self.answers(rows)
            }
        }
        let head = LaneHead(
            position: try results[0].int8(0, 0), batch: try results[0].int8(0, 1))
        return Loaded(head: head, accounts: accounts, facts: facts, answers: answers)
    }

    private func tokenOwners(
        _ rows: PostgresRows
    ) throws(PostgresError) -> [AppAccountToken: AccountID] {
        var owners: [AppAccountToken: AccountID] = [:]
        for row in 0..<rows.count {
            owners[try rows.value(row, 0, AppAccountToken.init)] = try rows.account(row, 1)
        }
        return owners
    }

    private func reversals(_ rows: PostgresRows) throws(PostgresError) -> [EventID: EventID] {
        var reversals: [EventID: EventID] = [:]
        for row in 0..<rows.count {
            reversals[try rows.event(row, 0)] = try rows.event(row, 2)
        }
        return reversals
    }

    private func orders(_ rows: PostgresRows) throws(PostgresError) -> [OrderID: EventID] {
        var orders: [OrderID: EventID] = [:]
        for row in 0..<rows.count {
            orders[try rows.value(row, 0, OrderID.init)] = try rows.event(row, 1)
        }
        return orders
    }

    private func lots(_ rows: PostgresRows) throws(PostgresError) -> [LotID: Lot] {
        var lots: [LotID: Lot] = [:]
        for row in 0..<rows.count {
            let lot = try rows.lot(row, 1)
            lots[LotID(account: try rows.account(row, 0), number: lot.number)] = lot
        }
        return lots
    }

    private func answers(
        _ rows: PostgresRows
    ) throws(PostgresError) -> [IdempotencyKey: StoredAnswer] {
        var answers: [IdempotencyKey: StoredAnswer] = [:]
        for row in 0..<rows.count {
            let account = try rows.account(row, 0)
            let key = try rows.value(row, 1) { IdempotencyKey(account: account, text: $0) }
            answers[key] = StoredAnswer(
                requestSHA256: try rows.bytes(row, 2), status: try rows.int8(row, 3),
                body: try rows.bytes(row, 4), recordedAt: try rows.instant(row, 5))
        }
        return answers
    }
}
