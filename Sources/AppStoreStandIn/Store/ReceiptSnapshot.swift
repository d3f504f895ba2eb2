import AppStore
import Base

/// What a device had not finished at an instant, from which its app receipt is made.
struct ReceiptSnapshot: Sendable {
    let authority: ReceiptAuthority
    let environment: String
    let bundleID: String
    /// Milliseconds since 1970.
    let createdAt: Int64
    let sales: [Sale]

    /// The text for the app, which begins with `MI` as genuine ones do.
    func signed(_ form: ReceiptForm = ReceiptForm()) -> String {
        var payload = ReceiptPayload.bytes(self, form)
        for _ in 0..<form.wrappings { payload = DERWriter.octets(payload) }
        return Base64.encode(authority.signer(of: form).sign(payload, form.style))
    }
}

/// The attributes that a receipt's signature is around, numbered as Apple numbers them. Those that
/// Apple doesn't explain are there too, since they make up much of a genuine receipt.
private enum ReceiptPayload {
    static func bytes(_ receipt: ReceiptSnapshot, _ form: ReceiptForm) -> [UInt8] {
        let isProduction = receipt.environment == "Production"
        let type = form.type ?? (isProduction ? "Production" : "ProductionSandbox")
        let created = date(form.createdAt ?? receipt.createdAt)
        var attributes: [[UInt8]] = [
            attribute(0, DERWriter.text(type)), attribute(1, DERWriter.integer(0)),
            attribute(2, DERWriter.text(receipt.bundleID)), attribute(3, DERWriter.text("1")),
            attribute(4, opaque(receipt, 16)), attribute(5, opaque(receipt, 20)),
            attribute(6, opaque(receipt, 61)), attribute(7, opaque(receipt, 54)),
            attribute(8, created), attribute(9, DERWriter.text("P255")),
            attribute(10, DERWriter.ascii("4+")),
            attribute(11, DERWriter.integer(0)), attribute(12, created),
            attribute(13, DERWriter.integer(0)), attribute(14, DERWriter.integer(0)),
            attribute(16, DERWriter.integer(0)),
            attribute(18, DERWriter.ascii("2013-08-01T07:00:00Z")),
            attribute(19, DERWriter.text("1.0")), attribute(25, DERWriter.integer(3)),
        ]
        for sale in receipt.sales {
            let purchase = purchase(sale, form)
            for _ in 0..<form.copies { attributes.append(attribute(17, purchase)) }
        }
        return DERWriter.set(attributes)
    }

    private static func purchase(_ sale: Sale, _ form: ReceiptForm) -> [UInt8] {
        let absent = DERWriter.ascii("")
        let none = DERWriter.text("")
        let zero = DERWriter.integer(0)
        var attributes: [[UInt8]] = [
            attribute(1701, DERWriter.integer(sale.purchase.quantity)),
            attribute(1702, DERWriter.text(sale.purchase.productID)),
            attribute(1703, DERWriter.text(sale.transactionID)),
            attribute(1704, date(sale.purchaseDate)),
            attribute(1708, absent), attribute(1709, none), attribute(1710, none),
            attribute(1711, zero),
            attribute(1712, form.cancelledAt.map(date) ?? absent), attribute(1713, zero),
            attribute(1714, none), attribute(1715, none), attribute(1716, none),
            attribute(1717, none), attribute(1718, none), attribute(1719, zero),
            attribute(1722, none),
        ]
        if form.hasOriginals {
            let original = DERWriter.text(sale.originalTransactionID)
            attributes.append(attribute(1705, original))
            attributes.append(attribute(1706, date(sale.purchaseDate)))
        }
        if let type = form.productType {
            attributes.append(attribute(1707, DERWriter.integer(type)))
        }
        return DERWriter.set(attributes)
    }

    private static func attribute(_ type: Int64, _ value: [UInt8]) -> [UInt8] {
        DERWriter.sequence(
            DERWriter.integer(type), DERWriter.integer(1), DERWriter.octets(value))
    }

    /// Such as `2025-12-26T18:39:47Z`: to the second, as in genuine receipts.
    private static func date(_ instant: Int64) -> [UInt8] {
        let seconds = instant >= 0 ? instant / 1000 : (instant - 999) / 1000
        let text = StoreDate.text(seconds).split(separator: " ").joined(separator: "T")
        return DERWriter.ascii(text + "Z")
    }

    /// What only the device and Apple understand; the same for the same receipt.
    private static func opaque(_ receipt: ReceiptSnapshot, _ count: Int) -> [UInt8] {
        let seed = Digest.sha256(Array("\(receipt.bundleID) \(receipt.createdAt)".utf8))
        return Array((seed + Digest.sha256(seed)).prefix(count))
    }
}
