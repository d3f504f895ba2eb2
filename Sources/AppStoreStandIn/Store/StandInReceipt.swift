import AppStore
import Base

/// The app receipt of the stand-in: a snapshot of a device, signed by the stand-in itself.
///
/// Apple's is PKCS #7; this one only looks like it from outside (a DER SEQUENCE), since nobody
/// but the stand-in's own verifyReceipt has to understand it.
struct StandInReceipt {
    let environment: String
    let bundleID: String
    let createdAt: Int64
    let entries: [JSON]

    /// The text for the app, which begins with `MI` as genuine ones do.
    func encoded(by key: SigningKey) -> String {
        let content: JSON = [
            "environment": .string(environment), "bundle_id": .string(bundleID),
            "created": .integer(createdAt), "in_app": .array(entries),
        ]
        let bytes = content.bytes
        let body = key.sign(bytes) + bytes
        let count = UInt32(body.count)
        let header: [UInt8] = [
            0x30, 0x84, UInt8(count >> 24), UInt8(count >> 16 & 255), UInt8(count >> 8 & 255),
            UInt8(count & 255),
        ]
        return Base64.encode(header + body)
    }

    /// Why a text isn't a receipt of this stand-in.
    enum Refusal: Error {
        case unreadable
        case notGenuine
    }

    private static let headerBytes = 6
    private static let signatureBytes = 64

    init(environment: String, bundleID: String, createdAt: Int64, entries: [JSON]) {
        self.environment = environment
        self.bundleID = bundleID
        self.createdAt = createdAt
        self.entries = entries
    }

    init(_ text: String, signedBy key: SigningKey) throws(Refusal) {
        guard let bytes = Base64.decode(text), bytes.starts(with: [0x30, 0x84]),
            bytes.count > StandInReceipt.headerBytes + StandInReceipt.signatureBytes
        else { throw .unreadable }
        let body = bytes.dropFirst(StandInReceipt.headerBytes)
        let content = Array(body.dropFirst(StandInReceipt.signatureBytes))
        guard key.verifies(Array(body.prefix(StandInReceipt.signatureBytes)), of: content) else {
            throw .notGenuine
        }
        guard let object = (try? JSON.parse(content))?.object,
            let environment = object["environment"]?.string,
            let bundleID = object["bundle_id"]?.string,
            let createdAt = object["created"]?.integer, let entries = object["in_app"]?.array
        else { throw .unreadable }
        self.init(
            environment: environment, bundleID: bundleID, createdAt: createdAt, entries: entries)
    }

    /// What verifyReceipt says of it.
    func answer(requestedAt instant: Int64) -> JSON {
        let isSandbox = environment != "Production"
        var receipt = JSONObject([
            .init("receipt_type", isSandbox ? "ProductionSandbox" : "Production"),
            .init("adam_id", 0), .init("app_item_id", 0),
            .init("bundle_id", .string(bundleID)), .init("application_version", "1"),
            .init("download_id", 0), .init("version_external_identifier", 0),
        ])
        StoreDate.append("receipt_creation_date", createdAt, to: &receipt)
        StoreDate.append("request_date", instant, to: &receipt)
        // What the sandbox says of every app.
        StoreDate.append("original_purchase_date", 1_375_340_400_000, to: &receipt)
        receipt.append("original_application_version", "1.0")
        receipt.append("in_app", .array(entries))
        return [
            "receipt": .object(receipt), "environment": .string(environment), "status": 0,
        ]
    }
}
