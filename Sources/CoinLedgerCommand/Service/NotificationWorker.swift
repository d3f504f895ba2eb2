import CoinLedgerService
import EventLoop

/// Has a processor take up notifications whenever some may be due.
final class NotificationWorker: Sendable {
    private let processor: NotificationProcessor
    private let bell: NotificationBell
    private let loop: EventLoop
    private let task: Task<Void, Never>

    /// Without a ring, due notifications are looked for so often: those that were put off, and those
    /// of other processes that died.
    static let pollMilliseconds: Int64 = 1000
    /// How long what is under way may go on after `stop`.
    static let stopMilliseconds: Int64 = 1000

    /// Starts, on the loop of the ledger's writers.
    init(_ processor: NotificationProcessor, _ bell: NotificationBell, on loop: EventLoop) {
        self.processor = processor
        self.bell = bell
        self.loop = loop
        task = loop.task {
            while !Task.isCancelled {
                await processor.takeUp()
                let timer = loop.after(milliseconds: NotificationWorker.pollMilliseconds) {
                    bell.ring()
                }
                await bell.wait()
                loop.cancel(timer)
            }
        }
    }

    /// Takes nothing up any more, and gives what is under way a moment to end. What doesn't is taken
    /// up again by whoever is there when its lease has ended.
    func stop() async {
        task.cancel()
        bell.ring()
        await task.value
        await processor.stop()
        let ended = NotificationBell()
        loop.task { [processor] in
            await processor.finish()
            ended.ring()
        }
        let timer = loop.after(milliseconds: NotificationWorker.stopMilliseconds) { ended.ring() }
        await ended.wait()
        loop.cancel(timer)
    }
}
