import Base
package import EventLoop

/// Runs `body` on an event loop with a thread of its own, as part of the calling task.
package func onLoop<Value: Sendable>(
    _ body: @escaping @Sendable (EventLoop) async throws -> Value
) async throws -> Value {
    let loop = EventLoop()
    Thread.start { loop.run() }
    let result: Result<Value, any Error> = await withTaskExecutorPreference(loop) {
        do {
            return .success(try await body(loop))
        } catch {
            return .failure(error)
        }
    }
    await loop.task { loop.stop() }.value
    return try result.get()
}
