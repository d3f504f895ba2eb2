import AppStoreStandIn
import Base
import TestSupport
import Testing

/// One row of the flow's table at play: a viewer with a phone, another viewer, the store, and the
/// service.
///
/// The store tells of every charge by a notification, in the order that the stage's delivery says.
final class Scene {
    let stage: Stage
    let row: Int
    /// The viewer's phone, logged in as the account of `viewer`.
    let app: ViewerApp
    let viewer: String
    let other: String
    private let token = RandomText.uuid()
    /// Charges that the store hasn't told of.
    private var untold: [StandInSale] = []
    private var device: String { "device-\(viewer)" }

    init(_ stage: Stage, row: Int) throws {
        self.stage = stage
        self.row = row
        viewer = "row\(row)-u1"
        other = "row\(row)-u2"
        app = stage.app(of: viewer, device: "device-\(viewer)")
        if stage.delivery.hasToken {
            #expect(try stage.ask(stage.world.linking(token, to: viewer)).status == 200)
        }
    }

    var shop: Shop { stage.world.shop }

    /// The phone, with somebody else logged in.
    func phone(of account: String) -> ViewerApp {
        let phone = stage.app(of: account, device: device)
        for entry in app.queue {
            phone.add(
                entry.transactionID, entry.state, signedTransaction: entry.signedTransaction)
        }
        return phone
    }

    // MARK: The store

    /// What the viewer wants to buy.
    func purchase(
        _ product: String = "coins100", _ change: (inout StandInPurchase) -> Void = { _ in }
    ) -> StandInPurchase {
        var purchase = StandInPurchase(productID: product)
        purchase.device = device
        purchase.appAccountToken = stage.delivery.hasToken ? token : nil
        change(&purchase)
        return purchase
    }

    /// The viewer buys something, and the phone gets to know.
    @discardableResult
    func buy(
        _ product: String = "coins100", _ change: (inout StandInPurchase) -> Void = { _ in }
    ) throws -> StandInSale {
        try charged(try shop.store.purchase(purchase(product, change)))
    }

    /// The store has charged for `sale`: the phone gets to know it, the service perhaps.
    @discardableResult
    func charged(_ sale: StandInSale) throws -> StandInSale {
        app.add(sale)
        switch stage.delivery.order {
        case .never: break
        case .beforePost: try tell(sale)
        case .afterPost, .atOnce: untold.append(sale)
        }
        return sale
    }

    /// Forgets that the store hasn't told of anything.
    func keepStoreSilent() { untold = [] }

    private func tell(_ sale: StandInSale) throws {
        try stage.deliver([try shop.store.notification("ONE_TIME_CHARGE", of: sale.transactionID)])
    }

    /// Tells the service of something else, and waits until that is done.
    func notify(_ signedPayload: String) throws { try stage.deliver([signedPayload]) }

    // MARK: The phone

    /// One pass of the app. If the store tells of charges at the same time, it does so meanwhile.
    func pass(
        _ proof: ViewerApp.Proof = .signedTransaction, isFinishing: Bool = true
    ) throws {
        guard stage.delivery.order == .atOnce, !untold.isEmpty else {
            return try app.pass(proof, isFinishing: isFinishing)
        }
        let payloads = try untold.map {
            try shop.store.notification("ONE_TIME_CHARGE", of: $0.transactionID)
        }
        untold = []
        try stage.whileDelivering(payloads) { try app.pass(proof, isFinishing: isFinishing) }
    }

    /// What the store still has to tell is told, and the app is opened until nothing changes.
    func settle() throws {
        if stage.delivery.order != .never {
            let sales = untold
            untold = []
            for sale in sales { try tell(sale) }
        }
        try app.pass()
    }

    /// Gets the viewer's coins: a purchase that is granted and finished.
    @discardableResult
    func grant(_ product: String = "coins100") throws -> StandInSale {
        let sale = try buy(product)
        try pass()
        try settle()
        #expect(app.isDone, "row \(row): granted, and finished")
        return sale
    }

    // MARK: The support desk

    func redeliver(_ transactionID: String) throws -> HTTPAnswer {
        let body: JSON = [
            "reason": "charged, but no coins", "ticketId": "T-1", "accountId": .string(viewer),
        ]
        return try stage.ask(
            HTTPQuestion(
                "POST", "/v1/transactions/\(transactionID)/redelivery",
                headers: [("Authorization", "Bearer \(stage.world.ledger.keys.support)")],
                body: body.bytes))
    }

    // MARK: What is so

    func coins(_ account: String? = nil) throws -> Int64? {
        let balance = try stage.balance(of: account ?? viewer)
        return balance["total"]?.integer
    }

    func spend(_ coins: Int64) throws -> HTTPAnswer {
        try stage.ask(
            stage.world.commanding(
                "spends", ["coins": .integer(coins), "purpose": "stamp"], of: viewer,
                key: RandomText.uuid()))
    }

    /// Whether the phone's last post was answered so.
    func expectAnswer(_ statuses: Int...) {
        #expect(
            statuses.contains(app.statuses.last ?? 0),
            "row \(row): answered \(app.statuses), not \(statuses)")
    }

    /// 201 for whoever comes first, 409 for whoever comes after the store's word.
    func expectGrant() {
        let isTold = stage.delivery.hasToken
        switch stage.delivery.order {
        case .never, .afterPost: expectAnswer(201)
        case .beforePost: expectAnswer(isTold ? 409 : 201)
        case .atOnce: isTold ? expectAnswer(201, 409) : expectAnswer(201)
        }
    }
}

/// Texts that nobody has used.
enum RandomText {
    static func uuid() -> String {
        let digits = (0..<4).map { _ in
            let hex = String(UInt32.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 8 - hex.count) + hex
        }.joined()
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(index == 12 ? "4" : index == 16 ? "a" : digit)
        }
        return text
    }
}
