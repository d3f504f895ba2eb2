import AppStore
import AppStoreConnection
import AppStoreStandIn
import Base
import Testing

extension RunningStandIn {
    /// A client of this store's Server API.
    func serverClient(
        _ http: HTTPClient, _ change: (inout AppStoreServerConfiguration) -> Void = { _ in }
    ) throws -> AppStoreServerClient {
        let key = store.apiKey
        var configuration = AppStoreServerConfiguration(
            key: try AppStoreServerKey(pem: Array(key.key.pem.utf8)), keyID: key.keyID,
            issuerID: key.issuerID, bundleID: key.bundleID)
        configuration.productionURL = url
        configuration.sandboxURL = url + "/sandbox"
        // A busy machine must not be taken for a slow store.
        configuration.deadlineMilliseconds = 600_000
        configuration.attemptMilliseconds = 600_000
        configuration.firstPauseMilliseconds = 1
        change(&configuration)
        return AppStoreServerClient(
            http: http, pool: pool, configuration: configuration, wallClock: { noon })
    }
}

@Suite struct `The Server API of a stand-in over HTTP` {
    private let http = HTTPClient()

    private func buy(
        _ standIn: RunningStandIn, _ change: (inout StandInPurchase) -> Void = { _ in }
    ) throws -> StandInSale {
        var purchase = StandInPurchase(productID: "coins100")
        change(&purchase)
        return try standIn.store.purchase(purchase)
    }

    private func transactions(
        _ signed: [String], _ standIn: RunningStandIn
    ) throws -> [StoreTransaction] {
        let roots = try RootCertificates(
            files: [Array(standIn.store.authority.root.pem.utf8)], allowPrivate: true)
        let verifier = SignedTransactionVerifier(roots: roots)
        return try signed.map { try verifier.verify($0, now: noon) }
    }

    @Test func `gives out transactions of both environments, finished or not`() async throws {
        try await withStandIn { standIn in
            let client = try standIn.serverClient(http)
            let real = try buy(standIn)
            let test = try buy(standIn) { $0.environment = "Sandbox" }
            try standIn.store.finish(real.transactionID)
            let first = try await client.transaction(real.transactionID)
            #expect(first.environment == .production)
            let second = try await client.transaction(test.transactionID)
            #expect(second.environment == .sandbox)
            let read = try transactions([first.signed, second.signed], standIn)
            #expect(read.map(\.transactionID) == [real.transactionID, test.transactionID])
            await #expect(throws: AppStoreServerError.notFound(code: 4_040_010)) {
                _ = try await client.transaction("1")
            }
        }
    }

    @Test func `gives out histories and refunds page by page`() async throws {
        try await withStandIn { standIn in
            let client = try standIn.serverClient(http)
            var ids: [String] = []
            for _ in 0..<45 { ids.append(try buy(standIn).transactionID) }
            for id in ids.prefix(21) { try standIn.store.refund(id) }
            var seen: [String] = []
            var sizes: [Int] = []
            var revision: String?
            repeat {
                let page = try await client.history(
                    of: ids[7], in: .production, revision: revision)
                seen += try transactions(page.signedTransactions, standIn).map(\.transactionID)
                sizes.append(page.signedTransactions.count)
                revision = page.hasMore ? page.revision : nil
            } while revision != nil
            #expect(sizes == [20, 20, 5])
            #expect(seen.sorted() == ids.sorted())
            let refunds = try await client.refunds(of: ids[30], in: .production)
            #expect(refunds.hasMore)
            let rest = try await client.refunds(
                of: ids[30], in: .production, revision: refunds.revision)
            #expect(rest.signedTransactions.count == 1)
            #expect(!rest.hasMore)
            let refunded = try transactions(
                refunds.signedTransactions + rest.signedTransactions, standIn)
            #expect(refunded.map(\.transactionID).sorted() == ids.prefix(21).sorted())
        }
    }

    @Test func `knows orders`() async throws {
        try await withStandIn { standIn in
            let client = try standIn.serverClient(http)
            let sale = try buy(standIn) { $0.orderID = "MK4TT5XXXX" }
            let order = try await client.order("MK4TT5XXXX")
            #expect(order.isValid)
            let read = try transactions(order.signedTransactions, standIn)
            #expect(read.map(\.transactionID) == [sale.transactionID])
            #expect(try await client.order("MK4TT5XXXY").isValid == false)
        }
    }

    @Test func `takes what it is told about a purchase`() async throws {
        try await withStandIn { standIn in
            let client = try standIn.serverClient(http)
            let sale = try buy(standIn)
            let information = try #require(
                ConsumptionInformation(
                    deliveryStatus: .delivered, consumptionPercentage: 12_345,
                    refundPreference: .decline))
            try await client.sendConsumption(
                information, of: sale.transactionID, in: .production)
            let answers = try standIn.store.consumption(of: sale.transactionID)
            #expect(answers.latest == information.json)
            let token = "0a4b0a52-6c1b-4b6e-8f0e-6b8f5c1d2e3f"
            try await client.setAppAccountToken(token, of: sale.transactionID, in: .production)
            let signed = try await client.transaction(sale.transactionID, in: .production)
            #expect(try transactions([signed], standIn)[0].appAccountToken == token)
            try await client.finish(sale.transactionID, in: .production)
            let receipt = standIn.store.verifyReceipt(
                standIn.store.receipt(), environment: "Production")
            #expect(receipt["receipt"]?["in_app"] == [])
            let error = await failure(client, sale.transactionID, token: "nobody")
            #expect(error == 4_000_183)
        }
    }

    private func failure(
        _ client: AppStoreServerClient, _ id: String, token: String
    ) async -> Int64? {
        do throws(AppStoreServerError) {
            try await client.setAppAccountToken(token, of: id, in: .production)
            return nil
        } catch {
            guard case .refused(400, let code, _) = error else { return nil }
            return code
        }
    }

    @Test func `accepts its own key only`() async throws {
        try await withStandIn { standIn in
            let id = try buy(standIn).transactionID
            for wrong in 0..<4 {
                let client = try standIn.serverClient(http) { configuration in
                    switch wrong {
                    case 0: configuration.keyID = "AAAAAAAAAA"
                    case 1: configuration.issuerID = "57246542-96fe-1a63-e053-0824d011072a"
                    case 2: configuration.bundleID = "com.example.other"
                    default:
                        configuration.key =
                            (try? AppStoreServerKey(pem: Array(TestKeys.p256.utf8)))
                            ?? configuration.key
                    }
                }
                await #expect(throws: AppStoreServerError.unauthorized) {
                    _ = try await client.transaction(id, in: .production)
                }
            }
        }
    }

    @Test func `is asked until it answers`() async throws {
        try await withStandIn { standIn in
            let client = try standIn.serverClient(http)
            let id = try buy(standIn).transactionID
            let endpoint = "inApps/v1/transactions"
            for effect: StandInFault.Effect in [
                .apiError(status: 500, code: 5_000_001, retryAfterMilliseconds: nil), .reset,
                .html(200),
            ] {
                #expect(standIn.api.add(StandInFault(endpoint: endpoint, effect: effect)))
            }
            _ = try await client.transaction(id, in: .production)
            #expect(standIn.api.pendingFaults == 0)
        }
    }

    @Test func `is left alone for as long as it wants`() async throws {
        try await withStandIn { standIn in
            let client = try standIn.serverClient(http) { $0.deadlineMilliseconds = 120_000 }
            let id = try buy(standIn).transactionID
            let endpoint = "inApps/v1/transactions"
            func limit(_ milliseconds: Int64) {
                let effect = StandInFault.Effect.apiError(
                    status: 429, code: 4_290_000, retryAfterMilliseconds: milliseconds)
                #expect(standIn.api.add(StandInFault(endpoint: endpoint, effect: effect)))
            }
            limit(300)
            let start = ContinuousClock.now
            _ = try await client.transaction(id, in: .production)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            limit(3_000_000)
            await #expect(throws: AppStoreServerError.rateLimited(until: noon + 3_000_000)) {
                _ = try await client.transaction(id, in: .production)
            }
            // Nobody asks meanwhile; the time of day stands still here, but not the other clock.
            let endpointIsFree = noon + 3_000_000
            do throws(AppStoreServerError) {
                _ = try await client.transaction(id, in: .production)
                Issue.record("the store was asked")
            } catch {
                guard case .rateLimited(let until?) = error else { throw error }
                #expect((endpointIsFree - 600_000...endpointIsFree).contains(until))
            }
        }
    }

    @Test func `is asked at four fifths of the rate that it publishes`() async throws {
        try await withStandIn { standIn in
            // A machine that stands still for a second may send what it has held back at once.
            let client = try standIn.serverClient(http)
            let id = try buy(standIn).transactionID
            let start = ContinuousClock.now
            try await withThrowingTaskGroup { group in
                for _ in 0..<16 {
                    group.addTask { _ = try await client.refunds(of: id, in: .production) }
                    group.addTask { _ = try await client.transaction(id, in: .production) }
                }
                try await group.waitForAll()
            }
            // Ten a second are allowed.
            #expect(ContinuousClock.now - start >= .milliseconds(15 * 125 - 10))
        }
    }

    @Test func `sends a test notification and says what became of it`() async throws {
        try await withStandIn { standIn in
            let client = try standIn.serverClient(http) { $0.ratePercent = 100 }
            await #expect(throws: AppStoreServerError.notFound(code: 4_040_007)) {
                _ = try await client.requestTestNotification(in: .production)
            }
            let server = RawServer(
                Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8), closes: true)
            defer { server.stop() }
            standIn.store.notifications.setTarget(server.url)
            let token = try await client.requestTestNotification(in: .production)
            while !standIn.store.notifications.isIdle { await Task.yield() }
            let test = try await client.testNotification(token, in: .production)
            #expect(
                test.sendAttempts == [DeliveryAttempt(attemptedAt: noon, result: "SUCCESS")])
            #expect(test.signedPayload != nil)
            await #expect(throws: AppStoreServerError.notFound(code: 4_040_008)) {
                _ = try await client.testNotification(token, in: .sandbox)
            }
        }
    }

    @Test func `remembers what it has sent, and what went wrong`() async throws {
        try await withStandIn { standIn in
            let client = try standIn.serverClient(http)
            let nobody = RawServer([], closes: true)
            nobody.stop()
            standIn.store.notifications.setTarget(nobody.url)
            standIn.store.notifications.setClockRate(100_000_000)
            for _ in 0..<25 { _ = try buy(standIn) }
            while !standIn.store.notifications.isIdle { await Task.yield() }
            let query = NotificationHistoryQuery(
                startDate: noon - 1000, endDate: noon, onlyFailures: true)
            let first = try await client.notificationHistory(query, in: .production)
            let last = try await client.notificationHistory(
                query, page: first.next, in: .production)
            #expect(first.notifications.count == 20)
            #expect(last.notifications.count == 5)
            #expect(last.next == nil)
            let all = first.notifications + last.notifications
            #expect(Set(all.map(\.signedPayload)).count == 25)
            #expect(all.allSatisfy { $0.sendAttempts.count == 6 })
            let sandbox = try await client.notificationHistory(query, in: .sandbox)
            #expect(sandbox.notifications.isEmpty)
            let early = NotificationHistoryQuery(
                startDate: noon - 181 * 86_400_000, endDate: noon)
            await #expect(
                throws: AppStoreServerError.refused(
                    status: 400, code: 4_000_012,
                    message: "The start date is too far in the past.")
            ) {
                _ = try await client.notificationHistory(early, in: .production)
            }
        }
    }
}
