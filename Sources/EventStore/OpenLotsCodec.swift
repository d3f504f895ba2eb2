package import CoinLedger

/// Turns open lots into bytes, and back. They can always be made anew from the events, so that this
/// form may change with a migration; `coinledger.open_lots` reads it, too.
///
/// Each lot is a byte of flags and then numbers of 8 bytes, the highest first: its number, position,
/// coins, remaining coins and the part of the price that has left; if it expires, when; if it has a
/// price, that, and the currency with its length in 4 bytes.
package enum OpenLotsCodec {
    private static let isSandbox: UInt8 = 1
    private static let isFree: UInt8 = 2
    private static let expires: UInt8 = 4
    private static let hasPrice: UInt8 = 8
    /// With a price and no expiry.
    private static let bytesOfMost = 56

    /// The lots of `account` that have a position, and a number above `number`; nil if there are none.
    package static func encode(_ account: Account, above number: Int64) -> [UInt8]? {
        var bytes: [UInt8] = []
        for environment in Environment.allCases {
            account[environment].forEachOpenLot(above: number) { open in
                guard let position = open.openedAt else { return }
                if bytes.isEmpty { bytes.reserveCapacity(8 * bytesOfMost) }
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
        bytes.append(flags)
        bytes.append(big: lot.number)
        bytes.append(big: position)
        bytes.append(big: lot.coins.amount)
        bytes.append(big: open.remaining.amount)
        bytes.append(big: open.valueOut)
        if let expiresAt = lot.expiresAt { bytes.append(big: expiresAt.milliseconds) }
        if let price = lot.price {
            bytes.append(big: price.milliunits)
            bytes.append(big: UInt32(clamping: price.currency.utf8.count))
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
        while let flags = reader.number(UInt8.self) {
            guard flags < 2 * hasPrice, let number = reader.number(Int64.self),
                let position = reader.number(Int64.self), let coins = reader.coins(),
                let remaining = reader.coins(), let valueOut = reader.number(Int64.self)
            else { throw malformed }
            var expiresAt: Timestamp?
            if flags & expires != 0 {
                expiresAt = reader.number(Int64.self).flatMap(Timestamp.init(milliseconds:))
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
            lots.append((flags & isSandbox != 0 ? .sandbox : .production, open))
        }
        return lots
    }

    private static var malformed: EventStoreError { .corrupt("open lots of an account") }
}

extension [UInt8] {
    fileprivate mutating func append(big number: some FixedWidthInteger) {
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { unsafe append(contentsOf: $0) }
    }
}

/// Takes numbers out of bytes, as long as there are enough.
private struct Reader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func number<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        let size = MemoryLayout<Number>.size
        guard bytes.count - index >= size else { return nil }
        defer { index += size }
        return unsafe bytes.withUnsafeBytes { bytes in
            Number(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: index, as: Number.self))
        }
    }

    mutating func coins() -> Coins? { number(Int64.self).flatMap(Coins.init) }

    mutating func price() -> StatedPrice? {
        guard let milliunits = number(Int64.self), let length = number(UInt32.self),
            length <= bytes.count - index
        else { return nil }
        let end = index + Int(length)
        defer { index = end }
        return String(validating: bytes[index..<end], as: UTF8.self).map {
            StatedPrice(milliunits: milliunits, currency: $0)
        }
    }
}
