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

/// A command in the queue, and whom to answer.
struct QueuedCommand {
    let command: Command
    let index: Int
    let submission: Submission

    func answer(_ outcome: Outcome) { submission.finish(index, .success(outcome)) }
    func fail(_ error: WriterError) { submission.finish(index, .failure(error)) }
}

/// First in, first out; filled by tasks on any thread, and emptied by one task, which comes when it's
/// called and stays until nothing is left.
final class CommandQueue: Sendable {
    private struct State {
        var commands: [QueuedCommand] = []
        var first = 0
        var isBeingEmptied = false

        var count: Int { commands.count - first }
    }

    private let state = Lock(State())

    enum Reception {
        /// There is no room.
        case full
        /// Whoever submitted has to call for the task that empties the queue.
        case first
        /// It's on its way.
        case joined
    }

    func append(_ commands: [QueuedCommand], limit: Int) -> Reception {
        state.withLock { state in
            guard state.count + commands.count <= limit else { return .full }
            state.commands += commands
            defer { state.isBeingEmptied = true }
            return state.isBeingEmptied ? .joined : .first
        }
    }

    /// What comes next, and how many wait after it; nil if there is nothing, and the task is to end.
    func take(upTo limit: Int) -> (batch: [QueuedCommand], leaving: Int)? {
        state.withLock { state in
            guard state.count > 0 else {
                state.isBeingEmptied = false
                return nil
            }
            let end = min(state.commands.count, state.first + limit)
            let taken = Array(state.commands[state.first..<end])
            state.first = end
            if state.count == 0 {
                state.commands.removeAll(keepingCapacity: true)
                state.first = 0
            } else if state.first >= limit * 4 {
                state.commands.removeFirst(state.first)
                state.first = 0
            }
            return (taken, state.count)
        }
    }
}
