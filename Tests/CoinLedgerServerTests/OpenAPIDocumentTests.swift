import AppStore
import Base
import CoinLedgerAPI
import CoinLedgerServer
import CoinLedgerService
import EventStore
import HTTPServer
import Testing

/// The document against the code that it describes, in both directions.
@Suite struct `The API's document` {
    private let document: JSON

    init() throws { document = try JSON.parse(OpenAPIDocument.bytes) }

    private func operation(_ route: Route) -> JSON? {
        document["paths"]?[route.template]?[route.method.lowercased()]
    }

    /// The codes that `responses` of a route list under a status.
    private func codes(_ route: Route, _ status: Int) -> Set<String> {
        let schema = operation(route)?["responses"]?["\(status)"]?["content"]?[Problem.mediaType]?[
            "schema"]
        let parts = schema?["allOf"]?.array ?? []
        let found = parts.flatMap { $0["properties"]?["code"]?["enum"]?.array ?? [] }
        return Set(found.compactMap(\.string))
    }

    @Test func `has every route, and no other`() {
        var described: Set<String> = []
        for path in document["paths"]?.object?.members ?? [] {
            for operation in path.value.object?.members ?? [] {
                described.insert("\(operation.name.uppercased()) \(path.name)")
            }
        }
        #expect(described == Set(Route.allCases.map { "\($0.method) \($0.template)" }))
        for route in Route.allCases {
            #expect(operation(route)?["operationId"]?.string == route.rawValue)
        }
    }

    @Test(arguments: Route.allCases)
    func `names the parameters of a route, and whether it needs a key`(route: Route) {
        let parameters = operation(route)?["parameters"]?.array ?? []
        func names(_ place: String) -> [String] {
            parameters.filter { $0["in"]?.string == place }.compactMap { $0["name"]?.string }
        }
        #expect(names("query") == route.queryParameters)
        let segments = route.template.split(separator: "/").filter { $0.hasPrefix("{") }
        #expect(names("path") == segments.map { String($0.dropFirst().dropLast()) })
        #expect((operation(route)?["security"] != nil) == route.needsKey)
        #expect(codes(route, 401) == (route.needsKey ? ["unauthenticated"] : []))
    }

    @Test func `has every type of event`() {
        let described = document["components"]?["schemas"]?["Event"]?["properties"]?["type"]?[
            "enum"]
        #expect(
            described?.array?.compactMap(\.string) == EventCodec.EventType.allCases.map(\.rawValue))
    }

    @Test func `has every code of a text that isn't a receipt`() {
        let codes = codes(.submitReceipt, 400)
        for error in ReceiptShapeError.allCases { #expect(codes.contains(error.code)) }
    }

    private static let signedDataErrors: [SignedDataError] = [
        .malformed, .tooLarge, .unsupportedAlgorithm, .wrongChainLength, .malformedCertificate,
        .certificateNotValidThen, .untrustedChain, .missingLeafMarker,
        .missingIntermediateMarker, .notAnAuthority, .badSignature, .signedInTheFuture,
        .malformedPayload(field: ""),
    ]

    /// The codes of signed transactions and app receipts that aren't believed.
    private static let untrusted = Set(
        signedDataErrors.map(\.code) + AppReceiptError.all.map(\.code))

    /// The codes of notifications that aren't believed, and of the transactions in them.
    private static let untrustedNotifications: Set<String> = {
        let errors = signedDataErrors.flatMap {
            [SignedNotificationError.notification($0), .transaction($0)]
        }
        return Set((errors + [.transactionMismatch, .certificateRevoked]).map(\.code))
    }()

    @Test func `has every code of what was signed and isn't believed`() {
        #expect(Self.untrusted.count == 15)
        #expect(Self.untrusted.isSubset(of: codes(.submitReceipt, 422)))
        #expect(Self.untrustedNotifications.count == 28)
        #expect(Self.untrustedNotifications.isSubset(of: codes(.receiveNotification, 400)))
    }

    @Test func `has every outcome of a transaction, and no other`() {
        let outcome = document["components"]?["schemas"]?["TransactionOutcome"]?["properties"]?[
            "outcome"]
        let described = (outcome?["enum"]?.array ?? []).compactMap(\.string)
        let outcomes =
            PurchaseRefusalReason.allCases.map(\.rawValue) + [
                "granted", "already_granted", "granted_to_other_account",
                "belongs_to_other_account",
            ]
        #expect(described.sorted() == outcomes.sorted())
    }

    @Test func `has every code of a problem under its status, and no unknown one`() {
        var described: Set<String> = []
        for route in Route.allCases {
            for response in operation(route)?["responses"]?.object?.members ?? [] {
                let status = Int(response.name) ?? 0
                described.formUnion(codes(route, status).map { "\(status) \($0)" })
            }
        }
        let anywhere: Set<String> = [
            "404 not_found", "405 method_not_allowed", "500 internal_error",
        ]
        let named = Set(ProblemCode.named.map { "\($0.status) \($0.code)" })
        #expect(named.subtracting(described) == anywhere)
        let shapes = ReceiptShapeError.allCases.map { "400 \($0.code)" }
        let unknown = described.subtracting(named).subtracting(shapes)
        let untrusted =
            Self.untrusted.map { "422 \($0)" } + Self.untrustedNotifications.map { "400 \($0)" }
        #expect(unknown == Set(untrusted))
    }

    @Test func `tells of what may be answered to any request`() {
        let text = document["components"]?["schemas"]?["Problem"]?["description"]?.string ?? ""
        for refusal in HTTPRefusal.allCases {
            #expect(text.contains("`\(refusal.code)`"), "\(refusal.code)")
        }
        for code in [ProblemCode.notFound, .methodNotAllowed, .internalError] {
            #expect(text.contains("\(code.status) `\(code.code)`"))
        }
    }
}
