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

/// A command in the queue, and whom to answer.
struct QueuedCommand {
    let command: Command
    let index: Int
    let submission: Submission

    func answer(_ outcome: Outcome) { submission.finish(index, .success(outcome)) }
    func fail(_ error: WriterError) { submission.finish(index, .failure(error)) }
}

/// First in, first out.
struct CommandQueue {
    private var commands: [QueuedCommand] = []
    private var first = 0

    var count: Int { commands.count - first }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ command: QueuedCommand) { commands.append(command) }

    mutating func take(upTo limit: Int) -> [QueuedCommand] {
        let end = min(commands.count, first + limit)
        let taken = Array(commands[first..<end])
        first = end
        if isEmpty {
            commands.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= limit * 4 {
            commands.removeFirst(first)
            first = 0
        }
        return taken
    }
}
