/// Lets a few in at once; the others wait for their turn.
///
/// Every test begins at once, and each with a database of its own would ask for more connections
/// than a server has.
package actor Gate {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init(_ count: Int) { free = count }

    /// Runs `body` when there is room.
    package nonisolated func pass<Value: Sendable>(
        _ body: () async throws -> Value
    ) async throws -> Value {
        await enter()
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        await leave()
        return try result.get()
    }

    private func enter() async {
        if free > 0 {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
