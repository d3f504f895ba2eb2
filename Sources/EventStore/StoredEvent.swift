package import CoinLedger

/// An event as it stands in the log: where, when, by which command, and its exact payload bytes.
package struct StoredEvent: Hashable, Sendable {
    package let id: EventID
    package let account: AccountID
    /// Which event of its account it is: 1, 2, 3 …
    package let version: Int64
    package let command: CommandID
    /// When it happened, as far as the world is concerned.
    package let occurredAt: Timestamp
    /// When the ledger took it in.
    package let recordedAt: Timestamp
    /// The stored name of its type; never renamed.
    package let type: String
    package let schemaVersion: Int64
    /// UTF-8 JSON, byte for byte as first written.
    package let payload: [UInt8]

    package init(
        id: EventID, account: AccountID, version: Int64, command: CommandID,
        occurredAt: Timestamp, recordedAt: Timestamp, type: String, schemaVersion: Int64,
        payload: [UInt8]
    ) {
        self.id = id
        self.account = account
        self.version = version
        self.command = command
        self.occurredAt = occurredAt
        self.recordedAt = recordedAt
        self.type = type
        self.schemaVersion = schemaVersion
        self.payload = payload
    }
}
