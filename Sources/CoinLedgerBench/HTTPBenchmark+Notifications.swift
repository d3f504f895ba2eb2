import Glibc

extension HTTPBenchmark {
    private static let settleSecondsMax = 60

    /// What the store tells of charges, each of which is granted to an account after it's answered.
    func notifications() throws -> [Figure] {
        let service = try running()
        let count = Int(notificationsPerSecond * 1.5) * bench.options.seconds
        let script = try writeNotifications(count: count)
        let begun = ContinuousClock.now
        let result = try wrk(script, connections: HTTPBenchmark.connections)
        notificationsPerSecond = max(500, result.perSecond)
        try waitUntilWorkedOff()
        let seconds = (ContinuousClock.now - begun) / .seconds(1)
        return [
            Figure("http.notifications", result.perSecond, "requests/s"),
            Figure("http.notifications.p99", result.p99Milliseconds, "ms"),
            Figure("http.notifications.cpu", result.processorMicroseconds, "µs/request"),
            Figure(
                "notifications.granted",
                result.perSecond * Double(bench.options.seconds) / seconds, "notifications/s"),
            Figure("http.notifications.memory", try service.residentMegabytesMax(), "MB"),
        ]
    }

    private func waitUntilWorkedOff() throws {
        for _ in 0..<(HTTPBenchmark.settleSecondsMax * 10) {
            let waiting = try bench.output(
                of: "psql",
                [
                    "--no-psqlrc", "--tuples-only", "--no-align", "--command",
                    "SELECT count(*) FROM coinledger.store_notifications WHERE state <> 'done'",
                    bench.connectionString("service"),
                ])
            if waiting.trimmed == "0" { return }
            usleep(100_000)
        }
        throw BenchmarkError("notifications are still waiting")
    }

    /// A wrk script that posts each of `count` new notifications once.
    private func writeNotifications(count: Int) throws -> String {
        var notifications = SignedNotifications(bench.authority, firstID: purchasesMade)
        purchasesMade += Int64(count)
        let (header, data) = try writeLines("notifications.txt", count, bytesEach: 6000) {
            notifications.next()
        }
        return try bench.writeFile(
            "notifications.lua",
            """
            local header = "\(header)"
            local lines = io.lines("\(data)")
            wrk.headers["Content-Type"] = "application/json"
            function request()
                local line = lines()
                if not line then wrk.thread:stop() return nil end
                return wrk.format("POST", "/v1/app-store/notifications", nil,
                    '{"signedPayload":"' .. header .. line .. '"}')
            end
            \(Wrk.done)
            """)
    }
}

extension String {
    fileprivate var trimmed: String { String(filter { !$0.isWhitespace }) }
}
