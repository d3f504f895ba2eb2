package import CoinLedger
package import EventStore

/// A command that is carried out at most once for its idempotency key, and whose answer is kept.
///
/// A class, since it's handed on from queue to batch to decision, and has much in it.
package final class KeyedRequest: Sendable {
    package enum Work: Sendable {
        case command(Command)
        /// Nothing to decide: refused before the ledger was asked, unless the key was answered
        /// otherwise before.
        case refuse(Answer)
    }

    package let key: IdempotencyKey
    /// Of everything in the request that counts.
    package let requestSHA256: [UInt8]
    package let time: Timestamp
    package let work: Work
    /// Tells what would happen, and leaves no trace.
    package let isDryRun: Bool
    /// Words the outcome; called before it's durable.
    package let answer: @Sendable (Outcome) -> Answer

    package init(
        key: IdempotencyKey, requestSHA256: [UInt8], time: Timestamp, work: Work,
        isDryRun: Bool = false, answer: @escaping @Sendable (Outcome) -> Answer
    ) {
        self.key = key
        self.requestSHA256 = requestSHA256
        self.time = time
        self.work = work
        self.isDryRun = isDryRun
        self.answer = answer
    }

    var command: Command? {
        if case .command(let command) = work { command } else { nil }
    }
}

/// An answer as it's sent and kept.
package struct Answer: Hashable, Sendable {
    /// The HTTP status.
    package let status: Int
    package let body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }
}

/// The answer to a keyed request.
package struct Answered: Hashable, Sendable {
    package let answer: Answer
    /// Whether it's the answer of an earlier request with the same key and content.
    package let isReplayed: Bool
}

/// Why a keyed request wasn't carried out.
package enum KeyedError: Error, Hashable, Sendable {
    /// The key was used before for another request.
    case keyReused
    case writer(WriterError)
}
