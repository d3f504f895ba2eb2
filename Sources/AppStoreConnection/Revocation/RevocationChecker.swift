package import AppStore
import Base

/// Asks authorities whether certificates of verified paths were revoked (OCSP), and remembers.
///
/// However many receipts wait for one path, it's asked about once.
package final class RevocationChecker: Sendable {
    package typealias Send = VerifyReceiptClient.Send

    package let configuration: RevocationConfiguration
    private let send: Send
    private let roots: RootCertificates
    private let clock: RetryClock
    /// Seconds since 1970.
    private let now: @Sendable () -> Int64
    private let state = Lock(State())

    private struct State {
        var known: [[UInt8]: (status: RevocationStatus, until: Int64)] = [:]
        var running: [[UInt8]: Task<RevocationStatus, Never>] = [:]
    }

    /// - Parameter now: seconds since 1970.
    package init(
        configuration: RevocationConfiguration, roots: RootCertificates,
        clock: RetryClock = .system,
        now: @escaping @Sendable () -> Int64, send: @escaping Send
    ) {
        self.configuration = configuration
        self.roots = roots
        self.clock = clock
        self.now = now
        self.send = send
    }

    /// The worst that is said of a certificate of `path`.
    package func status(of path: CertificatePath) async -> RevocationStatus {
        let key = path.fingerprint
        let time = clock.now()
        let step: Result<RevocationStatus, Waiting> = state.withLock { state in
            if let known = state.known[key], known.until > time { return .success(known.status) }
            if let task = state.running[key] { return .failure(Waiting(task: task)) }
            let task = Task { await self.askAndKeep(path, key) }
            state.running[key] = task
            return .failure(Waiting(task: task))
        }
        switch step {
        case .success(let status): return status
        case .failure(let waiting): return await waiting.task.value
        }
    }

    private struct Waiting: Error {
        let task: Task<RevocationStatus, Never>
    }

    private func askAndKeep(_ path: CertificatePath, _ key: [UInt8]) async -> RevocationStatus {
        let status = await ask(path)
        let kept =
            status == .unknown
            ? configuration.silenceMilliseconds : configuration.answerMilliseconds
        let until = clock.now() + kept
        state.withLock { state in
            state.running[key] = nil
            state.known[key] = (status, until)
            guard state.known.count > configuration.pathsMax,
                let oldest = state.known.min(by: { $0.value.until < $1.value.until })
            else { return }
            state.known[oldest.key] = nil
        }
        return status
    }

    private func ask(_ path: CertificatePath) async -> RevocationStatus {
        let questions = path.revocationQuestions
        guard questions.count == 2 else { return .unknown }
        async let first = status(questions[0])
        async let second = status(questions[1])
        let found = await [first, second]
        if found.contains(.revoked) { return .revoked }
        return found.contains(.unknown) ? .unknown : .good
    }

    private func status(_ question: RevocationQuestion) async -> RevocationStatus {
        // What is signed by such a certificate was so long ago.
        guard question.isAnswerable(at: now()) else { return .good }
        guard let url = configuration.url ?? question.url else { return .unknown }
        let request = HTTPClientRequest(
            method: "POST", url: url,
            headers: [
                (name: "Content-Type", value: RevocationQuestion.mediaType),
                (name: "Accept", value: "application/ocsp-response"),
            ],
            body: question.body, timeoutMilliseconds: configuration.attemptMilliseconds)
        for _ in 0..<configuration.attemptsMax {
            do throws(HTTPClientError) {
                let response = try await send(request)
                guard response.status == 200 else { continue }
                let status = question.status(in: response.body, roots: roots)
                if status != .unknown { return status }
            } catch {
                continue
            }
        }
        return .unknown
    }
}
