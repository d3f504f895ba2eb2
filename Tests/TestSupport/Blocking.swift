/// Runs a body that blocks, as part of the calling task but on a thread of its own.
///
/// The threads of tests are few, and other tests, some of them with deadlines, need them. Bodies
/// wait for one another so that a few run at a time.
package func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
    await Slots.shared.take()
    do {
        let value = try await onLoop { _ in try body() }
        await Slots.shared.give()
        return value
    } catch {
        await Slots.shared.give()
        throw error
    }
}

/// Places for bodies that run at one time.
private actor Slots {
    static let shared = Slots()

    /// More than there are cores on small machines, since most of the time they wait.
    private static let count = 4

    private var free = Slots.count
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func give() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
