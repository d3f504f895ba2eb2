import AppStoreStandIn
import Base
import TestSupport
import Testing

/// What is put right later, by a person or by the store's other channels.
extension FlowRow {
    static let recoveries = [
        FlowRow(43, "the service was down for days", coins: 0) { scene in
            let sale = try scene.grant()
            let since = Shop.now() - 5 * 86_400_000
            try scene.stage.whileDown {
                // Six attempts in four days, and then the store gives up.
                try scene.shop.store.refund(sale.transactionID)
                #expect(eventually { scene.shop.store.notifications.isIdle ? true : nil } == true)
            }
            #expect(try scene.coins() == 100)
            try scene.stage.catchUp(since: since)
            #expect(try eventually { try scene.coins() == 0 ? true : nil } == true)
        },
        FlowRow(44, "the app finished too early", coins: 100) { scene in
            let sale = try scene.buy { $0.appAccountToken = nil }
            scene.keepStoreSilent()
            try scene.shop.store.finish(sale.transactionID)
            scene.app.forget(sale.transactionID)
            for expected in [201, 409] {
                let answer = try scene.redeliver(sale.transactionID)
                #expect(answer.status == expected, "\(answer.text)")
            }
        },
        FlowRow(45, "the phone is lost, nothing was ever posted", coins: 100) { scene in
            let sale = try scene.buy()
            scene.keepStoreSilent()
            scene.app.forget(sale.transactionID)
            try scene.notify(charge(sale, scene))
            guard scene.stage.delivery.hasToken else {
                #expect(try scene.coins() == 0, "unclaimed")
                #expect(try scene.redeliver(sale.transactionID).status == 201)
                return
            }
        },
        FlowRow(46, "a notification for another app", coins: 0) { scene in
            let sale = try scene.shop.store.purchase(scene.purchase { $0.fault = .wrongBundle })
            let payload = try scene.shop.store.notification(
                "ONE_TIME_CHARGE", of: sale.transactionID
            ) { $0.fault = .wrongBundle }
            let answer = try scene.stage.post(notification: payload)
            #expect(answer.status == 200)
            #expect(answer.json["outcome"] == "ignored")
            let uuid = try #require(Stage.uuid(payload))
            #expect(try scene.stage.notification(uuid).status == 404, "not kept")
        },
        FlowRow(47, "the database takes no writes", coins: 100) { scene in
            try scene.buy { $0.appAccountToken = nil }
            scene.keepStoreSilent()
            try scene.stage.whileReadOnly {
                try scene.app.pass()
                scene.expectAnswer(503)
                #expect(!scene.app.isDone, "kept")
            }
            // Each lane finds its own way back.
            _ = try eventually {
                try scene.app.pass()
                return scene.app.statuses.last == 503 ? nil : true
            }
            scene.expectAnswer(201)
        },
        FlowRow(48, "the purchase is dated in the future", coins: 100) { scene in
            try scene.buy {
                $0.payload = JSONObject([
                    .init("purchaseDate", .integer(Shop.now() + 3_600_000))
                ])
            }
            try scene.pass()
            scene.expectGrant()
        },
        FlowRow(49, "the catalogue lacks the product", coins: 1000) { scene in
            let sale = try scene.shop.store.purchase(
                scene.purchase("coins1000") { $0.appAccountToken = nil })
            scene.app.add(sale)
            let payload = try charge(sale, scene)
            #expect(try scene.stage.post(notification: payload).status == 200)
            try scene.stage.wait(for: payload, toBe: "dead")
            try scene.app.pass()
            scene.expectAnswer(422)
            #expect(!scene.app.isDone, "kept")
            try scene.stage.restart(catalogue: World.catalogueWithMore)
            try scene.app.pass()
            scene.expectAnswer(201)
            try scene.stage.retry(payload)
            try scene.stage.wait(for: payload, toBe: "done")
        },
        FlowRow(50, "a spend at the same time as a refund", coins: 0) { scene in
            let sale = try scene.grant()
            let payload = try scene.shop.store.refund(sale.transactionID)
            var spend: HTTPAnswer?
            try scene.stage.whileDelivering([payload]) { spend = try scene.spend(60) }
            let balance = try scene.stage.balance(of: scene.viewer)
            switch spend?.status {
            case 201: #expect(balance["debt"] == 60, "the spend came first")
            case 409: #expect(balance["debt"] == 0, "the refund came first")
            default: Issue.record("answered \(String(describing: spend))")
            }
        },
    ]
}
