import Base
import PrivatePostgres
import TestSupport
import Testing

/// What was acknowledged is there, whatever was killed and when.
@Suite(.timeLimit(.minutes(15))) struct `Killing` {
    /// In `scripts/soak` each phase of load is longer.
    private static let grantsPerRound = isSoak ? 500 : 15

    @Test func `the service 20 times under load loses and repeats no grant`() async throws {
        try await World.run(services: 1) { world throws in
            let load = Load(world)
            var service = world.services[0]
            for round in 0..<20 {
                // Not always at the same moment of a batch.
                #expect(load.waitForMore(Killing.grantsPerRound + round % 7))
                service.kill()
                let acknowledged = load.acknowledged
                #expect(acknowledged.subtracting(try world.ledger.grantedTransactions()) == [])
                service = try world.startService()
                load.move(to: service.port)
            }
            #expect(load.waitForMore(Killing.grantsPerRound))
            try check(load.stop(), world)
            #expect(service.stop() == .code(0))
        }
    }

    @Test func `PostgreSQL 5 times under load loses and repeats no grant`() async throws {
        try await blocking {
            let folder = try TemporaryFolder()
            defer { folder.remove() }
            let postgres = try PrivatePostgres.start(folder: folder.path)
            defer { try? postgres.stop() }
            try World.with(services: 2, ledger: { try .create(in: postgres) }) { world throws in
                let load = Load(world)
                for _ in 0..<5 {
                    #expect(load.waitForMore(Killing.grantsPerRound))
                    try postgres.kill()
                    let acknowledged = load.acknowledged
                    #expect(try world.ask(HTTPQuestion("GET", "/readyz")).status == 503)
                    #expect(try world.ask(HTTPQuestion("GET", "/livez")).status == 200)
                    try postgres.restart()
                    #expect(acknowledged.subtracting(try world.ledger.grantedTransactions()) == [])
                }
                #expect(load.waitForMore(Killing.grantsPerRound))
                try check(load.stop(), world)
            }
        }
    }

    @Test func `sessions of the database under load leaves every answer true`() async throws {
        try await World.run(services: 2) { world throws in
            let load = Load(world)
            for _ in 0..<(isSoak ? 200 : 8) {
                #expect(load.waitForMore(10))
                try world.ledger.endSessions()
            }
            #expect(load.waitForMore(10))
            let progress = load.stop()
            #expect(progress.untruthful == [])
            try check(progress, world)
        }
    }

    /// Everything acknowledged is granted, nothing twice, and all that is kept beside the events
    /// is what they say.
    private func check(_ progress: Load.Progress, _ world: World) throws {
        let granted = try world.ledger.grantedTransactions()
        #expect(progress.acknowledged.subtracting(granted) == [])
        #expect(Set(progress.statuses.keys).subtracting([201, 409, 503]) == [])
        let audit = try world.audit()
        #expect(audit.exit == .code(0), "\(audit.output)")
        #expect(audit.output.hasSuffix(" 0 findings\n"))
        #expect(try LedgerChecks.findings(world.ledger.adminURL) == [])
    }
}
