import Glibc

/// `coinledger serve` under wrk, on the same machine.
final class HTTPBenchmark {
    let bench: Workbench
    private var service: BenchmarkService?
    var purchasesMade: Int64 = Int64(time(nil)) << 24
    private var spendRuns = 0
    private var batchRuns = 0
    /// The rate of the last round, to sign neither too few nor far too many purchases.
    private var purchasesPerSecond = 16_000.0
    var notificationsPerSecond = 2000.0

    static let accountCount: Int64 = 10_000
    static let connections = 64

    init(_ bench: Workbench) { self.bench = bench }

    deinit { service?.stop() }

    func purchases() throws -> [Figure] {
        let service = try running()
        let count = Int(purchasesPerSecond * 1.5) * bench.options.seconds
        let script = try writePurchases(count: count)
        let result = try wrk(script, connections: HTTPBenchmark.connections)
        purchasesPerSecond = max(2000, result.perSecond)
        return [
            Figure("http.purchases", result.perSecond, "requests/s"),
            Figure("http.purchases.p50", result.p50Milliseconds, "ms"),
            Figure("http.purchases.p99", result.p99Milliseconds, "ms"),
            Figure("http.purchases.cpu", result.processorMicroseconds, "µs/request"),
            Figure("http.memory", try service.residentMegabytesMax(), "MB"),
        ]
    }

    func balances() throws -> [Figure] {
        let service = try running()
        let script = try bench.writeFile(
            "balances.lua",
            """
            wrk.headers["Authorization"] = "Bearer \(service.key)"
            function request()
                local account = math.random(\(HTTPBenchmark.accountCount))
                return wrk.format("GET", "/v1/accounts/account-" .. account .. "/balance")
            end
            \(Wrk.done)
            """)
        let result = try wrk(script, connections: HTTPBenchmark.connections)
        return [
            Figure("http.balances", result.perSecond, "requests/s"),
            Figure("http.balances.p99", result.p99Milliseconds, "ms"),
            Figure("http.balances.cpu", result.processorMicroseconds, "µs/request"),
        ]
    }

    enum Distribution: String { case uniform, hot }

    /// One stamp each, with an idempotency key of its own.
    func spends(_ distribution: Distribution) throws -> [Figure] {
        let service = try running()
        spendRuns += 1
        let account =
            distribution == .hot ? "0" : "math.random(\(HTTPBenchmark.accountCount))"
        let script = try bench.writeFile(
            "spends.lua",
            """
            local body = '{"stampId":"\(Workbench.stampID)","quantity":1,"programmeId":"p1"}'
            local headers = {
                ["Authorization"] = "Bearer \(service.key)",
                ["Content-Type"] = "application/json",
            }
            local count = 0
            function request()
                count = count + 1
                headers["Idempotency-Key"] = "bench-\(spendRuns)-" .. count
                local account = \(account)
                return wrk.format(
                    "POST", "/v1/accounts/account-" .. account .. "/spends", headers, body)
            end
            \(Wrk.done)
            """)
        let result = try wrk(script, connections: HTTPBenchmark.connections)
        let name = "http.spends.\(distribution.rawValue)"
        return [
            Figure(name, result.perSecond, "requests/s"),
            Figure("\(name).p99", result.p99Milliseconds, "ms"),
            Figure("\(name).cpu", result.processorMicroseconds, "µs/request"),
        ]
    }

    /// A campaign to viewers who have nothing yet: requests of 10,000 gifts each, one after the
    /// other.
    func batches() throws -> [Figure] {
        let service = try running()
        batchRuns += 1
        let requests = 10 * bench.options.seconds
        let begun = ContinuousClock.now
        for request in 0..<requests {
            var lines = ""
            for line in 0..<HTTPBenchmark.batchLines {
                let account = request * HTTPBenchmark.batchLines + line
                lines += """
                    {"command":"grant","accountId":"viewer-\(batchRuns)-\(account)","coins":3,\
                    "reason":"bench","idempotencyKey":"batch-\(batchRuns)-\(request)"}

                    """
            }
            let file = try bench.writeFile("batch.ndjson", lines)
            let answer = try bench.output(
                of: "curl",
                [
                    "--silent", "--fail", "--data-binary", "@\(file)", "--header",
                    "Content-Type: application/x-ndjson", "--header",
                    "Authorization: Bearer \(service.key)", "\(service.url)/v1/batches",
                ])
            let granted = answer.split(separator: "\n").count { $0.contains("\"status\":201") }
            guard granted == HTTPBenchmark.batchLines else {
                throw BenchmarkError("\(granted) of a batch were granted: \(answer.prefix(500))")
            }
        }
        let seconds = (ContinuousClock.now - begun) / .seconds(1)
        return [
            Figure(
                "http.batch", Double(requests * HTTPBenchmark.batchLines) / seconds, "commands/s"),
            Figure("http.batch.memory", try service.residentMegabytesMax(), "MB"),
        ]
    }

    private static let batchLines = 10_000

    func lonePurchases() throws -> [Figure] {
        _ = try running()
        let script = try writePurchases(count: 3000 * bench.options.seconds)
        let result = try wrk(script, connections: 1)
        return [
            Figure("http.lone.p50", result.p50Milliseconds, "ms"),
            Figure("http.lone.p99", result.p99Milliseconds, "ms"),
        ]
    }

    func wrk(_ script: String, connections: Int) throws -> Wrk.Result {
        let service = try running()
        let before = try service.processorMicroseconds()
        let text = try bench.output(
            of: "wrk",
            [
                "--threads", "1", "--connections", "\(connections)",
                "--duration", "\(bench.options.seconds)s", "--timeout", "10s",
                "--script", script, service.url,
            ])
        let used = try service.processorMicroseconds() - before
        return try Wrk.Result(text, processorMicroseconds: used)
    }

    func running() throws -> BenchmarkService {
        if let service { return service }
        let started = try BenchmarkService(bench)
        service = started
        return started
    }

    /// Writes what was signed to a file, a line each.
    ///
    /// - Returns: the header, which holds the certificates and is the same in all of them and so isn't
    ///   in the lines, and the file.
    func writeLines(
        _ name: String, _ count: Int, bytesEach: Int, _ next: () -> String
    ) throws -> (header: String, path: String) {
        var (header, lines) = ("", "")
        lines.reserveCapacity(count * bytesEach)
        for _ in 0..<count {
            let text = next()
            guard let dot = text.firstIndex(of: ".") else { continue }
            if header.isEmpty { header = String(text[..<dot]) }
            lines += text[dot...]
            lines += "\n"
        }
        return (header, try bench.writeFile(name, lines))
    }

    /// A wrk script that posts each of `count` new purchases once, over all accounts.
    private func writePurchases(count: Int) throws -> String {
        var purchases = SignedPurchases(bench.authority, firstID: purchasesMade)
        purchasesMade += Int64(count)
        let (header, data) = try writeLines("purchases.txt", count, bytesEach: 800) {
            purchases.next()
        }
        return try bench.writeFile(
            "purchases.lua",
            """
            local header = "\(header)"
            local lines = io.lines("\(data)")
            wrk.headers["Authorization"] = "Bearer \(try running().key)"
            wrk.headers["Content-Type"] = "application/json"
            function request()
                local line = lines()
                if not line then wrk.thread:stop() return nil end
                local account = math.random(\(HTTPBenchmark.accountCount))
                return wrk.format("POST", "/v1/accounts/account-" .. account .. "/receipts", nil,
                    '{"receipt":"' .. header .. line .. '"}')
            end
            \(Wrk.done)
            """)
    }
}

/// What wrk says.
enum Wrk {
    /// Prints the figures of a run so that a program can read them.
    static let done = """
        function done(summary, latency, requests)
            local errors = summary.errors
            print("figures", summary.requests, summary.duration, latency:percentile(50),
                latency:percentile(99), errors.status, errors.connect + errors.read
                + errors.write + errors.timeout)
        end
        """

    struct Result {
        let perSecond: Double
        let p50Milliseconds: Double
        let p99Milliseconds: Double
        /// Of the service, for each request.
        let processorMicroseconds: Double

        init(_ text: String, processorMicroseconds: Double) throws {
            let line = text.split(separator: "\n").last { $0.hasPrefix("figures") }
            let numbers = (line ?? "").split(whereSeparator: \.isWhitespace).dropFirst()
                .compactMap { Double($0) }
            guard numbers.count == 6, numbers[1] > 0 else {
                throw BenchmarkError("wrk said:\n\(text)")
            }
            guard numbers[4] == 0, numbers[5] == 0 else {
                throw BenchmarkError(
                    "\(numbers[4]) requests were refused and \(numbers[5]) were lost")
            }
            perSecond = numbers[0] / numbers[1] * 1_000_000
            p50Milliseconds = numbers[2] / 1000
            p99Milliseconds = numbers[3] / 1000
            self.processorMicroseconds = processorMicroseconds / max(1, numbers[0])
        }
    }
}
