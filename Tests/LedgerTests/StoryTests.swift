import CoinLedger
import CoinLedgerService
import EventLoop
import EventStore
import LedgerTestSupport
import PrivatePostgres
import TestSupport
import Testing

/// The stories in `db/examples`: what an operator asks, and what PostgreSQL answers.
@Suite struct `A story told in SQL` {
    private static let consumption = Consumption(order: .freeFirst, policyVersion: "2026-11")

    @Test func `is that of a spend from two lots`() async throws {
        try await withStory(
            "spend-from-two-lots", of: "viewer-1",
            [
                .grantPurchase(purchase("T1")),
                .give(
                    Gift(
                        environment: .production, coins: 30, expiresAt: "2027-05-30T14:59:59Z",
                        reason: "a present", campaignID: "winter")),
                .spend(spend(50)),
            ])
    }

    @Test func `is that of a refund with debt`() async throws {
        let lot = Lot(number: 1, kind: .paid, coins: 120, price: TestBatch.price)
        try await withStory(
            "refund-with-debt", of: "viewer-2",
            [
                .grantPurchase(purchase("T2")), .spend(spend(70)),
                .refund(
                    RefundNotice(
                        purchase: .appStore("T2"), lots: [lot], percentage: Refund.percentageMax,
                        signedAt: "2026-12-01T08:00:00Z", shortfallPolicy: .debt)),
                .give(
                    Gift(
                        environment: .production, coins: 30, expiresAt: nil, reason: "sorry",
                        campaignID: nil)),
            ])
    }

    private func purchase(_ id: TransactionID) -> PurchaseGrant {
        let purchase = Purchase(
            key: .appStore(id), originalTransactionID: id, productID: "coins120", quantity: 1,
            price: TestBatch.price, storefront: "JPN", purchasedAt: "2026-11-30T11:58:00Z",
            signedAt: "2026-11-30T11:58:01Z", appAccountToken: nil)
        return PurchaseGrant(
            purchase: purchase, coins: GrantedCoins(paid: 120, free: 0),
            catalogueVersion: "2026-11")
    }

    private func spend(_ coins: Coins) -> Spend {
        Spend(
            environment: .production, coins: coins,
            purpose: Purpose(
                subject: .stamp(
                    id: "heart", quantity: 1, unitCoins: coins, catalogueVersion: "stamps-3"),
                programmeID: "morning-show", performerID: "yuki"),
            consumption: Self.consumption)
    }

    /// Carries out the actions of the story's viewer, then compares what psql answers with what is
    /// written beside the story.
    private func withStory(
        _ name: String, of account: AccountID, _ actions: [Command.Action]
    ) async throws {
        try await withPostgres { (database, loop) async throws in
            try await withPostgresStore(of: database, on: loop) { store in
                let ledger = Ledger(store, loop)
                for (index, action) in actions.enumerated() {
                    let command = Command(
                        id: .numbered(UInt64(index)), account: account, time: .noon,
                        action: action)
                    #expect(try await ledger.submit(command).isDone)
                }
                try await expectSound(store)
            }
            let story = "\(examples)/\(name)"
            let answer = try psql(story + ".sql", in: database)
            #expect(answer == (try output("cat", [story + ".out"])))
        }
    }

    private var examples: String {
        let file = "\(#filePath)"
        let end = file.firstRange(of: "/Tests/")?.lowerBound ?? file.endIndex
        return file[..<end] + "/db/examples"
    }

    /// What `psql -a` writes: the story with an answer after each question.
    private func psql(_ path: String, in database: TestDatabase) throws -> String {
        try output(
            "PGTZ=UTC",
            [
                "psql", "-X", "-a", "-q", "-v", "ON_ERROR_STOP=1", "-P", "pager=off", "-d",
                database.connectionString(in: "coinledger_reader"), "-f", path,
            ])
    }

    private func output(_ program: String, _ arguments: [String]) throws -> String {
        let child = try ChildProcess.start(
            "/usr/bin/env", [program] + arguments, output: .pipe, mergesErrors: true)
        var text = ""
        while let line = try child.readLine(seconds: 30) { text += line + "\n" }
        #expect(child.wait(seconds: 30) == .code(0))
        return text
    }
}
