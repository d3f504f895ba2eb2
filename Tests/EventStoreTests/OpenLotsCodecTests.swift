import CoinLedger
import EventStore
import LedgerTestSupport
import Testing

@Suite struct `Open lots in bytes` {
    private static let price = StatedPrice(milliunits: 160_000, currency: "JPY")
    private static let paid = OpenLot(
        Lot(number: 1, kind: .paid, coins: 120, price: price), openedAt: 2, remaining: 70,
        valueOut: 66_666)
    private static let free = OpenLot(
        Lot(number: 2, kind: .free, coins: 30, expiresAt: "2026-12-01T00:00:00.001Z"), openedAt: 2)
    private static let large = OpenLot(
        Lot(
            number: .max, kind: .free, coins: 9_007_199_254_740_991,
            expiresAt: "0001-01-01T00:00:00.001Z",
            price: StatedPrice(milliunits: .min, currency: "¤")), openedAt: .max, valueOut: .min)

    private func account(_ production: [OpenLot], _ sandbox: [OpenLot] = []) -> Account {
        Account(
            version: 1, production: Purse(openLots: production, holds: [], refunds: [:]),
            sandbox: Purse(openLots: sandbox, holds: [], refunds: [:]), lotCount: 9)
    }

    @Test func `are read as they were written`() throws {
        let account = account([Self.paid, Self.free], [Self.large])
        let bytes = try #require(OpenLotsCodec.encode(account, above: 0))
        let lots = try OpenLotsCodec.decode(bytes)
        #expect(lots.map(\.environment) == [.production, .production, .sandbox])
        #expect(lots.map(\.lot) == [Self.paid, Self.free, Self.large])
        #expect(lots.map(\.lot.openedAt) == [2, 2, .max])
    }

    @Test func `leave out those below a number, and those that were used up once`() throws {
        let back = OpenLot(Lot(number: 3, kind: .paid, coins: 5))
        let account = account([Self.paid, Self.free, back])
        let bytes = try #require(OpenLotsCodec.encode(account, above: 1))
        #expect(try OpenLotsCodec.decode(bytes).map(\.lot) == [Self.free])
        #expect(OpenLotsCodec.encode(account, above: 2) == nil)
        #expect(OpenLotsCodec.encode(.new, above: -8) == nil)
    }

    /// The form is in the database.
    @Test func `are these bytes`() throws {
        let bytes = try #require(OpenLotsCodec.encode(account([Self.paid]), above: 0))
        #expect(
            bytes == [24, 2, 4, 0xF0, 1, 0x8C, 1, 0xD4, 0x91, 8, 0x80, 0xC4, 19, 6]
                + Array("JPY".utf8))
    }

    @Test func `that were changed are read otherwise or refused, and crash nothing`() throws {
        let bytes = try #require(
            OpenLotsCodec.encode(account([Self.paid, Self.free], [Self.large]), above: 0))
        let ends = try [[Self.paid], [Self.paid, Self.free]].map { lots in
            try #require(OpenLotsCodec.encode(account(lots), above: 0)).count
        }
        for length in bytes.indices.dropFirst() {
            // Where a lot ends, the rest are as good as never there.
            let count = (try? OpenLotsCodec.decode(Array(bytes[..<length])))?.count
            #expect(count == nil || ends.contains(length))
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                let lots = try? OpenLotsCodec.decode(changed)
                #expect(
                    lots?.map(\.lot) != [Self.paid, Self.free, Self.large] || lots == nil
                        || lots?.map(\.lot.openedAt) != [2, 2, .max]
                        || lots?.map(\.environment) != [.production, .production, .sandbox])
            }
        }
    }
}
