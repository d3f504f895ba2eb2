import CLinux
import EventLoop
import Glibc

/// Lets a loop wait for SIGTERM and SIGINT. Made before any thread is started, so that all threads
/// leave the signals to it.
final class SignalWaiter: @unchecked Sendable {
    // Sendable: the mutable state is touched on the loop's thread only.
    private let descriptor: Int32
    private var cameAt: Int64?
    private var waiting: CheckedContinuation<Void, Never>?

    init() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        descriptor = signalfd(-1, &signals, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        signal(SIGPIPE, SIG_IGN)
    }

    /// What comes sooner after the first signal is the same wish, told twice by shell and supervisor.
    private static let repeatMilliseconds: Int64 = 1000

    /// Returns when the first of the signals has come; a later one ends the process at once.
    func wait(on loop: EventLoop) async {
        loop.add(descriptor, .readable) { _ in self.take() }
        if cameAt != nil { return }
        await withCheckedContinuation { waiting = $0 }
    }

    private func take() {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard read(descriptor, &information, size) == size else { return }
        if let cameAt {
            if EventLoop.now() - cameAt > SignalWaiter.repeatMilliseconds { _exit(130) }
            return
        }
        cameAt = EventLoop.now()
        waiting?.resume()
        waiting = nil
    }
}
