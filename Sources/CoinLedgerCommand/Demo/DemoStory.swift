import AppStoreConnection
import Base
import CoinLedger
import EventLoop

/// The flow of the talk, scene by scene, with real requests.
struct DemoStory {
    private let viewer: DemoViewer
    private let fan: DemoViewer
    private let store: DemoStore

    private static let product = "com.nonchalant.consumable1"
    /// The transactions in the receipts that the talk shows.
    private static let talkTransactions = ["1000000551439498", "1000000556349963"]

    init(_ page: DevPage, _ http: HTTPClient, _ loop: EventLoop) {
        let requests = DemoRequests(http)
        // A viewer of this run's own, so that the story begins at zero each time.
        let account = "demo-\(SystemClock.now().milliseconds)"
        viewer = DemoViewer(account: account, page: page, requests: requests, loop: loop)
        fan = DemoViewer(account: "\(account)-fan", page: page, requests: requests, loop: loop)
        store = DemoStore(page: page, requests: requests)
    }

    func play() async throws {
        Output.print("The viewer is \(viewer.account).\n")
        try await purchase()
        try await lostAnswer()
        try await lostPost()
        try await receiptsOfTheTalk()
        Output.print("\nFinished means granted, and charged means granted once.\n")
        try await lifeOfCoins()
    }

    /// What becomes of coins once they are there.
    private func lifeOfCoins() async throws {
        Output.print("\nAnother viewer is \(fan.account).\n")
        scene("The fan buys 100 coins with 10 on top, and a campaign gives 50 more")
        let sale = try await store.buy(DemoStory.product)
        try await fan.post(sale.signedTransaction, expecting: 201)
        try await store.finish(sale)
        try await fan.command(
            "grants", ["coins": 50, "reason": "welcome", "campaignId": "demo"], expecting: 201)
        try await fan.readBalance(expecting: 160)

        scene("Two hearts for a performer, 30 coins each: free coins go first")
        let hearts: JSON = [
            "stampId": "heart", "quantity": 2, "programmeId": "morning-show",
            "performerId": "singer", "expectedCoins": 60,
        ]
        try await fan.command("spends", hearts, expecting: 201)
        try await fan.readBalance(expecting: 100)

        scene("Twenty coins that nobody spends in time")
        let soon = SystemClock.now().milliseconds + DemoStory.expiryMilliseconds
        guard let expiry = Timestamp(milliseconds: soon) else { throw DemoError("no such time") }
        try await fan.command(
            "grants",
            ["coins": 20, "reason": "happy hour", "expiresAt": .string(expiry.description)],
            expecting: 201)
        try await fan.readBalance(expecting: 120)
        try await fan.awaitBalance(100)
        Output.print("  A moment later they are gone, though no job has run.\n")

        scene("A bouquet takes the last coins, and then the store refunds the purchase")
        let bouquet: JSON = [
            "stampId": "bouquet", "quantity": 1, "programmeId": "morning-show",
        ]
        try await fan.command("spends", bouquet, expecting: 201)
        try await fan.readBalance(expecting: 0)
        try await fan.refund(sale.transaction, "full")
        try await fan.readDebt(expecting: 100)
        try await fan.command("spends", bouquet, expecting: 409)

        scene("The store takes its refund back")
        try await fan.refund(sale.transaction, "reversed")
        try await fan.readDebt(expecting: 0)
        Output.print("\nEvery coin can be followed from its purchase to the stamp that used it:\n")
        Output.print("  GET /v1/transactions/\(sale.transaction)/consumption\n")
    }

    private static let expiryMilliseconds: Int64 = 1500

    private func purchase() async throws {
        scene("The viewer buys 100 coins, and 10 come on top")
        let sale = try await store.buy(DemoStory.product)
        try await viewer.post(sale.signedTransaction, expecting: 201)
        try await store.finish(sale)
        try await viewer.readBalance(expecting: 110)

        scene("The app posts the same purchase again")
        try await viewer.post(sale.signedTransaction, expecting: 409)
        try await viewer.readBalance(expecting: 110)
    }

    private func lostAnswer() async throws {
        scene("The answer is lost on the way")
        let sale = try await store.buy(DemoStory.product)
        try await viewer.postAndHangUp(sale.signedTransaction)
        Output.print("  The app heard nothing, keeps the transaction, and tries again later.\n")
        try await viewer.awaitBalance(220)
        try await viewer.post(sale.signedTransaction, expecting: 409)
        try await store.finish(sale)
        try await viewer.readBalance(expecting: 220)
    }

    private func lostPost() async throws {
        scene("The post never leaves the phone")
        let sale = try await store.buy(DemoStory.product)
        Output.print("  There is no network. The transaction stays unfinished in the queue.\n")
        try await viewer.readBalance(expecting: 220)
        Output.print("  At the next launch the app posts what is unfinished.\n")
        try await viewer.post(sale.signedTransaction, expecting: 201)
        try await store.finish(sale)
        try await viewer.readBalance(expecting: 330)
    }

    /// An old app sends its app receipt, in which the second purchase takes the first one's place.
    private func receiptsOfTheTalk() async throws {
        scene("An old app posts its app receipt, twice")
        let device = viewer.account
        var total: Int64 = 330
        for transaction in DemoStory.talkTransactions {
            let sale = try await store.buy(
                DemoStory.product, transaction: transaction, device: device)
            // The ids are those of the talk, so that only the first run on a ledger grants them.
            let answer = try await viewer.post(sale.receipt, expecting: 201, or: 409)
            try answer.expectOnly(transaction)
            if answer.status == 201 { total += 110 }
            try await store.finish(sale)
            try await viewer.readBalance(expecting: total)
        }
        Output.print("  The second receipt no longer holds the first purchase: had it not been\n")
        Output.print("  posted in time, nobody could have proved it.\n")
    }

    private func scene(_ title: String) { Output.print("\n\(title)\n") }
}

/// What was answered otherwise than the story says.
struct DemoError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
