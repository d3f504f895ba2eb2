import AppStore
package import AppStoreConnection
package import Telemetry

/// Decides whether what rests on verified certificates may be relied on, though one of them may have
/// been revoked: for receipts, notifications and the store's own answers alike.
package struct RevocationCheck: Sendable {
    private let checker: RevocationChecker
    private let checks: Counter

    package init(_ checker: RevocationChecker, _ metrics: Metrics) {
        self.checker = checker
        checks = metrics.counter(
            "coinledger_revocation_checks_total",
            help: "Whether signing certificates were revoked, for each receipt, notification and "
                + "answer of the store. Many unknown: the authority can't be reached.",
            labels: ["status"])
    }

    /// Why it may not be relied on.
    enum Failure: Error, Hashable {
        /// An authority has taken a certificate back.
        case revoked
        /// Nobody can say now, and it has to be known: try again.
        case unknown
    }

    func check(_ path: CertificatePath) async throws(Failure) {
        let status = await checker.status(of: path)
        checks.increment(status.rawValue)
        switch status {
        case .good: return
        case .revoked: throw .revoked
        case .unknown:
            if checker.configuration.mode == .hard { throw .unknown }
        }
    }

    /// The paths of one thing, which often are the same; each is asked about once.
    func check(_ paths: [CertificatePath]) async throws(Failure) {
        var seen: Set<[UInt8]> = []
        for path in paths where seen.insert(path.fingerprint).inserted { try await check(path) }
    }
}
