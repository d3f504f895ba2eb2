import Glibc

/// The seeds of random histories: some in the normal run, 100,000 with `COINLEDGER_SOAK`, one alone
/// with `COINLEDGER_HISTORY_SEED`, which a failed test names.
enum Seeds {
    private static let first: UInt64 = 20_261_130
    private static let batchSize: UInt64 = 1000
    private static let soakCount: UInt64 = 100_000

    /// Batches that run beside each other.
    static func batches(of count: UInt64) -> [Range<UInt64>] {
        if let only { return [only..<only + 1] }
        let all = first..<first + (getenv("COINLEDGER_SOAK") == nil ? count : soakCount)
        return stride(from: all.lowerBound, to: all.upperBound, by: Int(batchSize)).map {
            $0..<min($0 + batchSize, all.upperBound)
        }
    }

    /// The one seed that was asked for.
    static var only: UInt64? {
        getenv("COINLEDGER_HISTORY_SEED").flatMap { UInt64(String(cString: $0)) }
    }
}
