package import AppStore
import Base

/// A receipt that the App Store has confirmed as a whole. Whether it's for this app, and which of
/// its transactions count, is for the caller to see.
package struct VerifiedReceipt: Hashable, Sendable {
    package let environment: StoreEnvironment
    package let bundleID: String
    /// Everything that isn't a subscription, each id once; empty for a stale receipt.
    package let transactions: [StoreTransaction]

    /// Receipts with 187 purchases were seen.
    package static let transactionsMax = 10_000
}

extension VerifiedReceipt {
    /// Reads an answer with status 0 that came from the endpoint of `environment`.
    init(
        answer: JSONObject, from environment: StoreEnvironment
    ) throws(InvalidStoreField) {
        guard let receipt = answer["receipt"]?.object else { throw InvalidStoreField("receipt") }
        try VerifiedReceipt.check(answer, receipt, isFrom: environment)
        guard let bundleID = (receipt["bundle_id"] ?? receipt["bid"])?.string else {
            throw InvalidStoreField("bundle_id")
        }
        var entries = try VerifiedReceipt.entries("in_app", of: receipt)
        entries += try VerifiedReceipt.entries("latest_receipt_info", of: answer)
        // Until iOS 6 a receipt was one transaction, written flat.
        if receipt["transaction_id"] != nil { entries.append(receipt) }
        guard entries.count <= VerifiedReceipt.transactionsMax else {
            throw InvalidStoreField("in_app")
        }
        self.environment = environment
        self.bundleID = bundleID
        transactions = try VerifiedReceipt.transactions(entries, bundleID, environment)
    }

    private static func transactions(
        _ entries: [JSONObject], _ bundleID: String, _ environment: StoreEnvironment
    ) throws(InvalidStoreField) -> [StoreTransaction] {
        var transactions = UniqueTransactions()
        for entry in entries {
            let transaction = try StoreTransaction(
                receiptEntry: entry, bundleID: bundleID, environment: environment)
            if let transaction { transactions.add(transaction) }
        }
        return transactions.all
    }

    private static func entries(
        _ name: String, of object: JSONObject
    ) throws(InvalidStoreField) -> [JSONObject] {
        switch object[name] {
        case nil, .null: return []
        case .object(let entry): return [entry]
        case .array(let values):
            var entries: [JSONObject] = []
            for value in values {
                guard let entry = value.object else { throw InvalidStoreField(name) }
                entries.append(entry)
            }
            return entries
        default: throw InvalidStoreField(name)
        }
    }

    /// The environment is that of the endpoint; an answer that names another one is not
    /// understood, since one of the two means money and the other doesn't.
    private static func check(
        _ answer: JSONObject, _ receipt: JSONObject, isFrom environment: StoreEnvironment
    ) throws(InvalidStoreField) {
        switch answer["environment"] {
        case nil, .null: break
        case .string(environment.text): break
        default: throw InvalidStoreField("environment")
        }
        switch receipt["receipt_type"] {
        case nil, .null: break
        case .string(environment.text), .string(environment.text + "VPP"),
            .string("Production" + environment.text),
            .string("ProductionVPP" + environment.text):
            break
        default: throw InvalidStoreField("receipt_type")
        }
    }
}
