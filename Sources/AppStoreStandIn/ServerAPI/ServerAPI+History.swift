import Base
import HTTPServer

extension ServerAPI {
    /// Get Transaction History v2: everything the customer has bought, finished or not, by the
    /// latest change.
    func history(_ call: ServerAPICall) throws(ServerAPIError) -> HTTPResponse {
        let query = try call.query(TransactionFilter.parameters)
        let filter = try TransactionFilter(query)
        let sale = try sale(call)
        let cursor = try Revision.read(query["revision"], filter.isAscending ? "ha" : "hd")
        var sales = store.sales(ofCustomerOf: sale).filter { filter.accepts($0) }
        sales.sort { filter.isAscending == ($0.revision < $1.revision) }
        let rest = sales.drop { sale in
            guard let cursor else { return false }
            return filter.isAscending
                ? sale.revision <= cursor.first : sale.revision >= cursor.first
        }
        let page = rest.prefix(ServerAPI.pageLength)
        let last = page.last.map { Revision(first: $0.revision, second: 0) } ?? cursor
        var answer = JSONObject([
            .init(
                "revision",
                .string((last ?? .start).text(filter.isAscending ? "ha" : "hd"))),
            .init("hasMore", .bool(rest.count > page.count)),
            .init("bundleId", .string(sale.bundleID)),
            .init("environment", .string(call.environment)),
        ])
        if call.environment == StoreName.production {
            answer.append("appAppleId", .integer(store.configuration.appAppleID))
        }
        answer.append("signedTransactions", .array(page.map { .string(store.sign($0)) }))
        return .json(.object(answer))
    }

    /// Get Refund History: what the customer was paid back, by the date of the refund.
    func refunds(_ call: ServerAPICall) throws(ServerAPIError) -> HTTPResponse {
        let query = try call.query(["revision"])
        let sale = try sale(call)
        let cursor = try Revision.read(query["revision"], "r")
        let refunds = store.sales(ofCustomerOf: sale)
            .compactMap { sale in
                sale.refund.map { (Revision(first: $0.date, second: sale.revision), sale) }
            }
            .sorted { $0.0 < $1.0 }
        let rest = refunds.drop { refund in cursor.map { refund.0 <= $0 } ?? false }
        let page = rest.prefix(ServerAPI.pageLength)
        return .json([
            "hasMore": .bool(rest.count > page.count),
            "revision": .string((page.last?.0 ?? cursor ?? .start).text("r")),
            "signedTransactions": .array(page.map { .string(store.sign($0.1)) }),
        ])
    }
}

/// Up to where a history was read.
private struct Revision: Comparable {
    let first: Int64
    let second: Int64

    static let start = Revision(first: .min, second: 0)

    static func < (one: Revision, other: Revision) -> Bool {
        (one.first, one.second) < (other.first, other.second)
    }

    /// Means something only to this stand-in, and only in the call that `kind` names.
    func text(_ kind: String) -> String {
        Base64.encode(Array("\(kind):\(first):\(second)".utf8), .url)
    }

    static func read(_ text: String?, _ kind: String) throws(ServerAPIError) -> Revision? {
        guard let text else { return nil }
        guard let bytes = Base64.decode(text, .url) else { throw .revision }
        let parts = String(decoding: bytes, as: UTF8.self)
            .split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == kind, let first = Int64(parts[1]),
            let second = Int64(parts[2])
        else { throw .revision }
        return Revision(first: first, second: second)
    }
}

/// Which transactions of a history are wanted.
private struct TransactionFilter {
    let isAscending: Bool
    private let dates: (start: Int64?, end: Int64?)
    private let products: [String]
    private let types: [String]
    private let isRevoked: Bool?
    private let isPurchased: Bool

    static let parameters: Set<String> = [
        "revision", "startDate", "endDate", "productId", "productType", "sort", "revoked",
        "inAppOwnershipType",
    ]
    private static let typeNames = [
        "Consumable": "CONSUMABLE", "Non-Consumable": "NON_CONSUMABLE",
        "Auto-Renewable Subscription": "AUTO_RENEWABLE",
        "Non-Renewing Subscription": "NON_RENEWABLE",
    ]

    init(_ query: QueryFields) throws(ServerAPIError) {
        switch query["sort"] {
        case nil, "ASCENDING": isAscending = true
        case "DESCENDING": isAscending = false
        default: throw .sort
        }
        let start = try TransactionFilter.instant(query["startDate"], .startDate)
        let end = try TransactionFilter.instant(query["endDate"], .endDate)
        if let start, let end, start > end { throw .startAfterEnd }
        dates = (start, end)
        products = query.all("productId")
        guard products.allSatisfy({ !$0.isEmpty }) else { throw .productID }
        types = query.all("productType")
        guard types.allSatisfy(TransactionFilter.typeNames.values.contains) else {
            throw .productType
        }
        switch query["revoked"] {
        case nil: isRevoked = nil
        case "true": isRevoked = true
        case "false": isRevoked = false
        default: throw .revoked
        }
        switch query["inAppOwnershipType"] {
        case nil, "PURCHASED": isPurchased = true
        case "FAMILY_SHARED": isPurchased = false
        default: throw .ownership
        }
    }

    /// The start counts, the end doesn't.
    func accepts(_ sale: Sale) -> Bool {
        let type = TransactionFilter.typeNames[sale.productType] ?? ""
        return isPurchased && dates.start.map { sale.purchaseDate >= $0 } ?? true
            && dates.end.map { sale.purchaseDate < $0 } ?? true
            && (products.isEmpty || products.contains(sale.purchase.productID))
            && (types.isEmpty || types.contains(type))
            && isRevoked.map { (sale.refund != nil) == $0 } ?? true
    }

    private static func instant(
        _ text: String?, _ error: ServerAPIError
    ) throws(ServerAPIError) -> Int64? {
        guard let text else { return nil }
        guard let instant = Int64(text), instant >= 0 else { throw error }
        return instant
    }
}

extension Sale {
    /// As a signed transaction has it.
    fileprivate var productType: String { purchase.payload["type"]?.string ?? "Consumable" }
}
