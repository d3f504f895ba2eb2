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

    func account(_ row: Int, _ column: Int) throws(PostgresError) -> AccountID {
        try value(row, column, AccountID.init(stored:))
    }

    func lane(_ row: Int, _ column: Int) throws(PostgresError) -> Lane {
        guard let lane = Lane(try int8(row, column)) else { throw outOfRange(column) }
        return lane
    }

    /// The name of an event, in two columns.
    func event(_ row: Int, _ column: Int) throws(PostgresError) -> EventID {
        EventID(lane: try lane(row, column), position: try int8(row, column + 1))
    }

    func coins(_ row: Int, _ column: Int) throws(PostgresError) -> Coins {
        guard let coins = Coins(try int8(row, column)) else { throw outOfRange(column) }
        return coins
    }

    /// Milliunits and currency, in two columns.
    func price(_ row: Int, _ column: Int) throws(PostgresError) -> StatedPrice? {
        guard let milliunits = try optionalInt8(row, column) else { return nil }
        return StatedPrice(milliunits: milliunits, currency: try text(row, column + 1))
    }

    /// What a lot is, in six columns.
    func lot(_ row: Int, _ column: Int) throws(PostgresError) -> Lot {
        Lot(
            number: try int8(row, column),
            kind: try value(row, column + 1, Lot.Kind.init(rawValue:)),
            coins: try coins(row, column + 2), expiresAt: try optionalInstant(row, column + 3),
            price: try price(row, column + 4))
    }

    /// What is left of a lot, in two columns.
    func lotRest(_ row: Int, _ column: Int) throws(PostgresError) -> LotRest {
        LotRest(remaining: try coins(row, column), valueOut: try int8(row, column + 1))
    }

    func environment(_ row: Int, _ column: Int) throws(PostgresError) -> Environment {
        try value(row, column, Environment.init(rawValue:))
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

    func details(_ row: Int, _ column: Int) throws(PostgresError) -> AccountDetails {
        guard let bytes = try optionalBytes(row, column) else { return .none }
        do throws(EventStoreError) {
            return try AccountDetailsCodec.decode(bytes)
        } catch {
            throw .protocolViolation("\(error)")
        }
    }

    func openLots(
        _ row: Int, _ column: Int
    ) throws(PostgresError) -> [(environment: Environment, lot: OpenLot)] {
        guard let bytes = try optionalBytes(row, column) else { return [] }
        do throws(EventStoreError) {
            return try OpenLotsCodec.decode(bytes)
        } catch {
            throw .protocolViolation("\(error)")
        }
    }

    func outOfRange(_ column: Int) -> PostgresError {
        .protocolViolation("column \(column) holds a value out of its range")
    }
}

extension StoredEvent {
    init(_ rows: PostgresRows, _ row: Int) throws(PostgresError) {
        self.init(
            id: try rows.event(row, 0), account: try rows.account(row, 2),
            version: try rows.int8(row, 3), command: try rows.command(row, 4),
            occurredAt: try rows.instant(row, 5), recordedAt: try rows.instant(row, 6),
            type: try rows.text(row, 7), schemaVersion: try rows.int8(row, 8),
            payload: try rows.bytes(row, 9))
    }
}

extension CommandID {
    /// From 16 bytes, the highest first.
    fileprivate init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        func number(_ part: ArraySlice<UInt8>) -> UInt64 {
            part.reduce(0) { $0 << 8 | UInt64($1) }
        }
        self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
    }
}
