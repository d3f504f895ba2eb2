/// Something to measure, once a round.
struct Measurement {
    let name: String
    let run: () throws -> [Figure]

    /// All of them, peers beside ours.
    static func all(_ bench: Workbench) throws -> [Measurement] {
        let inserts = InsertBenchmark(bench)
        let append = AppendBenchmark(bench)
        let pgbench = Pgbench(bench)
        let http = HTTPBenchmark(bench)
        let large = LargeAccountBenchmark(bench)
        let verification = VerificationBenchmark(bench)
        return [
            Measurement(name: "bare inserts", run: inserts.run),
            Measurement(name: "append uniform") { try append.run(.uniform) },
            Measurement(name: "append one account") { try append.run(.hot) },
            Measurement(name: "pgbench insert, 64 clients", run: pgbench.insertBy64),
            Measurement(name: "HTTP purchases", run: http.purchases),
            Measurement(name: "HTTP spends") { try http.spends(.uniform) },
            Measurement(name: "HTTP spends of one account") { try http.spends(.hot) },
            Measurement(name: "HTTP batches", run: http.batches),
            Measurement(name: "HTTP notifications", run: http.notifications),
            Measurement(name: "pgbench select, 8 clients", run: pgbench.selectBy8),
            Measurement(name: "HTTP balances", run: http.balances),
            Measurement(name: "pgbench insert, 1 client", run: pgbench.insertBy1),
            Measurement(name: "HTTP lone purchase", run: http.lonePurchases),
            Measurement(name: "spends of large accounts", run: large.run),
            Measurement(name: "verification", run: verification.run),
        ]
    }
}
