import EventLoop

/// Statements that somebody waits for together.
final class Call {
    typealias Result = Swift.Result<[PostgresRows], PostgresError>

    let queries: [(PostgresStatement, [PostgresValue])]
    /// Reads may share a transaction with other reads, and are answered before its end.
    let isRead: Bool
    let deadline: Int64

    /// A read that was aborted by a neighbour's failure is sent once more, by itself.
    var isAlone: Bool
    var isRepeated = false
    /// Whether the server may have got some of it.
    var isSent = false
    var stepsLeft = 0
    var rows: [PostgresRows] = []
    /// The first failure.
    private(set) var failure: PostgresError?
    private var continuation: CheckedContinuation<Result, Never>?

    init(
        _ queries: [(PostgresStatement, [PostgresValue])], isRead: Bool, deadline: Int64,
        _ continuation: CheckedContinuation<Result, Never>
    ) {
        (self.queries, self.isRead, self.deadline) = (queries, isRead, deadline)
        (self.continuation, isAlone) = (continuation, !isRead)
    }

    func fail(_ error: PostgresError) { failure = failure ?? error }

    /// Makes it as if it had not been sent.
    func reset() {
        (isRepeated, isAlone, isSent, stepsLeft, rows, failure) = (true, true, false, 0, [], nil)
    }

    /// Whether it failed for a reason that is another call's, and had no effect.
    ///
    /// 26000 says that the statement isn't prepared: an earlier call was to do that and failed.
    var deservesAnotherTry: Bool {
        guard !isRepeated, let failure else { return false }
        return failure == .aborted || failure.code == "26000"
    }

    /// Answers, the first time it's called.
    func finish(_ result: Result) {
        continuation?.resume(returning: result)
        continuation = nil
    }

    /// Answers with the rows or the first failure.
    func finish() {
        guard let failure else { return finish(.success(rows)) }
        finish(.failure(failure))
    }
}

/// What was sent, in the order in which the server answers.
struct Step {
    /// With the statement's name.
    enum Kind {
        case prepare(String)
        case query(String)
        case sync
    }

    let kind: Kind
    /// Nil for the sync of reads, which nobody waits for.
    let call: Call?
    var isAnswered = false
}
