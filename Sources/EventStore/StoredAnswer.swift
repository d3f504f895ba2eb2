package import CoinLedger

/// What a client calls one request to change an account, so that repeating it changes nothing.
package struct IdempotencyKey: Hashable, Sendable {
    package let account: AccountID
    /// 1 to `lengthMax` printable ASCII characters.
    package let text: String

    package static let lengthMax = 255

    package init?(account: AccountID, text: String) {
        guard (1...IdempotencyKey.lengthMax).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        self.account = account
        self.text = text
    }
}

/// The answer to a request with an idempotency key, given again whenever it is repeated.
package struct StoredAnswer: Hashable, Sendable {
    /// SHA-256 of everything in the request that counts.
    package let requestSHA256: [UInt8]
    /// The HTTP status.
    package let status: Int64
    /// The body, byte for byte.
    package let body: [UInt8]
    package let recordedAt: Timestamp

    package init(
        requestSHA256: [UInt8], status: Int64, body: [UInt8], recordedAt: Timestamp
    ) {
        self.requestSHA256 = requestSHA256
        self.status = status
        self.body = body
        self.recordedAt = recordedAt
    }
}
