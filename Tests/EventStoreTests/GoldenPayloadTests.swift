import CoinLedger
import EventStore
import LedgerTestSupport
import Testing

/// The payloads that every event ever written has. A test here that fails after a change says that
/// the change makes old events unreadable.
@Suite struct `A stored payload` {
    @Test(arguments: GoldenPayload.all)
    func `is the same bytes for ever`(golden: GoldenPayload) {
        let encoded = EventCodec.encode(golden.event)
        #expect(encoded.type == golden.type)
        #expect(encoded.schemaVersion == 1)
        #expect(String(decoding: encoded.payload, as: UTF8.self) == golden.payload)
    }

    @Test(arguments: GoldenPayload.all)
    func `is read for ever`(golden: GoldenPayload) throws {
        let decoded = try EventCodec.decode(stored(golden.type, 1, golden.payload))
        #expect(decoded == golden.event)
    }

    @Test func `is known of every type of event`() {
        let types = Set(GoldenPayload.all.map(\.type))
        #expect(types == Set(EventCodec.EventType.allCases.map(\.rawValue)))
        #expect(types.count == 15)
    }

    @Test func `of a grant is read alone, as a claim points at it`() throws {
        let golden = GoldenPayload.twoLots
        let granted = try EventCodec.coinsGranted(Array(golden.payload.utf8))
        #expect(.coinsGranted(granted) == golden.event)
        #expect(granted.coins == GrantedCoins(paid: 9_007_199_254_740_000, free: 50))
        #expect(throws: EventCodec.Unreadable.self) { try EventCodec.coinsGranted([]) }
    }

    @Test func `of a remembered refund is read alone, as a purchase points at it`() throws {
        let golden = GoldenPayload.remembered
        let refund = try EventCodec.refundRemembered(Array(golden.payload.utf8))
        #expect(.refundRemembered(refund) == golden.event)
        #expect(throws: EventCodec.Unreadable.self) {
            try EventCodec.refundRemembered(Array(GoldenPayload.twoLots.payload.utf8))
        }
    }
}

/// An event with that payload; what the codec doesn't look at is always the same.
func stored(_ type: String, _ schemaVersion: Int64, _ payload: String) -> StoredEvent {
    StoredEvent(
        id: EventID(lane: 0, position: 1), account: "u1", version: 1, command: .numbered(1),
        occurredAt: .noon, recordedAt: .noon, type: type, schemaVersion: schemaVersion,
        payload: Array(payload.utf8))
}
