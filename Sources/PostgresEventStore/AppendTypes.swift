import Postgres

/// The composite types of `append_events`, under the identifiers that this database gave them.
struct AppendTypes {
    private let newEvent: UInt32
    private let changedAccount: UInt32
    private let claimedPurchase: UInt32
    private let olderLot: UInt32
    private let changedLot: UInt32
    private let newAnswer: UInt32

    /// Their names, in the order of the columns they are read from.
    static let names = [
        "new_event", "changed_account", "claimed_purchase", "older_lot", "changed_lot",
        "new_answer",
    ]

    /// Reads them from a row of `Statements.ledger`, from `column` on.
    init(_ rows: PostgresRows, from column: Int) throws(PostgresError) {
        func type(_ index: Int) throws(PostgresError) -> UInt32 {
            let number = try rows.int8(0, column + index)
            guard let type = UInt32(exactly: number) else {
                throw .protocolViolation("a type has an identifier of 32 bits")
            }
            return type
        }
        newEvent = try type(0)
        changedAccount = try type(1)
        claimedPurchase = try type(2)
        olderLot = try type(3)
        changedLot = try type(4)
        newAnswer = try type(5)
    }

    var events: PostgresRecordWriter { PostgresRecordWriter(of: newEvent, columns: 8) }
    var accounts: PostgresRecordWriter { PostgresRecordWriter(of: changedAccount, columns: 12) }
    var purchases: PostgresRecordWriter { PostgresRecordWriter(of: claimedPurchase, columns: 7) }
    var olderLots: PostgresRecordWriter { PostgresRecordWriter(of: olderLot, columns: 11) }
    var changedLots: PostgresRecordWriter { PostgresRecordWriter(of: changedLot, columns: 4) }
    var answers: PostgresRecordWriter { PostgresRecordWriter(of: newAnswer, columns: 6) }
}
