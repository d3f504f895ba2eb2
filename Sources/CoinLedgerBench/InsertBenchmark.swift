import CoinLedger
import EventLoop
import EventStore
import Glibc
import Postgres

/// The peer of the append path: the same event rows, in the same batches, into a table with the
/// same indexes, by two connections, and nothing else.
struct InsertBenchmark {
    private let bench: Workbench

    private static let connections = 2
    /// A batch of 256 purchases has two events each.
    private static let rowsPerBatch = 512

    private static let insert = PostgresStatement(
        "bare_insert",
        """
        INSERT INTO bare_events (
            lane, position, account, version, command, type, schema_version, occurred_at,
            recorded_at, payload
        )
        SELECT $1, $2 + event.ordinality, event.account, event.version, event.command, event.type,
            event.schema_version, event.occurred_at, event.recorded_at, event.payload
        FROM unnest($3::text[], $4::bigint[], $5::bytea[], $6::text[], $7::bigint[],
            $8::timestamptz[], $9::timestamptz[], $10::bytea[]) WITH ORDINALITY AS event (
            account, version, command, type, schema_version, occurred_at, recorded_at, payload,
            ordinality
        )
        """)

    init(_ bench: Workbench) { self.bench = bench }

    func run() throws -> [Figure] {
        try bench.script(
            """
            DROP TABLE IF EXISTS bare_events;
            CREATE TABLE bare_events (LIKE coinledger.events INCLUDING ALL);
            """, in: "append")
        var configuration = try PostgresConfiguration(bench.connectionString("append"))
        configuration.settings = [("plan_cache_mode", "force_generic_plan")]
        let (final, loop) = (configuration, bench.loop)
        let seconds = Double(bench.options.seconds)
        let rate = try bench.onLoop {
            let tasks = (0..<InsertBenchmark.connections).map { lane in
                loop.task {
                    await InsertBenchmark.rowsPerSecond(Int64(lane), final, seconds, loop)
                }
            }
            var sum = 0.0
            for task in tasks { sum += try await task.value.get() }
            return sum
        }
        try bench.script("DROP TABLE bare_events", in: "append")
        return [Figure("bare.insert", rate, "events/s")]
    }

    private static func rowsPerSecond(
        _ lane: Int64, _ configuration: PostgresConfiguration, _ seconds: Double,
        _ loop: EventLoop
    ) async -> Result<Double, PostgresError> {
        do throws(PostgresError) {
            let connection = try await PostgresConnection.connect(configuration, on: loop)
            defer { connection.close() }
            var rows = BareRows(lane: lane)
            let begun = ContinuousClock.now
            var count = 0
            while ContinuousClock.now - begun < .seconds(seconds) {
                _ = try await connection.execute(insert, rows.next(rowsPerBatch))
                count += rowsPerBatch
            }
            return .success(Double(count) / ((ContinuousClock.now - begun) / .seconds(1)))
        } catch {
            return .failure(error)
        }
    }

    /// Rows as a purchase makes them.
    private struct BareRows {
        private let lane: Int64
        private var position: Int64 = 0
        private var versions: [Int64: Int64] = [:]
        private var purchases: BenchmarkPurchases

        init(lane: Int64) {
            self.lane = lane
            purchases = BenchmarkPurchases(firstID: (lane + 1) << 40)
        }

        mutating func next(_ count: Int) -> [PostgresValue] {
            var accounts: [String] = []
            var versions: [Int64] = []
            var commands: [[UInt8]] = []
            var types: [String] = []
            var payloads: [[UInt8]] = []
            let now = Int64(time(nil)) * 1000
            while accounts.count < count {
                // Accounts of its own for each lane, as a hash would give it.
                let number =
                    purchases.accountNumber(of: AppendBenchmark.accountCount / 2) * 2 + lane
                let (id, encodedEvents) = events(number, now)
                for encoded in encodedEvents {
                    self.versions[number, default: 0] += 1
                    accounts.append("account-\(number)")
                    versions.append(self.versions[number, default: 0])
                    commands.append(id)
                    types.append(encoded.type)
                    payloads.append(encoded.payload)
                }
            }
            defer { position += Int64(count) }
            let times = PostgresValue.timestamptzArray(
                milliseconds: Array(repeating: now, count: count))
            return [
                .int8(lane), .int8(position), .textArray(accounts), .int8Array(versions),
                .byteaArray(commands), .textArray(types),
                .int8Array(Array(repeating: 1, count: count)), times, times, .byteaArray(payloads),
            ]
        }

        /// A command's id and its events.
        private mutating func events(
            _ number: Int64, _ now: Int64
        ) -> (id: [UInt8], events: [EventCodec.Encoded]) {
            guard let account = AccountID("account-\(number)"),
                let time = Timestamp(milliseconds: now)
            else { preconditionFailure("a number makes an account id") }
            let command = purchases.next(for: account, at: time)
            let id = [command.id.high, command.id.low].flatMap { half in
                (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * UInt64($0))) }
            }
            do throws(Rejection) {
                let events = try Account.new.decide(command, knowing: Facts())
                return (id, events.map(EventCodec.encode))
            } catch {
                preconditionFailure("a new purchase is granted")
            }
        }
    }
}
