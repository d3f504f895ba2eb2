import Base
import CoinLedger

/// Commands that were submitted together and are answered together.
final class Submission: @unchecked Sendable {
    // Sendable: once it's in the queue, only the task that takes batches from there touches it.
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

/// What waits to be carried out, and whom to answer. Indirect, since commands are large and queues copy.
indirect enum QueuedWork: Sendable {
    case command(Command, index: Int, Submission)
    case keyed(KeyedRequest, CheckedContinuation<Result<Answered, KeyedError>, Never>)

    /// Nil where there is nothing to decide.
    var command: Command? {
        switch self {
        case .command(let command, _, _): command
        case .keyed(let request, _): request.command
        }
    }

    /// The account of its command; nil where there is none.
    var account: AccountID? {
        switch self {
        case .command(let command, _, _): command.account
        case .keyed(let request, _): request.command?.account
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

/// First in, first out; filled by tasks on any thread, and emptied by one task, which comes when it's
/// called and stays until nothing is left.
final class WorkQueue: Sendable {
    private struct State {
        var work = Queue<QueuedWork>()
        /// Taken out, but not yet part of a batch: it still waits.
        var aheadCount = 0
        var isBeingEmptied = false
        var isAnnounced = false

        /// Whether somebody has to be told of what waits here, who isn't on the way already.
        mutating func announce() -> Bool {
            defer { isAnnounced = true }
            return !isAnnounced
        }
    }

    private let state = Lock(State())

    enum Reception {
        /// There is no room.
        case full
        /// Whoever submitted has to call for the task that empties the queue.
        case first
        /// That task has what came before; it's to be told that there is more.
        case more
        /// It knows.
        case joined
    }

    func append(_ work: [QueuedWork], limit: Int) -> Reception {
        state.withLock { state in
            guard state.work.count + state.aheadCount + work.count <= limit else { return .full }
            state.work.append(contentsOf: work)
            guard state.isBeingEmptied else {
                state.isBeingEmptied = true
                return .first
            }
            return state.announce() ? .more : .joined
        }
    }

    /// Whether something waits of which nobody has been told yet.
    func announce() -> Bool {
        state.withLock { !$0.work.isEmpty && $0.announce() }
    }

    /// What has come from now on is to be announced again.
    func heard() {
        state.withLock { $0.isAnnounced = false }
    }

    /// What comes next, which stays.
    var first: QueuedWork? {
        state.withLock { $0.work.first }
    }

    /// Takes out what comes next. It counts as waiting until `takeBatch`.
    func takeFirstAhead() {
        state.withLock { state in
            state.aheadCount += 1
            _ = state.work.takeFirst()
        }
    }

    /// Up to `count` pieces that come next, which stay.
    func first(_ count: Int) -> ArraySlice<QueuedWork> {
        state.withLock { $0.work.all.prefix(count) }
    }

    /// What comes next, for a batch that has been taken ahead in part, and how much waits after it;
    /// nil if there is nothing for that batch, and the task is to end.
    func takeBatch(upTo limit: Int) -> (rest: [QueuedWork], leaving: Int)? {
        state.withLock { state in
            guard state.work.count + state.aheadCount > 0 else {
                state.isBeingEmptied = false
                return nil
            }
            let rest = state.work.take(min(state.work.count, limit - state.aheadCount))
            state.aheadCount = 0
            return (rest, state.work.count)
        }
    }
}
