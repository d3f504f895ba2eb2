import CoinLedger
import EventStore
import Postgres

/// The queries of a `LoadRequest`, the lane's head first, and what their rows say.
struct LoadReads {
    private let request: LoadRequest

    init(_ request: LoadRequest) { self.request = request }

    var queries: [(PostgresStatement, [PostgresValue])] {
        var queries: [(PostgresStatement, [PostgresValue])] = [
            (Statements.head, [.int8(request.lane.number)])
        ]
        if !request.accounts.isEmpty {
            queries.append((Statements.accounts, [.textArray(request.accounts.map(\.text))]))
        }
        if !request.purchases.isEmpty {
            let ids = request.purchases.map(\.transactionID.text)
            queries.append((Statements.claims, [.textArray(ids)]))
        }
        if !request.tokens.isEmpty {
            queries.append((Statements.tokenOwners, [.textArray(request.tokens.map(\.text))]))
        }
        return queries
    }

    func loaded(_ results: [PostgresRows]) throws(PostgresError) -> Loaded {
        guard results.count == queries.count, let head = results.first, head.count == 1 else {
            throw .protocolViolation("the lane isn't there")
        }
        var rest = results.dropFirst()
        var accounts: [AccountID: Account] = [:]
        var facts = Facts()
        if !request.accounts.isEmpty, let rows = rest.popFirst() {
            accounts = try AccountRows(rows).accounts()
        }
        if !request.purchases.isEmpty, let rows = rest.popFirst() {
            facts.claims = try claims(rows)
        }
        if !request.tokens.isEmpty, let rows = rest.popFirst() {
            for row in 0..<rows.count {
                let token = try rows.value(row, 0, AppAccountToken.init)
                facts.tokenOwners[token] = try rows.value(row, 1, AccountID.init)
            }
        }
        return Loaded(head: try head.int8(0, 0), accounts: accounts, facts: facts)
    }

    private func claims(
        _ rows: PostgresRows
    ) throws(PostgresError) -> [PurchaseKey: PurchaseClaim] {
        var claims: [PurchaseKey: PurchaseClaim] = [:]
        for row in 0..<rows.count {
            let key = PurchaseKey(
                store: try rows.value(row, 2, Store.init(rawValue:)),
                environment: try rows.value(row, 1, Environment.init(rawValue:)),
                transactionID: try rows.value(row, 0, TransactionID.init))
            claims[key] = PurchaseClaim(
                account: try rows.value(row, 3, AccountID.init),
                command: try rows.command(row, 6),
                grant: EventID(lane: try rows.lane(row, 4), position: try rows.int8(row, 5)),
                coins: try coins(try rows.bytes(row, 7)))
        }
        return claims
    }

    /// The coins of the event that a claim points at.
    private func coins(_ payload: [UInt8]) throws(PostgresError) -> GrantedCoins {
        do throws(EventCodec.Unreadable) {
            return try EventCodec.coinsGranted(payload).coins
        } catch {
            throw .protocolViolation("a claim's event can't be read: \(error)")
        }
    }
}
