import AppStore
import AppStoreStandIn
import Base
import Glibc
import Testing

@Suite struct `A damaged app receipt` {
    private let shop: ReceiptShop
    private let receipt: [UInt8]

    init() throws {
        shop = try ReceiptShop()
        receipt = try shop.receipt(["T1", "T2"])
    }

    /// Nil if it's refused.
    private func transactions(_ bytes: [UInt8]) -> [StoreTransaction]? {
        do throws(AppReceiptError) {
            return try shop.verify(bytes).transactions
        } catch {
            return nil
        }
    }

    @Test func `is refused wherever it is cut off`() throws {
        #expect(try shop.verify(receipt).transactions.count == 2)
        for end in receipt.indices {
            #expect(throws: AppReceiptError.malformed) { try shop.verify(Array(receipt[..<end])) }
        }
    }

    @Test func `is refused with anything after it`() {
        for rest: [UInt8] in [[0], [0, 0], [0x30, 0], receipt] {
            #expect(throws: AppReceiptError.malformed) { try shop.verify(receipt + rest) }
        }
    }

    @Test func `is refused if a bit of what was bought is another`() throws {
        let id = Array("T2".utf8)
        let place = try #require(
            receipt.indices.dropLast().first { place in
                receipt[place] == id[0] && receipt[place + 1] == id[1]
            })
        var changed = receipt
        changed[place + 1] = UInt8(ascii: "9")
        #expect(throws: AppReceiptError.badSignature) { try shop.verify(changed) }
    }

    /// Ten thousand changes in every run, and a hundred thousand in long ones.
    private static let seeds: Range<UInt64> =
        20_261_130..<(20_261_130 + (getenv("COINLEDGER_SOAK") == nil ? 10 : 100))

    @Test(arguments: Self.seeds)
    func `is refused or unchanged in meaning, whatever is changed`(seed: UInt64) throws {
        var numbers = SeededRandom(seed: seed)
        let expected = try [expectedPurchase("T1"), expectedPurchase("T2")]
        var form = ReceiptForm()
        form.style.hasOpenLengths = seed % 2 == 0
        form.style.hasSignedAttributes = seed % 3 == 0
        let receipt = try shop.receipt(["T1", "T2"], form: form)
        var refused = 0
        for _ in 0..<1000 {
            guard let found = transactions(changed(receipt, &numbers)) else {
                refused += 1
                continue
            }
            #expect(found == expected, "seed \(seed)")
        }
        // What isn't signed is little: tags that nobody reads, and the root that nobody believes.
        #expect(refused > 500, "seed \(seed)")
    }

    /// One to four bytes changed, taken out, put in or repeated.
    private func changed(_ bytes: [UInt8], _ numbers: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &numbers) {
            let place = Int.random(in: 0..<bytes.count, using: &numbers)
            switch Int.random(in: 0..<8, using: &numbers) {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(.random(in: .min ... .max, using: &numbers), at: place)
            case 2:
                let end = min(bytes.count, place + .random(in: 1...64, using: &numbers))
                bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 3: bytes[place] = [0, 0x80, 0xFF, 0x84, 0x30, 0x24][place % 6]
            default: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
            }
        }
        return bytes
    }
}

@Suite struct `A payload that was signed` {
    private let verifier: AppReceiptVerifier

    init() throws { verifier = try ReceiptShop().verifier }

    private func error(_ payload: [UInt8]) -> AppReceiptError? {
        do throws(AppReceiptError) {
            _ = try verifier.verify(authority.receipts.signer.sign(payload), now: noon)
            return nil
        } catch {
            return error
        }
    }

    /// `SET OF SEQUENCE { type, 1, value }`
    private func set(_ attributes: [(Int, [UInt8])]) -> [UInt8] {
        element(
            0x31,
            attributes.flatMap { type, value in
                let type = [UInt8(type >> 8), UInt8(type & 0xFF)]
                return element(
                    0x30, element(0x02, type) + [0x02, 0x01, 0x01] + element(0x04, value))
            })
    }

    private func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }

    private func text(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }

    private func payload(
        _ changes: [(Int, [UInt8]?)] = [], purchase: [(Int, [UInt8]?)] = []
    ) -> [UInt8] {
        func changed(
            _ attributes: [(Int, [UInt8])], _ changes: [(Int, [UInt8]?)]
        ) -> [(Int, [UInt8])] {
            var attributes = attributes
            for (type, value) in changes {
                attributes.removeAll { $0.0 == type }
                if let value { attributes.append((type, value)) }
            }
            return attributes
        }
        let date = element(0x16, Array("2026-11-30T14:34:00Z".utf8))
        let bought = set(
            changed(
                [
                    (1701, [0x02, 0x01, 0x01]), (1702, text("p")), (1703, text("T1")),
                    (1704, date),
                ], purchase))
        return set(
            changed(
                [(0, text("Production")), (2, text("com.a")), (12, date), (17, bought)], changes))
    }

    @Test func `needs little`() { #expect(error(payload()) == nil) }

    @Test func `names the field that can't be accepted`() {
        let other: [UInt8] = [0x02, 0x01, 0x05]
        let cases: [(String, [UInt8])] = [
            ("receipt_type", payload([(0, nil)])), ("receipt_type", payload([(0, text(""))])),
            ("receipt_type", payload([(0, other)])),
            ("bundle_id", payload([(2, nil)])), ("bundle_id", payload([(2, text("a b"))])),
            ("bundle_id", payload([(2, element(0x0C, [0xFF]))])),
            ("receipt_creation_date", payload([(12, nil)])),
            ("receipt_creation_date", payload([(12, text("today"))])),
            ("receipt_creation_date", payload([(12, text("2026-02-29T00:00:00Z"))])),
            ("in_app", payload([(17, [])])), ("in_app", payload([(17, other)])),
            ("transaction_id", payload(purchase: [(1703, nil)])),
            ("transactionId", payload(purchase: [(1703, text("a b"))])),
            ("product_id", payload(purchase: [(1702, nil)])),
            ("purchase_date", payload(purchase: [(1704, nil)])),
            ("purchase_date", payload(purchase: [(1704, text("x"))])),
            ("quantity", payload(purchase: [(1701, text("1"))])),
            ("quantity", payload(purchase: [(1701, element(0x02, [1, 2, 3, 4, 5, 6, 7, 8, 9]))])),
            ("cancellation_date", payload(purchase: [(1712, text("soon"))])),
            ("", [0x31]), ("", [0x30, 0x00]), ("", payload() + [0]), ("", [0x04, 0x00]),
            ("", [0x31, 0x02, 0x30, 0x00]),
        ]
        for (field, payload) in cases {
            #expect(error(payload) == .malformedPayload(field: field), "\(payload)")
        }
    }

    @Test func `may say nothing of what isn't so`() throws {
        let nothing = text("")
        let bytes = payload(purchase: [
            (1705, nothing), (1706, nothing), (1708, nothing), (1712, []),
        ])
        let receipt = try verifier.verify(authority.receipts.signer.sign(bytes), now: noon)
        let transaction = try #require(receipt.transactions.first)
        #expect(transaction.originalTransactionID == "T1")
        #expect(transaction.revocation == nil)
        #expect(receipt.appID == nil)
        // A date there is one that passes.
        let expiring = payload(purchase: [(1708, text("2027-01-01T00:00:00Z"))])
        let subscription = try verifier.verify(
            authority.receipts.signer.sign(expiring), now: noon)
        #expect(subscription.transactions == [])
    }

    @Test func `can't say a thing twice`() {
        let twice = set([
            (0, text("Production")), (2, text("com.a")), (2, text("com.b")),
            (12, text("2026-11-30T14:34:00Z")),
        ])
        #expect(error(twice) == .malformedPayload(field: "bundle_id"))
    }

    @Test func `that isn't one is no receipt`() throws {
        // SET { 1703: "999" } with nobody's signature, as parsers that don't verify would take it.
        let bytes = payload(purchase: [(1703, text("999"))])
        #expect(throws: AppReceiptError.malformed) { try verifier.verify(bytes, now: noon) }
    }
}
