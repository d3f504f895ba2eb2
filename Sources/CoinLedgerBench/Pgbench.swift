import Glibc

/// pgbench on the tables of the service's ledger: a transaction each, the same rows.
struct Pgbench {
    private let bench: Workbench

    init(_ bench: Workbench) { self.bench = bench }

    func insertBy64() throws -> [Figure] {
        [Figure("pgbench.insert64", try insert(clients: 64).perSecond, "rows/s")]
    }

    func insertBy1() throws -> [Figure] {
        let result = try insert(clients: 1)
        return [
            Figure("pgbench.insert1", result.perSecond, "rows/s"),
            Figure("pgbench.insert1.latency", result.latencyMilliseconds, "ms"),
        ]
    }

    func selectBy8() throws -> [Figure] {
        let script = """
            \\set number random(1, \(HTTPBenchmark.accountCount))
            SELECT version, paid, free, sandbox_paid, sandbox_free FROM coinledger.accounts
            WHERE account = 'account-' || :number::text;
            """
        let result = try run(script, "select.sql", clients: 8)
        return [Figure("pgbench.select8", result.perSecond, "rows/s")]
    }

    /// One event row a transaction, with the columns, indexes and size of a purchase's.
    private func insert(clients: Int) throws -> (perSecond: Double, latencyMilliseconds: Double) {
        try bench.script(
            """
            DROP TABLE IF EXISTS bare_events;
            CREATE TABLE bare_events (LIKE coinledger.events INCLUDING ALL);
            DROP SEQUENCE IF EXISTS bare_positions;
            CREATE SEQUENCE bare_positions CACHE 100;
            """, in: "service")
        let payload = String(repeating: "x", count: 340)
        let script = """
            \\set number random(1, \(HTTPBenchmark.accountCount))
            WITH place AS (SELECT nextval('bare_positions') AS position)
            INSERT INTO bare_events (
                lane, position, account, version, command, type, schema_version, occurred_at,
                recorded_at, payload
            )
            SELECT 0, position, 'account-' || :number::text, position, '\\x00112233445566778899aabbccddeeff',
                'PurchaseRecorded', 1, now(), now(), '\(payload)'::bytea
            FROM place;
            """
        return try run(script, "insert.sql", clients: clients)
    }

    private func run(
        _ script: String, _ file: String, clients: Int
    ) throws -> (perSecond: Double, latencyMilliseconds: Double) {
        let path = try bench.writeFile(file, script)
        let text = try bench.output(
            of: "pgbench",
            [
                "--no-vacuum", "--protocol=prepared", "--client=\(clients)",
                "--jobs=\(min(2, clients))", "--time=\(bench.options.seconds)", "--file=\(path)",
                bench.connectionString("service"),
            ])
        guard let perSecond = number(after: "tps = ", in: text),
            let latency = number(after: "latency average = ", in: text)
        else { throw BenchmarkError("pgbench said:\n\(text)") }
        return (perSecond, latency)
    }

    private func number(after label: String, in text: String) -> Double? {
        guard let range = text.firstRange(of: label) else { return nil }
        return Double(text[range.upperBound...].prefix { $0.isNumber || $0 == "." })
    }
}
