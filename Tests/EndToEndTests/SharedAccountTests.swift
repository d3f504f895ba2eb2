import AppStoreStandIn
import Base
import Glibc
import TestSupport
import Testing

/// Everything at once on one account: grants, purchases, spends, reversals, holds, refunds and their
/// reversals, from many clients through two processes.
@Suite(.timeLimit(.minutes(15))) struct `One account that everybody uses` {
    private static let clients = isSoak ? 64 : 16
    private static let seconds = isSoak ? 30.0 : 3.0

    @Test(arguments: [UInt64(20_261_130)])
    func `never has coins that no event gave, nor loses any`(seed: UInt64) async throws {
        try await World.run(services: 2) { world throws in
            _ = try world.give(500)
            let tallies = try inParallel(Self.clients) { client in
                try Client(world, client, seed).run(seconds: Self.seconds)
            }
            var statuses: [String: Int] = [:]
            for tally in tallies { statuses.merge(tally) { $0 + $1 } }
            // A run in which one of these never happens tests nothing.
            for name in [
                "grants 201", "receipts 201", "spends 201", "reversal 201", "holds 201",
                "capture 201", "release 200", "refunds 200",
            ] { #expect(statuses[name, default: 0] > 0, "seed \(seed): \(statuses)") }
            let unexpected = statuses.keys.filter { Client.isUnexpected($0) }
            #expect(unexpected == [], "seed \(seed): \(statuses)")
            let deadlocks = try world.ledger.rows(
                "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
            #expect(deadlocks == [["0"]])
            let audit = try world.audit()
            #expect(audit.output.hasSuffix(" 0 findings\n"), "seed \(seed): \(audit.output)")
            #expect(try Self.balanceFindings(world) == [], "seed \(seed)")
        }
    }

    /// Sums the slices of all events in SQL, and compares them with lots and account.
    private static func balanceFindings(_ world: World) throws -> [[String]] {
        try world.ledger.rows(
            """
            WITH moved AS (
                SELECT (lot->>'number')::bigint AS number, (lot->>'coins')::bigint AS coins
                FROM coinledger.events_as_json
                CROSS JOIN jsonb_array_elements(payload->'lots') lot WHERE type = 'CoinsGranted'
                UNION ALL
                SELECT (slice->>'lot')::bigint, -(slice->>'coins')::bigint
                FROM coinledger.events_as_json
                CROSS JOIN jsonb_array_elements(payload->'slices') slice
                WHERE type IN ('CoinsSpent', 'CoinsExpired')
                UNION ALL
                SELECT (slice->'lot'->>'number')::bigint, (slice->>'coins')::bigint
                FROM coinledger.events_as_json
                CROSS JOIN jsonb_array_elements(payload->'returned') slice
                WHERE type IN ('SpendReversed', 'RefundReversed')
                UNION ALL
                SELECT (slice->'lot'->>'number')::bigint, -(slice->>'coins')::bigint
                FROM coinledger.events_as_json
                CROSS JOIN jsonb_array_elements(payload->'taken') slice
                WHERE type IN ('PurchaseRefunded', 'DebtPaid')
            ), summed AS (SELECT number, sum(coins) AS remaining FROM moved GROUP BY number)
            SELECT 'lot ' || number || ': ' || coalesce(l.remaining, -1) || ' or '
                || coalesce(s.remaining, -1)
            FROM coinledger.lots l FULL JOIN summed s USING (number)
            WHERE l.remaining IS DISTINCT FROM s.remaining
            UNION ALL
            SELECT 'sum of lots' FROM coinledger.accounts
            WHERE account = 'u1'
                AND paid + free <> (SELECT sum(remaining) FROM coinledger.lots)
            """)
    }

    /// One client's random commands.
    private final class Client {
        private let world: World
        private let number: Int
        private var random: SeededRandom
        private let connection: HTTPConnection
        private var commands = 0
        private var tally: [String: Int] = [:]
        private var spends: [String] = []
        private var holds: [String] = []
        private var purchases: [(transaction: String, words: Int64)] = []

        init(_ world: World, _ number: Int, _ seed: UInt64) throws {
            self.world = world
            self.number = number
            random = SeededRandom(seed: seed &+ UInt64(number))
            connection = try HTTPConnection(port: world.services[number % 2].port)
        }

        func run(seconds: Double) throws -> [String: Int] {
            let end = ContinuousClock.now + .seconds(seconds)
            while ContinuousClock.now < end { try act() }
            return tally
        }

        /// Refusals that a race explains are expected; nothing else is.
        static func isUnexpected(_ name: String) -> Bool {
            let parts = name.split(separator: " ")
            return !["200", "201", "409"].contains(parts.last.map(String.init) ?? "")
                && !["capture 404", "release 404"].contains(name)
        }

        private func act() throws {
            switch Int.random(in: 0..<20, using: &random) {
            case 0...1: try command("grants", ["coins": amount(5...40), "reason": "x"])
            case 2...3: try buy()
            case 4...9:
                let answer = try command("spends", ["coins": amount(1...60), "purpose": "x"])
                if let id = answer?["eventId"]?.string { spends.append(id) }
            case 10...11:
                guard let id = spends.popLast() else { return }
                try command("spends/\(id)/reversal", ["reason": "x"], named: "reversal")
            case 12...13:
                let answer = try command("holds", ["coins": amount(1...30), "purpose": "x"])
                if let id = answer?["holdId"]?.string { holds.append(id) }
            case 14...15:
                guard let id = holds.popLast() else { return }
                try command("holds/\(id)/capture", [:], named: "capture")
            case 16:
                guard let id = holds.popLast() else { return }
                try command("holds/\(id)/release", [:], named: "release")
            default: try refund()
            }
        }

        private func amount(_ range: ClosedRange<Int64>) -> JSON {
            .integer(Int64.random(in: range, using: &random))
        }

        private func buy() throws {
            commands += 1
            let device = "device-\(number)-\(commands)"
            let sale = try world.shop.sell("coins100") { $0.device = device }
            try note("receipts", connection.ask(world.posting(sale.signedTransaction, to: "u1")))
            purchases.append((sale.transactionID, 0))
        }

        private func refund() throws {
            guard let index = purchases.indices.randomElement(using: &random) else { return }
            purchases[index].words += 1
            let types: [(String, Int64?)] = [
                ("full", nil), ("prorated", 40_000), ("reversed", nil),
            ]
            let (type, percentage) = types[Int.random(in: 0..<types.count, using: &random)]
            let answer = try world.refund(
                purchases[index].transaction, type, percentage: percentage,
                signedAt: Shop.now() + purchases[index].words)
            note("refunds", answer)
        }

        @discardableResult
        private func command(_ path: String, _ body: JSON, named name: String? = nil) throws
            -> JSON?
        {
            commands += 1
            let answer = try connection.ask(
                world.commanding(path, body, key: "c\(number)-\(commands)"))
            note(name ?? path, answer)
            return answer.status == 201 ? answer.json : nil
        }

        private func note(_ name: String, _ answer: HTTPAnswer) {
            tally["\(name) \(answer.status)", default: 0] += 1
        }
    }
}
