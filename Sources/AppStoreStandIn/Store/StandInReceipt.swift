import AppStore
import Base

/// The app receipt of the stand-in: a snapshot of a device, signed as Apple signs them.
struct StandInReceipt {
    let environment: String
    let bundleID: String
    let createdAt: Int64
    /// As `in_app` of verifyReceipt has them.
    let entries: [JSON]

    /// The text for the app, which begins with `MI` as genuine ones do.
    func encoded(by authority: ReceiptAuthority, _ form: ReceiptForm = ReceiptForm()) -> String {
        var payload = ReceiptPayload.bytes(self, form)
        for _ in 0..<form.wrappings { payload = DERWriter.octets(payload) }
        return Base64.encode(authority.signer(of: form).sign(payload, form.style))
    }

    /// What verifyReceipt says of a receipt that was confirmed.
    ///
    /// - Parameter entry: what the store knows of a transaction, which is more than the receipt.
    static func answer(
        _ receipt: AppReceipt, requestedAt instant: Int64, entry: (String) -> JSON?
    ) -> JSON {
        var object = JSONObject([
            .init(
                "receipt_type",
                receipt.environment == .production ? "Production" : "ProductionSandbox"),
            .init("adam_id", 0), .init("app_item_id", 0),
            .init("bundle_id", .string(receipt.bundleID)), .init("application_version", "1"),
            .init("download_id", 0), .init("version_external_identifier", 0),
        ])
        StoreDate.append("receipt_creation_date", receipt.createdAt, to: &object)
        StoreDate.append("request_date", instant, to: &object)
        // What the sandbox says of every app.
        StoreDate.append("original_purchase_date", 1_375_340_400_000, to: &object)
        object.append("original_application_version", "1.0")
        object.append(
            "in_app", .array(receipt.transactions.compactMap { entry($0.transactionID) }))
        return [
            "receipt": .object(object), "environment": .string(receipt.environment.text),
            "status": 0,
        ]
    }
}

/// The attributes that a receipt's signature is around, numbered as Apple numbers them. Those that
/// Apple doesn't explain are there too, since they make up much of a genuine receipt.
private enum ReceiptPayload {
    static func bytes(_ receipt: StandInReceipt, _ form: ReceiptForm) -> [UInt8] {
        let isProduction = receipt.environment == "Production"
        let type = form.type ?? (isProduction ? "Production" : "ProductionSandbox")
        let created = date(form.createdAt ?? receipt.createdAt)
        var attributes: [[UInt8]] = [
            attribute(0, DERWriter.text(type)), attribute(1, DERWriter.integer(0)),
            attribute(2, DERWriter.text(receipt.bundleID)), attribute(3, DERWriter.text("1")),
            attribute(4, random(16)), attribute(5, random(20)), attribute(6, random(61)),
            attribute(7, random(54)), attribute(8, created),
            attribute(9, DERWriter.text("P255")), attribute(10, DERWriter.ascii("4+")),
            attribute(11, DERWriter.integer(0)), attribute(12, created),
            attribute(13, DERWriter.integer(0)), attribute(14, DERWriter.integer(0)),
            attribute(16, DERWriter.integer(0)),
            attribute(18, DERWriter.ascii("2013-08-01T07:00:00Z")),
            attribute(19, DERWriter.text("1.0")), attribute(25, DERWriter.integer(3)),
        ]
        for entry in receipt.entries {
            let purchase = purchase(entry, form)
            for _ in 0..<form.copies { attributes.append(attribute(17, purchase)) }
        }
        return DERWriter.set(attributes)
    }

    private static func purchase(_ entry: JSON, _ form: ReceiptForm) -> [UInt8] {
        func text(_ name: String) -> String { entry[name]?.string ?? "" }
        func instant(_ name: String) -> [UInt8] { date(Int64(text(name)) ?? 0) }
        let absent = DERWriter.ascii("")
        let none = DERWriter.text("")
        let zero = DERWriter.integer(0)
        var attributes: [[UInt8]] = [
            attribute(1701, DERWriter.integer(Int64(text("quantity")) ?? 0)),
            attribute(1702, DERWriter.text(text("product_id"))),
            attribute(1703, DERWriter.text(text("transaction_id"))),
            attribute(1704, instant("purchase_date_ms")),
            attribute(1708, absent), attribute(1709, none), attribute(1710, none),
            attribute(1711, zero),
            attribute(1712, form.cancelledAt.map(date) ?? absent), attribute(1713, zero),
            attribute(1714, none), attribute(1715, none), attribute(1716, none),
            attribute(1717, none), attribute(1718, none), attribute(1719, zero),
            attribute(1722, none),
        ]
        if form.hasOriginals {
            let original = DERWriter.text(text("original_transaction_id"))
            attributes.append(attribute(1705, original))
            attributes.append(attribute(1706, instant("original_purchase_date_ms")))
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

    private static func random(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in .random(in: .min ... .max) }
    }
}
