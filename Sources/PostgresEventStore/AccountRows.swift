import CoinLedger
import EventStore
import Postgres

/// Rows of account states: one for each account, with the lots that are in it, and one for each of its
/// other open lots.
struct AccountRows {
    private let rows: PostgresRows

    /// What is known of an account before all of its rows are read.
    private struct Parts {
        var version: Int64?
        var lotCount: Int64 = 0
        var details = AccountDetails.none
        var production: [OpenLot] = []
        var sandbox: [OpenLot] = []

        /// Nil for lots of an account that isn't there.
        var account: Account? {
            guard let version else { return nil }
            return Account(
                version: version, production: purse(production, details.production),
                sandbox: purse(sandbox, details.sandbox), lotCount: lotCount,
                consent: details.consent)
        }

        mutating func add(_ open: OpenLot, _ environment: Environment) {
            switch environment {
            case .production: production.append(open)
            case .sandbox: sandbox.append(open)
            }
        }

        private func purse(_ lots: [OpenLot], _ details: AccountDetails.PurseDetails) -> Purse {
            if lots.isEmpty, details == .none { return .empty }
            return Purse(openLots: lots, holds: details.holds, refunds: details.refunds)
        }
    }

    init(_ rows: PostgresRows) { self.rows = rows }

    func accounts() throws(PostgresError) -> [AccountID: Account] {
        var parts: [AccountID: Parts] = [:]
        for row in 0..<rows.count {
            let id = try rows.account(row, 0)
            if try rows.isNull(row, 5) {
                parts[id, default: Parts()].version = try rows.int8(row, 1)
                parts[id, default: Parts()].lotCount = try rows.int8(row, 2)
                parts[id, default: Parts()].details = try rows.details(row, 3)
                for (environment, open) in try rows.openLots(row, 4) {
                    parts[id, default: Parts()].add(open, environment)
                }
            } else {
                let rest = try rows.lotRest(row, 11)
                let open = OpenLot(
                    try rows.lot(row, 5), remaining: rest.remaining, valueOut: rest.valueOut)
                parts[id, default: Parts()].add(open, try rows.environment(row, 13))
            }
        }
        return parts.compactMapValues(\.account)
    }
}

/// Rows of account states, with the lots that are in them, or with none.
struct AccountRowsAlone {
    private let rows: PostgresRows

    init(_ rows: PostgresRows) { self.rows = rows }

    func accounts() throws(PostgresError) -> [AccountID: Account] {
        var accounts: [AccountID: Account] = [:]
        accounts.reserveCapacity(rows.count)
        for row in 0..<rows.count {
            // Hardly anybody has any.
            let details = try rows.isNull(row, 3) ? nil : rows.details(row, 3)
            let lots = rows.columnCount > 10 ? try rows.openLots(row, 10) : []
            accounts[try rows.account(row, 0)] = Account(
                version: try rows.int8(row, 1),
                production: try purse(row, 4, 8, .production, lots, details),
                sandbox: try purse(row, 6, 9, .sandbox, lots, details),
                lotCount: try rows.int8(row, 2), consent: details?.consent)
        }
        return accounts
    }

    private func purse(
        _ row: Int, _ coins: Int, _ expiry: Int, _ environment: Environment,
        _ lots: [(environment: Environment, lot: OpenLot)], _ details: AccountDetails?
    ) throws(PostgresError) -> Purse {
        let details = details?[environment]
        return Purse(
            paid: try rows.coins(row, coins), free: try rows.coins(row, coins + 1),
            nextExpiry: try rows.optionalInstant(row, expiry),
            openLots: lots.filter { $0.environment == environment }.map(\.lot),
            holds: details?.holds ?? [], refunds: details?.refunds ?? [:])
    }
}
