/// Whether and how patiently authorities are asked about revoked certificates.
package struct RevocationConfiguration: Sendable {
    package enum Mode: String, CaseIterable, Sendable {
        /// Nobody is asked: Apple replaces certificates in its own apps' receipts long before.
        case off
        /// What can't be found out is taken for good.
        case soft
        /// What can't be found out has to be tried again.
        case hard
    }

    package let mode: Mode
    /// Asked in place of what the certificates name.
    package var url: String?
    package var attemptMilliseconds: Int64
    package var attemptsMax: Int
    /// How long an answer counts.
    package var answerMilliseconds: Int64 = 900_000
    /// How long it counts that there was none.
    package var silenceMilliseconds: Int64
    /// The App Store has a few at a time.
    package var pathsMax = 32

    /// The usual patience: with `hard` the client has to come back, so it waits longer and asks
    /// again sooner.
    package init(mode: Mode, url: String? = nil) {
        self.mode = mode
        self.url = url
        switch mode {
        case .off, .soft:
            attemptMilliseconds = 2000
            attemptsMax = 1
            silenceMilliseconds = 60_000
        case .hard:
            attemptMilliseconds = 5000
            attemptsMax = 2
            silenceMilliseconds = 2000
        }
    }
}
