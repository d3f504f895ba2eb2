import AppStore
import AppStoreStandIn
import Base
import Glibc

/// What verifying a signed transaction or an app receipt costs one core.
struct VerificationBenchmark {
    private let bench: Workbench

    init(_ bench: Workbench) { self.bench = bench }

    func run() throws -> [Figure] {
        let roots = try RootCertificates(
            files: [Array(bench.authority.rootsPEM.utf8)], allowPrivate: true)
        var purchases = SignedPurchases(bench.authority, firstID: 1)
        let jws = purchases.next()
        let now = Int64(time(nil)) * 1000
        let verifier = SignedTransactionVerifier(roots: roots)
        _ = try verifier.verify(jws, now: now)
        let cached = try microseconds(repeats: 3000) { _ = try verifier.verify(jws, now: now) }
        let uncached = try microseconds(repeats: 200) {
            _ = try SignedTransactionVerifier(roots: roots).verify(jws, now: now)
        }
        let speed = try bench.output(of: "openssl", ["speed", "-seconds", "1", "ecdsap256"])
        guard let line = speed.split(separator: "\n").last(where: { $0.contains("ecdsa") }),
            let perSecond = line.split(separator: " ").last.flatMap({ Double($0) }), perSecond > 0
        else { throw BenchmarkError("openssl said:\n\(speed)") }
        return [
            Figure("verify.cached", cached, "µs"),
            Figure("verify.uncached", uncached, "µs"),
            Figure("verify.receipt", try receipt(purchases: 1, roots), "µs"),
            Figure("verify.receipt187", try receipt(purchases: 187, roots), "µs"),
            Figure("openssl.verify", 1_000_000 / perSecond, "µs"),
        ]
    }

    private func receipt(purchases: Int, _ roots: RootCertificates) throws -> Double {
        let now = Int64(time(nil)) * 1000
        let store = StandInStore(authority: bench.authority, now: { now })
        for _ in 0..<purchases {
            _ = try store.purchase(StandInPurchase(productID: Workbench.productID))
        }
        guard let bytes = Base64.decode(store.receipt()) else {
            throw BenchmarkError("the receipt isn't base64")
        }
        let verifier = AppReceiptVerifier(roots: roots)
        return try microseconds(repeats: 500) { _ = try verifier.verify(bytes, now: now) }
    }

    private func microseconds(repeats: Int, _ body: () throws -> Void) throws -> Double {
        let begun = ContinuousClock.now
        for _ in 0..<repeats { try body() }
        return (ContinuousClock.now - begun) / .microseconds(1) / Double(repeats)
    }
}
