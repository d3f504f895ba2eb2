package import CoinLedger
package import EventStore

/// Answers what became of a purchase and of its coins.
package struct PurchaseReader: Sendable {
    private let store: any EventStore

    private static let pageSize = 500
    /// Events that use coins up, or give used ones back.
    private static let typesOfUses = [
        EventCodec.EventType.coinsSpent, .spendReversed, .coinsExpired, .coinsAdjusted, .debtPaid,
    ].map(\.rawValue)

    package init(store: any EventStore) { self.store = store }

    /// A purchase that was granted.
    package struct Granted: Sendable {
        package let claim: PurchaseClaim
        package let purchase: PurchaseRecorded
        package let grant: CoinsGranted
        package let grantedAt: Timestamp
        /// Which event of its account the grant is.
        let grantVersion: Int64
        /// What the store has said of refunds; nil if nothing.
        package let refund: Refund?
        /// As they are now, in the order of the grant.
        package let lots: [StoredLot]
    }

    package enum Found: Sendable {
        case granted(Granted)
        /// Nobody has it; the store's word on its refund is remembered.
        case remembered(RememberedRefund)
    }

    /// Some coins of a purchase that were used, or came back.
    package struct Use: Hashable, Sendable {
        package let event: EventID
        package let type: String
        package let recordedAt: Timestamp
        /// Paid coins of the purchase; negative where they came back.
        package let coins: Int64
    }

    package func find(_ key: PurchaseKey) async throws(EventStoreError) -> Found? {
        let claims = try await store.claims(on: [key])
        if let remembered = claims.remembered[key] { return .remembered(remembered) }
        guard let claim = claims.granted[key] else { return nil }
        guard let stored = try await store.event(claim.grant) else {
            throw .corrupt("event \(claim.grant) is missing")
        }
        guard case .coinsGranted(let grant) = try stored.decoded(), stored.version > 1,
            case .purchase(let granted) = grant.source
        else { throw .corrupt("event \(claim.grant) grants no purchase") }
        let before = try await store.events(
            of: claim.account, after: stored.version - 2, limit: 1, where: .all)
        guard let first = before.first, case .purchaseRecorded(let purchase) = try first.decoded()
        else { throw .corrupt("no purchase is recorded before event \(claim.grant)") }
        let account = try await store.account(claim.account) ?? .new
        // The lots of one grant are numbered on.
        let lots = try await store.lots(
            of: claim.account, after: (grant.lots.first?.number ?? 1) - 1, limit: grant.lots.count,
            openOnly: false)
        return .granted(
            Granted(
                claim: claim, purchase: purchase, grant: grant, grantedAt: stored.recordedAt,
                grantVersion: stored.version,
                refund: account[granted.environment].refunds[granted], lots: lots))
    }

    /// Up to `limit` uses of the paid coins of a purchase, the oldest first.
    package func uses(
        of granted: Granted, limit: Int
    ) async throws(EventStoreError) -> [Use] {
        guard let lot = granted.grant.lots.first(where: { $0.kind == .paid }) else { return [] }
        var filter = EventFilter()
        filter.types = PurchaseReader.typesOfUses
        var uses: [Use] = []
        var version = granted.grantVersion
        while uses.count < limit {
            let page = try await store.events(
                of: granted.claim.account, after: version, limit: PurchaseReader.pageSize,
                where: filter)
            for stored in page {
                let coins = try stored.decoded().used(of: lot.number)
                guard coins != 0 else { continue }
                uses.append(
                    Use(
                        event: stored.id, type: stored.type, recordedAt: stored.recordedAt,
                        coins: coins))
            }
            guard let last = page.last, page.count == PurchaseReader.pageSize else { break }
            version = last.version
        }
        return Array(uses.prefix(limit))
    }
}

extension Event {
    /// How many coins of a lot it used up; negative where it gave them back. What refunds take isn't
    /// used.
    fileprivate func used(of lot: Int64) -> Int64 {
        func sum(_ slices: [Slice]) -> Int64 {
            slices.filter { $0.lot == lot }.map(\.coins).sum().amount
        }
        func sum(_ slices: [ReturnedSlice]) -> Int64 { sum(slices.map(\.slice)) }
        return switch self {
        case .coinsSpent(let event): sum(event.slices)
        case .spendReversed(let event): -sum(event.returned)
        case .coinsExpired(let event): sum(event.slices)
        case .coinsAdjusted(let event):
            if case .removed(let slices) = event.change { sum(slices) } else { 0 }
        case .debtPaid(let event): sum(event.taken)
        case .purchaseRefunded, .refundReversed, .purchaseRecorded, .coinsGranted,
            .appAccountTokenLinked, .coinsHeld, .holdReleased, .refundRemembered, .consentRecorded,
            .orderRecorded:
            0
        }
    }
}
