import AppStore
import AppStoreStandIn
import Base
import Glibc

/// 2026-11-30T14:34:00Z in milliseconds since 1970.
let noon: Int64 = 1_796_049_240_000

/// One authority for all tests: its keys take a while to make.
let authority = StandInAuthority(now: noon / 1000)

func roots(_ authority: StandInAuthority = authority) throws -> RootCertificates {
    try RootCertificates(files: [authority.root.der], allowPrivate: true)
}

/// A payload with the fields of a real consumable's.
func payload(_ changes: [(String, JSON?)] = []) -> JSON {
    var members: [(String, JSON)] = [
        ("transactionId", "2000000901234567"), ("originalTransactionId", "2000000901234567"),
        ("bundleId", "com.nonchalant"), ("productId", "com.nonchalant.consumable1"),
        ("purchaseDate", 1_796_049_230_000), ("originalPurchaseDate", 1_796_049_230_000),
        ("quantity", 1), ("type", "Consumable"),
        ("appAccountToken", "e4e0b18b-0000-4000-8000-00000000000a"),
        ("inAppOwnershipType", "PURCHASED"), ("signedDate", 1_796_049_239_436),
        ("environment", "Sandbox"), ("transactionReason", "PURCHASE"), ("storefront", "TUR"),
        ("storefrontId", "143480"), ("price", 39990), ("currency", "TRY"),
        ("appTransactionId", "704000000000000000"),
    ]
    for (name, value) in changes {
        members.removeAll { $0.0 == name }
        if let value { members.append((name, value)) }
    }
    return .object(JSONObject(members.map { .init($0.0, $0.1) }))
}

/// What `payload()` says, written out.
func expectedTransaction() throws -> StoreTransaction {
    try StoreTransaction(
        transactionID: "2000000901234567", originalTransactionID: "2000000901234567",
        bundleID: "com.nonchalant", productID: "com.nonchalant.consumable1", quantity: 1,
        environment: .sandbox, purchaseDate: 1_796_049_230_000,
        originalPurchaseDate: 1_796_049_230_000, signedDate: 1_796_049_239_436,
        type: "Consumable", ownership: "PURCHASED",
        appAccountToken: "e4e0b18b-0000-4000-8000-00000000000a", price: 39990, currency: "TRY",
        storefront: "TUR", storefrontID: "143480", transactionReason: "PURCHASE")
}

/// Apple's public test data, which isn't part of this project.
enum AppleTestData {
    static var folder: String {
        let given = getenv("COINLEDGER_PEER_DATA").map { String(cString: $0) }
        return (given ?? "../shared/peer") + "/apple/"
    }

    static var isPresent: Bool { access(folder + "certs/testCA.der", R_OK) == 0 }

    static func bytes(_ name: String) throws -> [UInt8] {
        struct Unreadable: Error { let name: String }
        guard let file = fopen(folder + name, "r") else { throw Unreadable(name: name) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
        return bytes
    }

    static func text(_ name: String) throws -> String {
        let text = String(decoding: try bytes(name), as: UTF8.self)
        return String(text.filter { !$0.isWhitespace })
    }
}
