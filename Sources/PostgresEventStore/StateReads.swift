import CoinLedger
import EventStore
import Postgres

/// The queries for account states with all of their lots, and with those in their rows, and what
/// their rows say.
struct StateReads {
    private let withLots: [AccountID]
    private let withoutLots: [AccountID]

    init(_ withLots: [AccountID], withoutLots: [AccountID]) {
        self.withLots = withLots
        self.withoutLots = withoutLots
    }

    var queries: [(PostgresStatement, [PostgresValue])] {
        var queries: [(PostgresStatement, [PostgresValue])] = []
        if !withLots.isEmpty {
            queries.append((Statements.accounts, [.textArray(withLots.map(\.text))]))
        }
        if !withoutLots.isEmpty {
            queries.append((Statements.accountsAlone, [.textArray(withoutLots.map(\.text))]))
        }
        return queries
    }

    func states(_ results: [PostgresRows]) throws(PostgresError) -> [AccountID: Account] {
        guard results.count == queries.count else {
            throw .protocolViolation("as many results as queries were expected")
        }
        var results = results[...]
        var states: [AccountID: Account] = [:]
        if !withLots.isEmpty, let rows = results.popFirst() {
            states = try AccountRows(rows).accounts()
        }
        if !withoutLots.isEmpty, let rows = results.popFirst() {
            let alone = try AccountRowsAlone(rows).accounts()
            // Nearly always they are all there is.
            guard !states.isEmpty else { return alone }
            states.merge(alone) { $1 }
        }
        return states
    }
}
