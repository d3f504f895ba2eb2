import AppStoreStandIn
import Base
import EventLoop
import Glibc
import HTTPServer
import Telemetry
import TestSupport

/// A stand-in App Store of one test, on a port and a thread of its own.
final class Shop: Sendable {
    let store: StandInStore
    private let server: StandInServer
    private let loop = EventLoop()

    /// Ten years, before and after now.
    private static let validitySeconds: Int64 = 315_360_000

    /// - Parameter authorityCurve: the store's is P-384; P-256 is ten times as fast to verify.
    init(authorityCurve: SigningKey.Curve = .p384) throws {
        let seconds = Shop.now() / 1000
        let authority = StandInAuthority(
            validity: (seconds - Shop.validitySeconds)..<(seconds + Shop.validitySeconds),
            authorityCurve: authorityCurve)
        store = StandInStore(authority: authority, now: { Shop.now() })
        server = StandInServer(store: store, port: 0, loop: loop, log: .none)
        try server.start()
        Base.Thread.start { [loop] in loop.run() }
    }

    /// Milliseconds since 1970.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    var url: String { "http://127.0.0.1:\(server.port)" }
    var port: UInt16 { server.port }

    /// Sells `product`; `change` says what is unusual about it.
    func sell(
        _ product: String = "coins100", _ change: (inout StandInPurchase) -> Void = { _ in }
    ) throws -> StandInSale {
        var purchase = StandInPurchase(productID: product)
        change(&purchase)
        return try store.purchase(purchase)
    }

    /// Sells `product` with members of the signed payload replaced; null takes one away.
    func sell(_ product: String = "coins100", payload: JSON) throws -> StandInSale {
        try sell(product) { $0.payload = payload.object ?? JSONObject() }
    }

    /// Has verifyReceipt misbehave for its next `times` requests.
    func failVerification(
        _ effect: StandInFault.Effect, times: Int64 = 1, delayMilliseconds: Int64 = 0,
        endpoint: String = "verifyReceipt"
    ) {
        server.api.add(
            StandInFault(
                endpoint: endpoint, times: times, effect: effect,
                delayMilliseconds: delayMilliseconds))
    }

    /// What is answered when a certificate's revocation is asked for.
    func setRevocation(_ answer: RevocationResponder.Answer) { server.api.responder.set(answer) }

    /// The receipt of a new device that has bought `product`.
    func receipt(
        _ form: ReceiptForm, of product: String = "coins100",
        _ change: (inout StandInPurchase) -> Void = { _ in }
    ) throws -> String {
        let device = "device-\(UInt64.random(in: .min ... .max))"
        _ = try sell(product) {
            $0.device = device
            change(&$0)
        }
        return store.receipt(device: device, form: form)
    }

    func repair() { server.api.removeFaults() }

    /// How many kinds of faults are still to come.
    var pendingFaults: Int { server.api.pendingFaults }

    func close() {
        loop.task { [server, loop] in
            await server.drain(milliseconds: 0)
            loop.stop()
        }
    }
}
