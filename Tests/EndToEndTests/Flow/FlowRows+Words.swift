import AppStoreStandIn
import Base
import TestSupport
import Testing

/// Whose a purchase is, and what the store says of it besides.
extension FlowRow {
    static let owners = [
        FlowRow(25, "somebody else is logged in, and the purchase has a token", coins: 100) {
            scene in
            guard scene.stage.delivery.hasToken else {
                // Without one it would be row 26.
                try scene.buy()
                return try scene.pass()
            }
            let sale = try scene.buy()
            let phone = scene.phone(of: scene.other)
            try phone.pass()
            #expect(phone.statuses == [409])
            // It's finished only if the viewer has the coins.
            #expect(phone.isDone == (try scene.coins() == 100))
            #expect(try scene.coins(scene.other) == 0)
            if phone.isDone { scene.app.forget(sale.transactionID) }
            try scene.pass()
        },
        FlowRow(26, "somebody else is logged in, and there's no token", coins: 0) { scene in
            let sale = try scene.buy { $0.appAccountToken = nil }
            let phone = scene.phone(of: scene.other)
            try phone.pass()
            #expect(phone.statuses == [201])
            #expect(phone.isDone)
            scene.app.forget(sale.transactionID)
            #expect(try scene.coins(scene.other) == 100)
        },
        FlowRow(27, "granted to the viewer, posted by somebody else", coins: 100) { scene in
            let sale = try scene.buy()
            try scene.pass(isFinishing: false)
            let answer = try scene.stage.ask(
                scene.stage.world.posting(sale.signedTransaction, to: scene.other))
            #expect(answer.status == 409)
            #expect(answer.code == "granted_to_other_account")
            #expect(answer.finish == [sale.transactionID: true])
            #expect(!answer.text.contains(scene.viewer))
            #expect(try scene.coins(scene.other) == 0)
            try scene.app.settle(answer)
        },
    ]

    static let notifications = [
        FlowRow(28, "ONE_TIME_CHARGE first, the token is the viewer's", coins: 100) { scene in
            let sale = try scene.buy()
            scene.keepStoreSilent()
            try scene.notify(charge(sale, scene))
            if scene.stage.delivery.hasToken { #expect(try scene.coins() == 100) }
            try scene.pass()
            scene.expectAnswer(scene.stage.delivery.hasToken ? 409 : 201)
        },
        FlowRow(29, "ONE_TIME_CHARGE first, no token", coins: 100) { scene in
            let sale = try scene.buy { $0.appAccountToken = nil }
            scene.keepStoreSilent()
            let payload = try charge(sale, scene)
            try scene.notify(payload)
            let uuid = try #require(Stage.uuid(payload))
            #expect(try scene.stage.notification(uuid).json["outcome"] == "unclaimed")
            #expect(try scene.coins() == 0)
            try scene.pass()
            scene.expectAnswer(201)
        },
        FlowRow(30, "post and notification at the same time", coins: 100) { scene in
            let sale = try scene.buy()
            scene.keepStoreSilent()
            let payload = try charge(sale, scene)
            try scene.stage.whileDelivering([payload]) { try scene.app.pass() }
            scene.expectAnswer(201, 409)
        },
        FlowRow(31, "one notification six times", coins: 100) { scene in
            let sale = try scene.grant()
            let payload = try charge(sale, scene)
            let answers = try askAtOnce(
                Array(repeating: scene.stage.port, count: 6), Stage.notifying(payload))
            #expect(answers.map(\.status) == Array(repeating: 200, count: 6))
            try scene.stage.wait(for: payload, toBe: "done")
        },
        FlowRow(32, "ONE_TIME_CHARGE after the post", coins: 100) { scene in
            let sale = try scene.grant()
            try scene.notify(charge(sale, scene))
        },
    ]

    static let refunds = [
        FlowRow(33, "refunded, unspent", coins: 0) { scene in
            let sale = try scene.grant()
            try scene.notify(try scene.shop.store.refund(sale.transactionID))
        },
        FlowRow(34, "refunded, partly spent: spending is blocked until it's paid", coins: 30) {
            scene in
            let sale = try scene.grant()
            #expect(try scene.spend(70).status == 201)
            try scene.notify(try scene.shop.store.refund(sale.transactionID))
            #expect(try scene.stage.balance(of: scene.viewer)["debt"] == 70)
            #expect(try scene.spend(1).code == "in_debt")
            try scene.grant()
        },
        FlowRow(35, "refunded in part", coins: 66) { scene in
            let sale = try scene.grant()
            let word = try scene.shop.store.refund(sale.transactionID, percentage: 33_500)
            try scene.notify(word)
        },
        FlowRow(36, "refunded in part, and then more", coins: 32) { scene in
            let sale = try scene.grant()
            for percentage in [40_000, 40_000, 67_932] as [Int64] {
                try scene.notify(
                    try scene.shop.store.refund(sale.transactionID, percentage: percentage))
            }
        },
        FlowRow(37, "the refund is reversed", coins: 100) { scene in
            let sale = try scene.grant()
            try scene.notify(try scene.shop.store.refund(sale.transactionID))
            #expect(try scene.coins() == 0)
            pauseForALaterDate()
            try scene.notify(try scene.shop.store.reverseRefund(sale.transactionID))
        },
        FlowRow(38, "the refund is reversed before it arrives", coins: 100) { scene in
            let sale = try scene.grant()
            let refund = try scene.shop.store.refund(sale.transactionID)
            pauseForALaterDate()
            let reversal = try scene.shop.store.reverseRefund(sale.transactionID)
            try scene.notify(reversal)
            try scene.notify(refund)
        },
        FlowRow(39, "refunded before any post", coins: 0) { scene in
            let sale = try scene.buy { $0.appAccountToken = nil }
            scene.keepStoreSilent()
            try scene.notify(try scene.shop.store.refund(sale.transactionID))
            #expect(try scene.coins() == 0)
            // Nobody posts it.
            scene.app.forget(sale.transactionID)
        },
        FlowRow(40, "refunded, and then posted", coins: 0) { scene in
            let sale = try scene.buy { $0.appAccountToken = nil }
            scene.keepStoreSilent()
            try scene.notify(try scene.shop.store.refund(sale.transactionID))
            // The phone has what was signed before the refund.
            try scene.app.pass()
            scene.expectAnswer(409)
            #expect(scene.app.isDone, "finished: there's nothing to come")
        },
        FlowRow(41, "CONSUMPTION_REQUEST", coins: 100) { scene in
            let sale = try scene.grant()
            try scene.notify(try scene.shop.store.requestConsumption(sale.transactionID))
        },
        FlowRow(42, "REFUND_DECLINED", coins: 100) { scene in
            let sale = try scene.grant()
            try scene.notify(try scene.shop.store.declineRefund(sale.transactionID))
        },
    ]

    static func charge(_ sale: StandInSale, _ scene: Scene) throws -> String {
        try scene.shop.store.notification("ONE_TIME_CHARGE", of: sale.transactionID)
    }

    /// The last word is the one signed last, to the millisecond.
    private static func pauseForALaterDate() {
        let now = Shop.now()
        while Shop.now() <= now { sleepMilliseconds(1) }
    }
}
