package import CoinLedger

/// Turns open lots into bytes, and back. They can always be made anew from the events, so that this
/// form may change with a migration; `coinledger.open_lots` reads it, too.
///
/// Each lot is a byte of flags and then numbers: its own, its position and its coins; if some of these
/// have left, the remaining ones and the part of the price that has left; if it expires, when; if it has
/// a price, that, and the currency with its length before it. A number has seven bits in a byte, the
/// lowest first, and the highest bit set in all but the last; `n` is kept as `2n`, or as `-2n - 1` where
/// that's negative.
package enum OpenLotsCodec {
    private static let isSandbox: UInt8 = 1
    private static let isFree: UInt8 = 2
    private static let expires: UInt8 = 4
    private static let hasPrice: UInt8 = 8
    private static let isDrawn: UInt8 = 16
    /// Of most lots, rounded up.
    private static let bytesOfMost = 16

    /// The lots of `account` that have a position, and a number above `number`; nil if there are none.
    package static func encode(_ account: Account, above number: Int64) -> [UInt8]? {
        var bytes: [UInt8] = []
        for environment in Environment.allCases {
            account[environment].forEachOpenLot(above: number) { open in
                guard let position = open.openedAt else { return }
                if bytes.isEmpty { bytes.reserveCapacity(16 * bytesOfMost) }
                append(open, position, environment, to: &bytes)
            }
        }
        return bytes.isEmpty ? nil : bytes
    }

    private static func append(
        _ open: OpenLot, _ position: Int64, _ environment: Environment, to bytes: inout [UInt8]
    ) {
        let lot = open.lot
        var flags: UInt8 = 0
        if environment == .sandbox { flags |= isSandbox }
        if lot.kind == .free { flags |= isFree }
        if lot.expiresAt != nil { flags |= expires }
        if lot.price != nil { flags |= hasPrice }
        if open.isDrawn { flags |= isDrawn }
        bytes.append(flags)
        bytes.append(number: lot.number)
        bytes.append(number: position)
        bytes.append(number: lot.coins.amount)
        if open.isDrawn {
            bytes.append(number: open.remaining.amount)
            bytes.append(number: open.valueOut)
        }
        if let expiresAt = lot.expiresAt { bytes.append(number: expiresAt.milliseconds) }
        if let price = lot.price {
            bytes.append(number: price.milliunits)
            bytes.append(number: Int64(price.currency.utf8.count))
            bytes.append(contentsOf: price.currency.utf8)
        }
    }

    /// - Throws: `.corrupt` if `bytes` aren't what `encode` writes.
    package static func decode(
        _ bytes: [UInt8]
    ) throws(EventStoreError) -> [(environment: Environment, lot: OpenLot)] {
        var reader = Reader(bytes)
        var lots: [(environment: Environment, lot: OpenLot)] = []
        lots.reserveCapacity(bytes.count / bytesOfMost + 1)
        while let flags = reader.byte() {
            guard flags < 2 * isDrawn, let number = reader.number(),
                let position = reader.number(), let coins = reader.coins()
            else { throw malformed }
            var (remaining, valueOut) = (coins, Int64(0))
            if flags & isDrawn != 0 {
                guard let left = reader.coins(), let out = reader.number() else { throw malformed }
                (remaining, valueOut) = (left, out)
            }
            var expiresAt: Timestamp?
            if flags & expires != 0 {
                expiresAt = reader.number().flatMap(Timestamp.init(milliseconds:))
                guard expiresAt != nil else { throw malformed }
            }
            var price: StatedPrice?
            if flags & hasPrice != 0 {
                price = reader.price()
                guard price != nil else { throw malformed }
            }
            let lot = Lot(
                number: number, kind: flags & isFree != 0 ? .free : .paid, coins: coins,
                expiresAt: expiresAt, price: price)
            let open = OpenLot(
                lot, openedAt: position, remaining: remaining, valueOut: valueOut)
            guard open.isDrawn == (flags & isDrawn != 0) else { throw malformed }
            lots.append((flags & isSandbox != 0 ? .sandbox : .production, open))
        }
        return lots
    }

    private static var malformed: EventStoreError { .corrupt("open lots of an account") }
}

extension OpenLot {
    fileprivate var isDrawn: Bool { remaining != lot.coins || valueOut != 0 }
}

extension [UInt8] {
    fileprivate mutating func append(number: Int64) {
        var rest = UInt64(bitPattern: number << 1 ^ number >> 63)
        while rest >= 128 {
            append(UInt8(truncatingIfNeeded: rest) | 128)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}

/// Takes numbers out of bytes, as long as there are enough.
private struct Reader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func byte() -> UInt8? {
        guard index < bytes.count else { return nil }
        defer { index += 1 }
        return bytes[index]
    }

    /// Nil also for one that has more bytes than it needs, or more bits than there are.
    mutating func number() -> Int64? {
        var number: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            guard let byte = byte(), shift < 63 || byte <= 1 else { return nil }
            number |= UInt64(byte & 127) << UInt64(shift)
            guard byte < 128 else { continue }
            guard byte > 0 || shift == 0 else { return nil }
            return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
        }
        return nil
    }

    mutating func coins() -> Coins? { number().flatMap(Coins.init) }

    mutating func price() -> StatedPrice? {
        guard let milliunits = number(), let length = number(), length >= 0,
            length <= bytes.count - index
        else { return nil }
        let end = index + Int(length)
        defer { index = end }
        return String(validating: bytes[index..<end], as: UTF8.self).map {
            StatedPrice(milliunits: milliunits, currency: $0)
        }
    }
}
