import CoinLedger
import EventStore
import Postgres

/// Rows of purchases with the events that they point at.
struct ClaimRows {
    private let rows: PostgresRows

    init(_ rows: PostgresRows) { self.rows = rows }

    func claims() throws(PostgresError) -> PurchaseClaims {
        var claims = PurchaseClaims()
        for row in 0..<rows.count {
            let key = PurchaseKey(
                store: try rows.value(row, 2, Store.init(rawValue:)),
                environment: try rows.value(row, 1, Environment.init(rawValue:)),
                transactionID: try rows.value(row, 0, TransactionID.init))
            let account = try rows.account(row, 3)
            let event = try rows.event(row, 4)
            let payload = try rows.bytes(row, 7)
            if account == .unclaimed {
                let refund = try readable { () throws(EventCodec.Unreadable) in
                    try EventCodec.refundRemembered(payload)
                }
                claims.remembered[key] = RememberedRefund(refund: refund, event: event)
            } else {
                let granted = try readable { () throws(EventCodec.Unreadable) in
                    try EventCodec.coinsGranted(payload)
                }
                claims.granted[key] = PurchaseClaim(
                    account: account, command: try rows.command(row, 6), grant: event,
                    coins: granted.coins)
            }
        }
        return claims
    }

    private func readable<Value>(
        _ read: () throws(EventCodec.Unreadable) -> Value
    ) throws(PostgresError) -> Value {
        do throws(EventCodec.Unreadable) {
            return try read()
        } catch {
            throw .protocolViolation("a claim's event can't be read: \(error)")
        }
    }
}
