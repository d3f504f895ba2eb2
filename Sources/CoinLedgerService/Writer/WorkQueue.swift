import CoinLedger

/// Commands that were submitted together and are answered together.
final class Submission {
    private var outcomes: [Outcome?]
    private var error: WriterError?
    private var openCount: Int
    private let continuation: CheckedContinuation<Result<[Outcome], WriterError>, Never>

    init(count: Int, _ continuation: CheckedContinuation<Result<[Outcome], WriterError>, Never>) {
        outcomes = Array(repeating: nil, count: count)
        openCount = count
        self.continuation = continuation
    }

    fileprivate func finish(_ index: Int, _ result: Result<Outcome, WriterError>) {
        switch result {
        case .success(let outcome): outcomes[index] = outcome
        case .failure(let failure): error = failure
        }
        openCount -= 1
        guard openCount == 0 else { return }
        if let error {
            continuation.resume(returning: .failure(error))
        } else {
            continuation.resume(returning: .success(outcomes.compactMap(\.self)))
        }
    }
}

/// What waits to be carried out, and whom to answer.
enum QueuedWork {
    case command(Command, index: Int, Submission)
    case keyed(KeyedRequest, CheckedContinuation<Result<Answered, KeyedError>, Never>)

    /// Nil where there is nothing to decide.
    var command: Command? {
        switch self {
        case .command(let command, _, _): command
        case .keyed(let request, _): request.command
        }
    }

    func finish(_ decision: Decision) {
        switch (self, decision) {
        case (.command(_, let index, let submission), .outcome(let outcome)):
            submission.finish(index, .success(outcome))
        case (.keyed(_, let continuation), .answered(let answered)):
            continuation.resume(returning: .success(answered))
        case (.keyed(_, let continuation), .keyReused):
            continuation.resume(returning: .failure(.keyReused))
        default: preconditionFailure("a decision of another kind of work")
        }
    }

    func fail(_ error: WriterError) {
        switch self {
        case .command(_, let index, let submission): submission.finish(index, .failure(error))
        case .keyed(_, let continuation):
            continuation.resume(returning: .failure(.writer(error)))
        }
    }
}

/// What is decided for one piece of work.
enum Decision {
    case outcome(Outcome)
    case answered(Answered)
    case keyReused
}

/// First in, first out.
struct WorkQueue {
    private var work: [QueuedWork] = []
    private var first = 0

    var count: Int { work.count - first }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ one: QueuedWork) { work.append(one) }

    mutating func take(upTo limit: Int) -> [QueuedWork] {
        let end = min(work.count, first + limit)
        let taken = Array(work[first..<end])
        first = end
        if isEmpty {
            work.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= limit * 4 {
            work.removeFirst(first)
            first = 0
        }
        return taken
    }
}
