import AppStoreStandIn
import Base
import TestSupport
import Testing

/// Thousands of notifications in no order, many of them twice, while apps post the same purchases.
@Suite(.timeLimit(.minutes(15))) struct `A storm of notifications` {
    /// Ten thousand in `scripts/soak`.
    private static let count = isSoak ? 10_000 : 800
    private static let accounts = 20
    private static let seed: UInt64 = 20_261_130

    private static let senders = 8
    private static let posters = 4

    @Test func `ends where each purchase's last word says`() async throws {
        try await World.run(services: 2) { world throws in
            var random = SeededRandom(seed: Self.seed)
            var storm = try Storm(world, Self.count, Self.accounts, using: &random)
            storm.payloads.shuffle(using: &random)
            let posts = storm.posted.shuffled(using: &random)
            let (senders, posters) = (Self.senders, Self.posters)
            let payloads = storm.payloads
            let answers = try inParallel(senders + posters) { thread -> [Answer] in
                let connection = try HTTPConnection(port: world.services[thread % 2].port)
                if thread < senders {
                    return try stride(from: thread, to: payloads.count, by: senders).map {
                        try Answer(connection, Stage.notifying(payloads[$0]))
                    }
                }
                return try stride(from: thread - senders, to: posts.count, by: posters).map {
                    let (sale, account) = posts[$0]
                    return try Answer(
                        connection, world.posting(sale.signedTransaction, to: account))
                }
            }
            let told = answers[..<senders].flatMap(\.self)
            #expect(Set(told.map(\.status)) == [200])
            #expect(told.count { $0.outcome == "accepted" } == payloads.count - storm.repeated)
            let posted = answers[senders...].flatMap(\.self)
            #expect(Set(posted.map(\.status)).subtracting([201, 409]) == [])
            let seconds = told.map(\.seconds).sorted()
            Attachment.record(
                "\(told.count) answered, 99 of 100 within \(seconds[seconds.count * 99 / 100]) s",
                named: "storm.txt")
            let isSettled = try eventually(seconds: 120) {
                try world.ledger.count(
                    "SELECT count(*) FROM coinledger.store_notifications "
                        + "WHERE state = 'pending'") == 0 ? true : nil
            }
            #expect(isSettled == true)
            #expect(
                try world.ledger.count(
                    "SELECT count(*) FROM coinledger.store_notifications WHERE state = 'dead'")
                    == 0)
            for account in 0..<Self.accounts {
                let name = "u\(account)"
                #expect(try world.total(name) == storm.coins[name, default: 0], "\(name)")
            }
        }
    }
}

private struct Answer {
    let status: Int
    let outcome: String?
    let seconds: Double

    init(_ connection: HTTPConnection, _ question: HTTPQuestion) throws {
        let begin = monotonicSeconds()
        let answer = try connection.ask(question)
        seconds = monotonicSeconds() - begin
        status = answer.status
        outcome = answer.json["outcome"]?.string
    }
}

/// What happened to a number of purchases, and where that must end.
private struct Storm {
    /// Notifications, some of them more than once.
    var payloads: [String] = []
    /// How many of those come once more.
    let repeated: Int
    /// Purchases that apps post, and for which account.
    private(set) var posted: [(sale: StandInSale, account: String)] = []
    /// By account.
    private(set) var coins: [String: Int64] = [:]

    /// - Parameter count: of the notifications; a fifth of them are repeated, a twentieth are
    ///   refunds, and a fiftieth reversals.
    init(
        _ world: World, _ count: Int, _ accounts: Int, using random: inout SeededRandom
    ) throws {
        let tokens = try (0..<accounts).map { account in
            let token = RandomText.uuid()
            guard try world.linkToken(token, to: "u\(account)").status == 200 else {
                throw NotLinked()
            }
            return token
        }
        let store = world.shop.store
        repeated = count / 5
        let (refunds, reversals) = (count / 20, count / 50)
        for index in 0..<(count - repeated - refunds - reversals) {
            let account = Int.random(in: 0..<accounts, using: &random)
            // The store doesn't always know whose it is; then the app's post says so.
            let hasToken = index % 5 > 0
            let sale = try world.shop.sell {
                $0.device = "device-\(index)"
                $0.appAccountToken = hasToken ? tokens[account] : nil
            }
            payloads.append(try store.notification("ONE_TIME_CHARGE", of: sale.transactionID))
            if !hasToken || index % 3 == 0 { posted.append((sale, "u\(account)")) }
            let isReversed = index < reversals
            if index < refunds {
                let now = Shop.now()
                payloads.append(try store.refund(sale.transactionID))
                if isReversed {
                    while Shop.now() <= now {}
                    payloads.append(try store.reverseRefund(sale.transactionID))
                }
            }
            if index >= refunds || isReversed { coins["u\(account)", default: 0] += 100 }
        }
        payloads += payloads.shuffled(using: &random).prefix(repeated)
    }

    struct NotLinked: Error {}
}
