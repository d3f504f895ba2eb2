import CoinLedger
import EventStore
import Postgres

extension PostgresRows {
    /// A value made of a text by its failing initializer.
    func value<Value>(
        _ row: Int, _ column: Int, _ make: (String) -> Value?
    ) throws(PostgresError) -> Value {
        guard let value = make(try text(row, column)) else { throw outOfRange(column) }
        return value
    }

    func lane(_ row: Int, _ column: Int) throws(PostgresError) -> Lane {
        guard let lane = Lane(try int8(row, column)) else { throw outOfRange(column) }
        return lane
    }

    func coins(_ row: Int, _ column: Int) throws(PostgresError) -> Coins {
        guard let coins = Coins(try int8(row, column)) else { throw outOfRange(column) }
        return coins
    }

    func instant(_ row: Int, _ column: Int) throws(PostgresError) -> Timestamp {
        guard let instant = Timestamp(milliseconds: try timestamp(row, column)) else {
            throw outOfRange(column)
        }
        return instant
    }

    func optionalInstant(_ row: Int, _ column: Int) throws(PostgresError) -> Timestamp? {
        try isNull(row, column) ? nil : instant(row, column)
    }

    func command(_ row: Int, _ column: Int) throws(PostgresError) -> CommandID {
        guard let command = CommandID(try bytes(row, column)) else { throw outOfRange(column) }
        return command
    }

    private func outOfRange(_ column: Int) -> PostgresError {
        .protocolViolation("column \(column) holds a value out of its range")
    }
}

extension StoredEvent {
    init(_ rows: PostgresRows, _ row: Int) throws(PostgresError) {
        self.init(
            id: EventID(lane: try rows.lane(row, 0), position: try rows.int8(row, 1)),
            account: try rows.value(row, 2, AccountID.init), version: try rows.int8(row, 3),
            command: try rows.command(row, 4), occurredAt: try rows.instant(row, 5),
            recordedAt: try rows.instant(row, 6), type: try rows.text(row, 7),
            schemaVersion: try rows.int8(row, 8), payload: try rows.bytes(row, 9))
    }
}

/// Rows of account states.
struct AccountRows {
    private let rows: PostgresRows

    init(_ rows: PostgresRows) { self.rows = rows }

    func inOrder() throws(PostgresError) -> [(id: AccountID, account: Account)] {
        var accounts: [(id: AccountID, account: Account)] = []
        accounts.reserveCapacity(rows.count)
        for row in 0..<rows.count { accounts.append(try account(row)) }
        return accounts
    }

    func accounts() throws(PostgresError) -> [AccountID: Account] {
        var accounts: [AccountID: Account] = [:]
        accounts.reserveCapacity(rows.count)
        for row in 0..<rows.count {
            let found = try account(row)
            accounts[found.id] = found.account
        }
        return accounts
    }

    private func account(_ row: Int) throws(PostgresError) -> (id: AccountID, account: Account) {
        let account = Account(
            version: try rows.int8(row, 1),
            production: Balance(paid: try rows.coins(row, 2), free: try rows.coins(row, 3)),
            sandbox: Balance(paid: try rows.coins(row, 4), free: try rows.coins(row, 5)),
            lotCount: try rows.int8(row, 6))
        return (try rows.value(row, 0, AccountID.init), account)
    }
}
