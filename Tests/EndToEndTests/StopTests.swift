import AppStoreStandIn
import Base
import Glibc
import PrivatePostgres
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct `Stopping the service` {
    @Test func `under load finishes what was accepted and refuses the rest`() async throws {
        try await World.run(services: 2) { world throws in
            for (index, service) in world.services.enumerated() {
                let load = Load(world, clients: 16)
                if index == 1 { load.move(to: service.port) }
                #expect(load.waitForMore(30))
                let begin = monotonicSeconds()
                #expect(service.stop() == .code(0))
                #expect(monotonicSeconds() - begin < 10)
                #expect((try? HTTPConnection(port: service.port)) == nil)
                let progress = load.stop()
                let granted = try world.ledger.grantedTransactions()
                #expect(progress.acknowledged.subtracting(granted) == [])
                #expect(progress.untruthful == [])
                #expect(Set(progress.statuses.keys).subtracting([201, 409, 503]) == [])
                #expect(service.output.hasSuffix("stopped\n"))
            }
        }
    }

    @Test func `answers the post that is being carried out`() async throws {
        try await World.run(options: World.remoteReceipts) { world throws in
            let service = world.services[0]
            world.shop.failVerification(.none, delayMilliseconds: 1000)
            let sale = try world.shop.sell()
            let connection = try HTTPConnection(port: service.port)
            try connection.send(world.posting(sale.receipt, to: "u1").bytes)
            let isAsking = eventually { world.shop.pendingFaults == 0 ? true : nil }
            #expect(isAsking == true)
            service.process.terminate()
            let isClosed = eventually {
                (try? HTTPConnection(port: service.port)) == nil ? true : nil
            }
            #expect(isClosed == true)
            let answer = try connection.answer()
            #expect(answer.status == 201)
            #expect(answer["Connection"]?.lowercased() == "close")
            #expect(service.process.wait(seconds: 10) == .code(0))
            #expect(try world.ledger.grantedTransactions() == [sale.transactionID])
        }
    }

    @Test func `gives up a store that doesn't answer, and exits in time`() async throws {
        try await World.run(options: World.remoteReceipts) { world throws in
            let service = world.services[0]
            world.shop.failVerification(.none, delayMilliseconds: 20_000)
            let connection = try HTTPConnection(port: service.port)
            let receipt = try world.shop.sell().receipt
            try connection.send(world.posting(receipt, to: "u1").bytes)
            let isAsking = eventually { world.shop.pendingFaults == 0 ? true : nil }
            #expect(isAsking == true)
            #expect(service.stop() == .code(0))
            let answer = try connection.answer()
            #expect(answer.status == 503)
            #expect(answer.code == "shutting_down")
            #expect(answer.isRetryable == true)
            #expect(try world.ledger.grantedTransactions() == [])
        }
    }

    @Test func `by a second signal after a while ends it at once`() async throws {
        try await World.run(options: World.remoteReceipts) { world throws in
            let service = world.services[0]
            world.shop.failVerification(.none, delayMilliseconds: 20_000)
            let connection = try HTTPConnection(port: service.port)
            let receipt = try world.shop.sell().receipt
            try connection.send(world.posting(receipt, to: "u1").bytes)
            let isAsking = eventually { world.shop.pendingFaults == 0 ? true : nil }
            #expect(isAsking == true)
            service.process.terminate(SIGINT)
            // What comes within a second is the same wish told twice.
            let exit = eventually { () -> ChildProcess.Exit? in
                service.process.terminate(SIGINT)
                return service.process.wait(seconds: 0.1)
            }
            #expect(exit == .code(130))
        }
    }
}
