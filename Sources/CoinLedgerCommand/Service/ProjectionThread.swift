import Base
import CoinLedgerService
import EventLoop
import EventStore
import Postgres
import PostgresEventStore
import Telemetry

/// Keeps the lots up to date on a thread and a connection of its own: a thousand events are read
/// and understood in one go, which must not keep requests waiting.
final class ProjectionThread: Sendable {
    private let loop: EventLoop
    private let store = Lock<PostgresEventStore?>(nil)
    private let work = Lock<Task<Void, Never>?>(nil)

    /// Between two looks at an idle log, and between attempts to reach the database.
    private static let pauseMilliseconds: Int64 = 200

    init(_ database: PostgresConfiguration, log: Log) {
        let loop = EventLoop()
        self.loop = loop
        let task = loop.task { [store] in
            await ProjectionThread.project(database, log, loop, store)
            loop.stop()
        }
        work.withLock { $0 = task }
        Base.Thread.start(.background) { loop.run() }
    }

    /// Returns when the thread has let everything go.
    func stop() async {
        let task = work.withLock { $0 }
        task?.cancel()
        // Closing ends a step that waits for a database which doesn't answer.
        loop.task { [store] in store.withLock { $0 }?.close() }
        await task?.value
    }

    private static func project(
        _ database: PostgresConfiguration, _ log: Log, _ loop: EventLoop,
        _ shared: Lock<PostgresEventStore?>
    ) async {
        let pause: @Sendable () async -> Void = {
            await loop.sleep(milliseconds: pauseMilliseconds)
        }
        while !Task.isCancelled {
            do throws(EventStoreError) {
                let store = try await PostgresEventStore.open(database, on: loop, log: .none)
                shared.withLock { $0 = store }
                await LotProjector(store: store, log: log).run(pause: pause)
                store.close()
            } catch {
                log.warning("lot projection waits", ["error": error])
                await pause()
            }
        }
    }
}
