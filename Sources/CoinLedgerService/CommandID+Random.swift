package import CoinLedger
import Glibc

extension CommandID {
    /// A new one, from the system's source of randomness.
    package static func random() -> CommandID {
        // One system call, where a random number for each half would take two.
        var halves = (high: UInt64(0), low: UInt64(0))
        let failure = unsafe withUnsafeMutableBytes(of: &halves) {
            unsafe getentropy($0.baseAddress, $0.count)
        }
        precondition(failure == 0, "the system has no randomness")
        return CommandID(high: halves.high, low: halves.low)
    }
}
