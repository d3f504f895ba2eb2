import AppStore
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore

/// A command as a client asks for it, from a request of its own or a line of a batch.
struct CommandRequest: Sendable {
    let kind: CommandKind
    let account: AccountID
    /// The spend or the hold that it's about.
    let target: EventID?
    let body: RequestBody
    let key: IdempotencyKey
    /// What the bearer of the key may do.
    let scopes: APIScopes
    let isDryRun: Bool

    /// SHA-256 of everything that counts: what is asked for of whom, and every field, in whatever
    /// order and with whatever white space. A line of a batch is the same request as one of its own.
    var sha256: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        func append(_ text: String, _ end: UInt8) {
            bytes.append(contentsOf: text.utf8)
            bytes.append(end)
        }
        append(kind.route.method, UInt8(ascii: " "))
        append(kind.route.template, UInt8(ascii: "\n"))
        append(account.text, UInt8(ascii: "\n"))
        if let target { append(target.description, UInt8(ascii: "\n")) }
        bytes.append(contentsOf: body.canonicalBytes)
        return Digest.sha256(bytes)
    }
}

extension IdempotencyKey {
    /// Reads the values of the field `Idempotency-Key`, or of a batch's member.
    init(account: AccountID, texts: [String]) throws(InvalidRequest) {
        guard let text = texts.first else {
            throw InvalidRequest(
                Problem(
                    .idempotencyKeyRequired,
                    "The command needs an idempotency key, so that it can be repeated safely."))
        }
        guard texts.count == 1, let key = IdempotencyKey(account: account, text: text) else {
            throw InvalidRequest(
                Problem(
                    .invalidIdempotencyKey,
                    "An idempotency key is 1 to 255 printable ASCII characters, once."))
        }
        self = key
    }
}
