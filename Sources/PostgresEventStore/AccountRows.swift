import CoinLedger
import EventStore
import Postgres

/// Rows of account states: one for each account, and one for each of its open lots.
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
            if try rows.isNull(row, 4) {
                parts[id, default: Parts()].version = try rows.int8(row, 1)
                parts[id, default: Parts()].lotCount = try rows.int8(row, 2)
                parts[id, default: Parts()].details = try rows.details(row, 3)
            } else {
                let open = try openLot(row)
                switch try rows.value(row, 5, Environment.init(rawValue:)) {
                case .production: parts[id, default: Parts()].production.append(open)
                case .sandbox: parts[id, default: Parts()].sandbox.append(open)
                }
            }
        }
        return parts.compactMapValues(\.account)
    }

    private func openLot(_ row: Int) throws(PostgresError) -> OpenLot {
        let lot = Lot(
            number: try rows.int8(row, 4),
            kind: try rows.value(row, 6, Lot.Kind.init(rawValue:)),
            coins: try rows.coins(row, 7), expiresAt: try rows.optionalInstant(row, 10),
            price: try rows.price(row, 11))
        return OpenLot(
            lot, remaining: try rows.coins(row, 8), valueOut: try rows.int8(row, 9))
    }
}

/// Rows of account states whose lots aren't read.
struct AccountRowsWithoutLots {
    private let rows: PostgresRows

    init(_ rows: PostgresRows) { self.rows = rows }

    func accounts() throws(PostgresError) -> [AccountID: Account] {
        var accounts: [AccountID: Account] = [:]
        for row in 0..<rows.count {
            // Hardly anybody has any.
            let details = try rows.isNull(row, 3) ? nil : rows.details(row, 3)
            accounts[try rows.account(row, 0)] = Account(
                version: try rows.int8(row, 1),
                production: try purse(row, 4, 8, details?.production),
                sandbox: try purse(row, 6, 9, details?.sandbox),
                lotCount: try rows.int8(row, 2), consent: details?.consent)
        }
        return accounts
    }

    private func purse(
        _ row: Int, _ coins: Int, _ expiry: Int, _ details: AccountDetails.PurseDetails?
    ) throws(PostgresError) -> Purse {
        Purse(
            paid: try rows.coins(row, coins), free: try rows.coins(row, coins + 1),
            nextExpiry: try rows.optionalInstant(row, expiry), holds: details?.holds ?? [],
            refunds: details?.refunds ?? [:])
    }
}
