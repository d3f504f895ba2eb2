import Base
import CoinLedgerAPI
import CoinLedgerServer
import HTTPServer
import TestSupport
import Testing

/// The checker itself, since a contract that nothing can break holds nothing.
@Suite struct `Holding answers against schemas` {
    private let document: JSON

    init() throws { document = try JSON.parse(OpenAPIDocument.bytes) }

    private func findings(_ value: JSON, _ name: String) -> [String] {
        JSONSchema(document: document).findings(
            value, ["$ref": .string("#/components/schemas/\(name)")])
    }

    private static let transaction: JSON = [
        "transactionId": "T1", "productId": "coins100", "environment": "Production",
        "outcome": "granted", "coins": ["paid": 100, "free": 0], "finish": true,
        "eventId": "0-17",
    ]

    @Test func `finds nothing wrong with a right one`() {
        #expect(findings(Self.transaction, "TransactionOutcome") == [])
        #expect(
            findings(
                [
                    "accountId": "u1", "transactions": [Self.transaction],
                    "balance": [
                        "version": 2, "paid": 100, "free": 0, "total": 100, "available": 100,
                        "held": 0, "debt": 0, "nextExpiry": nil,
                    ],
                ], "ReceiptAnswer") == [])
    }

    static let wrongMembers: [(String, JSON)] = [
        ("outcome", "given"), ("outcome", nil), ("finish", "true"), ("eventId", "17"),
        ("coins", ["paid": -1, "free": 0]), ("coins", ["paid": 1]),
        ("coins", ["paid": 9_007_199_254_740_992, "free": 0]), ("transactionId", 5),
    ]

    @Test(arguments: wrongMembers)
    func `finds one member that is wrong or missing`(name: String, value: JSON) {
        var members = (Self.transaction.object?.members ?? []).filter { $0.name != name }
        if value != .null { members.append(.init(name, value)) }
        #expect(findings(.object(JSONObject(members)), "TransactionOutcome").count == 1)
    }

    @Test func `finds an empty list, a wrong id, a wrong date and an unknown word`() {
        let answer: JSON = ["accountId": "ä", "transactions": []]
        #expect(findings(answer, "ReceiptOutcomes").count == 2)
        let schema = JSONSchema(document: document)
        #expect(schema.findings("2026-11-30", ["format": "date-time"]).count == 1)
        #expect(schema.findings("2026-11-30T14:34:00.000Z", ["format": "date-time"]) == [])
        #expect(schema.findings(1, ["multipleOf": 2]).count == 1)
        #expect(schema.findings(1, ["$ref": "#/nowhere"]).count == 1)
    }

    @Test(arguments: HTTPRefusal.allCases)
    func `finds every refusal of the HTTP server to be a problem`(refusal: HTTPRefusal) throws {
        let response = HTTPResponse(refusal)
        #expect(response.status == refusal.status)
        let body = try JSON.parse(response.body)
        #expect(findings(body, "Problem") == [])
        #expect(body["code"]?.string == refusal.code)
        #expect(body["status"]?.integer == Int64(refusal.status))
        #expect(
            response.headers.contains { $0.name == "Retry-After" } == (refusal.status == 503))
    }
}
