import AppStoreStandIn
import Base
import TestSupport
import Testing

/// What happens on the phone, and on the way from it to the coins.
extension FlowRow {
    static let beforeThePost = [
        FlowRow(1, "the payment sheet is cancelled", coins: 0) { scene in
            let id = try scene.shop.store.begin(scene.purchase(), .interruption)
            try scene.shop.store.decline(id)
            scene.app.add(id, .failed)
            try scene.pass()
            #expect(scene.app.statuses == [], "nothing to post")
        },
        FlowRow(2, "parental control defers the purchase", coins: 0, isFinished: false) { scene in
            scene.app.add(
                try scene.shop.store.begin(scene.purchase(), .askToBuy), .deferred)
            try scene.pass()
            #expect(scene.app.statuses == [], "nothing to post")
        },
        FlowRow(3, "approved days later", coins: 100) { scene in
            let id = try scene.shop.store.begin(scene.purchase(), .askToBuy)
            scene.app.add(id, .deferred)
            try scene.pass()
            try scene.charged(try scene.shop.store.approve(id))
            try scene.pass()
            scene.expectGrant()
        },
        FlowRow(4, "declined", coins: 0) { scene in
            let id = try scene.shop.store.begin(scene.purchase(), .askToBuy)
            scene.app.add(id, .deferred)
            try scene.shop.store.decline(id)
            scene.app.add(id, .failed)
            try scene.pass()
            #expect(scene.app.statuses == [], "nothing to post")
        },
        FlowRow(5, "the app dies before the charge", coins: 0) { scene in
            _ = try scene.shop.store.begin(scene.purchase(), .interruption)
            try scene.pass()
            #expect(scene.app.statuses == [], "nothing to post")
        },
        FlowRow(6, "the app dies after the charge", coins: 100) { scene in
            let id = try scene.shop.store.begin(scene.purchase(), .interruption)
            try scene.charged(try scene.shop.store.approve(id, .interruption))
            try scene.pass()
            scene.expectGrant()
        },
    ]

    static let thePost = [
        FlowRow(7, "a post, all well", coins: 100) { scene in
            try scene.buy()
            try scene.pass()
            scene.expectGrant()
        },
        FlowRow(8, "no network before the request leaves", coins: 100) { scene in
            try scene.buy()
            scene.app.isOnline = false
            try scene.app.pass()
            #expect(scene.app.statuses == [])
            #expect(!scene.app.isDone, "kept")
            scene.app.isOnline = true
            try scene.pass()
            scene.expectGrant()
        },
        FlowRow(9, "the request is lost on the way", coins: 100) { scene in
            let sale = try scene.buy()
            let bytes = scene.stage.world.posting(sale.signedTransaction, to: scene.viewer).bytes
            for count in [20, bytes.count / 2, bytes.count - 1] {
                try HTTPConnection(port: scene.stage.port).send(Array(bytes[..<count]))
            }
            try scene.pass()
            scene.expectGrant()
        },
        FlowRow(10, "the service dies before anything is kept", coins: 100) { scene in
            let sale = try scene.buy()
            let bytes = scene.stage.world.posting(sale.signedTransaction, to: scene.viewer).bytes
            let connection = try HTTPConnection(port: scene.stage.port)
            try connection.send(Array(bytes.dropLast()))
            scene.stage.kill()
            #expect((try? connection.answer()) == nil)
            try scene.stage.start()
            try scene.pass()
            scene.expectGrant()
        },
        FlowRow(11, "the store's verification is down", coins: 100) { scene in
            try scene.buy()
            for effect in [StandInFault.Effect.reset, .html(200), .status(503)] {
                scene.shop.failVerification(effect, times: 4)
                try scene.app.pass(.appReceipt)
                scene.expectAnswer(503)
                scene.shop.repair()
            }
            #expect(!scene.app.isDone, "kept")
            try scene.pass(.appReceipt)
            scene.expectGrant()
        },
        FlowRow(12, "verified after the app has given up", coins: 100) { scene in
            let sale = try scene.buy()
            let receipt = scene.shop.store.receipt(device: "device-\(scene.viewer)")
            scene.shop.failVerification(.none, delayMilliseconds: 200)
            do {
                let connection = try HTTPConnection(port: scene.stage.port)
                try connection.send(scene.stage.world.posting(receipt, to: scene.viewer).bytes)
                let isAsking = eventually { scene.shop.pendingFaults == 0 ? true : nil }
                #expect(isAsking == true)
            }
            let isGranted = try eventually { try scene.coins() == 100 ? true : nil }
            #expect(isGranted == true)
            try scene.pass()
            scene.expectAnswer(409)
            #expect(scene.app.isDone, "\(sale.transactionID) is finished")
        },
        FlowRow(13, "the service dies before the commit", coins: 100) { scene in
            // Without a token the store's word leaves it to the post.
            try dieInCommit(scene, try scene.buy { $0.appAccountToken = nil }, commits: false)
        },
        FlowRow(14, "the service dies between commit and answer", coins: 100) { scene in
            try dieInCommit(scene, try scene.buy { $0.appAccountToken = nil }, commits: true)
        },
        FlowRow(15, "the app dies between answer and finish", coins: 100) { scene in
            try scene.buy()
            try scene.pass(isFinishing: false)
            #expect(!scene.app.isDone)
            try scene.pass()
            scene.expectAnswer(409)
        },
        FlowRow(16, "finishing fails", coins: 100) { scene in
            try scene.buy()
            for _ in 0..<3 { try scene.pass(isFinishing: false) }
            try scene.pass()
            scene.expectAnswer(409)
        },
        FlowRow(17, "the app wakes up while a post is under way", coins: 100) { scene in
            let sale = try scene.buy()
            try scene.app.whileInFlight(sale.transactionID) {
                let before = scene.app.statuses
                try scene.app.pass()
                #expect(scene.app.statuses == before, "skipped")
            }
            try scene.pass()
            scene.expectGrant()
        },
        FlowRow(18, "two posts at once all the same", coins: 100) { scene in
            let sale = try scene.buy()
            let question = scene.stage.world.posting(sale.signedTransaction, to: scene.viewer)
            let answers = try askAtOnce([scene.stage.port, scene.stage.port], question)
            let isTold = scene.stage.delivery.order == .beforePost && scene.stage.delivery.hasToken
            #expect(answers.map(\.status).sorted() == (isTold ? [409, 409] : [201, 409]))
            #expect(answers.allSatisfy { $0.finish == [sale.transactionID: true] })
            for answer in answers { try scene.app.settle(answer) }
        },
        FlowRow(19, "two unfinished purchases in one receipt", coins: 200) { scene in
            let sales = [try scene.buy(), try scene.buy()]
            try scene.pass(.appReceipt)
            scene.expectGrant()
            #expect(scene.app.statuses.count == 1, "one post for both of \(sales.count)")
        },
        FlowRow(20, "one of two in a receipt is granted already", coins: 600) { scene in
            try scene.buy()
            try scene.pass(isFinishing: false)
            try scene.buy("coins500")
            try scene.pass(.appReceipt)
            scene.expectGrant()
        },
        FlowRow(21, "the receipt doesn't hold the transaction yet", coins: 100) { scene in
            let stale = scene.shop.store.receipt(device: "device-\(scene.viewer)")
            try scene.buy()
            let answer = try scene.stage.ask(scene.stage.world.posting(stale, to: scene.viewer))
            #expect(answer.status == 422)
            #expect(answer.code == "transaction_not_in_receipt")
            #expect(answer.isRetryable == true)
            try scene.app.settle(answer)
            #expect(!scene.app.isDone, "kept")
            try scene.pass(.appReceipt)
            scene.expectGrant()
        },
        FlowRow(22, "forged, or of another app", coins: 0, isFinished: false) { scene in
            for fault in [PurchaseFault.wrongSignature, .wrongBundle, .chain(.foreignRoot)] {
                let sale = try scene.shop.store.purchase(scene.purchase { $0.fault = fault })
                scene.app.add(sale)
                try scene.app.pass()
                let status = scene.app.statuses.last ?? 0
                #expect((400..<500).contains(status) && status != 409, "\(fault): \(status)")
            }
        },
        FlowRow(23, "bought in the sandbox", coins: 0) { scene in
            try scene.buy { $0.environment = "Sandbox" }
            try scene.pass()
            scene.expectGrant()
            try scene.settle()
            #expect(try scene.stage.balance(of: scene.viewer)["sandbox"]?["total"] == 100)
        },
        FlowRow(24, "logged out", coins: 100) { scene in
            let sale = try scene.buy()
            var question = scene.stage.world.posting(sale.signedTransaction, to: scene.viewer)
            question.headers.removeAll { $0.name == "Authorization" }
            let answer = try scene.stage.ask(question)
            #expect(answer.status == 401)
            try scene.app.settle(answer)
            try scene.pass()
            scene.expectGrant()
        },
    ]

    /// Posts `sale`, has the service die while it appends, and posts it again.
    private static func dieInCommit(
        _ scene: Scene, _ sale: StandInSale, commits: Bool
    ) throws {
        let stage = scene.stage
        let question = stage.world.posting(sale.signedTransaction, to: scene.viewer)
        try stage.whileLanesAreLocked(posting: question) {
            stage.kill()
            if !commits { try stage.world.ledger.endSessions() }
        }
        if commits {
            let isGranted = try eventually {
                try stage.world.ledger.count(
                    "SELECT count(*) FROM coinledger.purchases WHERE transaction_id = "
                        + "'\(sale.transactionID)'") == 1 ? true : nil
            }
            #expect(isGranted == true)
        }
        try stage.start()
        try scene.pass()
        scene.expectAnswer(commits ? 409 : 201)
    }
}
