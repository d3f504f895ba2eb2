import AppStore
import AppStoreConnection
import AppStoreStandIn
import Base
import Testing

@Suite struct `Asking for revoked certificates` {
    private static let store = StandInStore(now: { noon })
    private static let responder = RevocationResponder(store.authority)
    private let roots: RootCertificates
    private let path: CertificatePath

    init() throws {
        roots = try RootCertificates(
            files: [Array(Self.store.authority.rootsPEM.utf8)], allowPrivate: true)
        let sale = try Self.store.purchase(StandInPurchase(productID: "p"))
        path = try SignedTransactionVerifier(roots: roots).verified(
            sale.signedTransaction, now: noon
        ).path
    }

    /// What is sent, and what time it is, in milliseconds.
    private final class Script: Sendable {
        let requests = Lock<[HTTPClientRequest]>([])
        let time = Lock<Int64>(0)
        let answers = Lock<[Result<HTTPClientResponse, HTTPClientError>]>([])

        func answer(_ request: HTTPClientRequest) -> Result<HTTPClientResponse, HTTPClientError> {
            requests.withLock { $0.append(request) }
            if let answer = answers.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                return answer
            }
            guard let body = responder.respond(to: request.body) else {
                return .success(HTTPClientResponse(status: 404, body: []))
            }
            return .success(HTTPClientResponse(status: 200, body: body))
        }

        var count: Int { requests.withLock { $0.count } }
    }

    private func checker(
        _ script: Script, _ mode: RevocationConfiguration.Mode = .hard,
        url: String? = "http://a", now: Int64 = noon
    ) -> RevocationChecker {
        RevocationChecker(
            configuration: RevocationConfiguration(mode: mode, url: url), roots: roots,
            clock: RetryClock(
                now: { script.time.withLock { $0 } }, sleep: { _ in },
                random: { $0.lowerBound }),
            now: { now / 1000 },
            send: { (request) async throws(HTTPClientError) in
                try script.answer(request).get()
            })
    }

    @Test func `asks about signer and issuer once in a quarter of an hour`() async {
        let script = Script()
        let checker = checker(script)
        for _ in 0..<3 { #expect(await checker.status(of: path) == .good) }
        #expect(script.count == 2)
        let request = script.requests.withLock { $0[0] }
        #expect(request.method == "POST")
        #expect(request.url == "http://a")
        #expect(request.headers.contains { $0 == ("Content-Type", "application/ocsp-request") })
        script.time.withLock { $0 = 899_999 }
        #expect(await checker.status(of: path) == .good)
        #expect(script.count == 2)
        script.time.withLock { $0 = 900_000 }
        #expect(await checker.status(of: path) == .good)
        #expect(script.count == 4)
    }

    @Test func `asks once for many at the same time`() async {
        let script = Script()
        let checker = checker(script)
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask { #expect(await checker.status(of: path) == .good) }
            }
        }
        #expect(script.count == 2)
    }

    @Test(arguments: [RevocationConfiguration.Mode.soft, .hard])
    func `doesn't know what nobody answers, and asks again soon`(
        mode: RevocationConfiguration.Mode
    ) async {
        let script = Script()
        let checker = checker(script, mode)
        let attempts = mode == .hard ? 4 : 2
        script.answers.withLock { $0 = (0..<attempts).map { _ in .failure(.timedOut) } }
        #expect(await checker.status(of: path) == .unknown)
        #expect(script.count == attempts)
        #expect(await checker.status(of: path) == .unknown)
        #expect(script.count == attempts)
        script.time.withLock { $0 = checker.configuration.silenceMilliseconds }
        #expect(await checker.status(of: path) == .good)
    }

    @Test(arguments: [(200, "<html></html>"), (500, "")])
    func `takes no page for an answer`(status: Int, text: String) async {
        let script = Script()
        let page = HTTPClientResponse(status: status, body: Array(text.utf8))
        script.answers.withLock { $0 = [.success(page)] }
        // One of the two questions is asked twice.
        #expect(await checker(script).status(of: path) == .good)
        #expect(script.count == 3)
    }

    @Test func `doesn't ask about certificates that have expired`() async {
        let script = Script()
        let later = noon + 400_000_000_000
        #expect(await checker(script, now: later).status(of: path) == .good)
        #expect(script.count == 0)
    }

    @Test func `can't ask where no place is named`() async {
        let script = Script()
        #expect(await checker(script, url: nil).status(of: path) == .unknown)
        #expect(script.count == 0)
    }
}
