import CoinLedger
import EventStore
import LedgerTestSupport
import Testing

/// Every event of a store, by lane, read a few at a time.
func allEvents(_ store: any EventStore) async throws -> [Lane: [StoredEvent]] {
    var lanes: [Lane: [StoredEvent]] = [:]
    for number in 0..<store.laneCount {
        let lane = try #require(Lane(number))
        var events: [StoredEvent] = []
        while true {
            let page = try await store.events(
                in: lane, after: events.last?.id.position ?? 0, limit: 50)
            if page.isEmpty { break }
            events += page
        }
        lanes[lane] = events
    }
    return lanes
}

/// Checks what must hold of every ledger: positions and versions without a gap, accounts equal to
/// the fold of their events, and at most one grant a purchase.
///
/// - Returns: how often each purchase was granted.
@discardableResult
func expectSound(
    _ store: any EventStore, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> [PurchaseKey: Int] {
    var folded: [AccountID: Account] = [:]
    var grants: [PurchaseKey: Int] = [:]
    let heads = try await store.heads()
    for (lane, events) in try await allEvents(store) {
        #expect(
            events.map(\.id) == events.indices.map { EventID(lane: lane, position: Int64($0) + 1) },
            sourceLocation: sourceLocation)
        #expect(heads[lane] == Int64(events.count), sourceLocation: sourceLocation)
        for stored in events {
            let event = try EventCodec.decode(stored)
            var account = folded[stored.account] ?? .new
            account.evolve(event)
            folded[stored.account] = account
            #expect(stored.version == account.version, sourceLocation: sourceLocation)
            if case .coinsGranted(let granted) = event, case .purchase(let key) = granted.source {
                grants[key, default: 0] += 1
            }
        }
    }
    let kept = try await store.accounts(Array(folded.keys))
    #expect(kept == folded, sourceLocation: sourceLocation)
    #expect(grants.values.allSatisfy { $0 == 1 }, sourceLocation: sourceLocation)
    return grants
}
