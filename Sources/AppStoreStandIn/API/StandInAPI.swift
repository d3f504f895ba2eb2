import Base
import EventLoop
package import HTTPServer

/// The stand-in as a function from request to response.
package struct StandInAPI: Sendable {
    package let store: StandInStore
    /// Answers whether certificates were revoked.
    package let responder: RevocationResponder
    private let serverAPI: ServerAPI
    private let faults = FaultList()
    private let sleep: @Sendable (_ milliseconds: Int64) async -> Void

    /// - Parameters:
    ///   - sleep: waits, for delays that are asked for.
    ///   - monotonic: milliseconds of a clock that never goes back, for rate limits.
    package init(
        store: StandInStore,
        monotonic: @escaping @Sendable () -> Int64 = { EventLoop.now() },
        sleep: @escaping @Sendable (_ milliseconds: Int64) async -> Void
    ) {
        self.store = store
        responder = RevocationResponder(store.authority)
        self.sleep = sleep
        serverAPI = ServerAPI(store: store, monotonic: monotonic)
    }

    /// Answers `request`; every error has a JSON body with a code and a message.
    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        let path = request.path.split(separator: "/", omittingEmptySubsequences: false)
            .dropFirst().map { String($0) }
        if let fault = faults.take(StandInAPI.endpoint(request.method, path)) {
            if fault.delayMilliseconds > 0 { await sleep(fault.delayMilliseconds) }
            if let response = fault.response(at: store.now()) { return response }
        }
        do throws(RequestError) {
            return try route(request, path)
        } catch {
            return .json(
                ["code": .string(error.code), "message": .string(error.message)],
                status: error.status)
        }
    }

    /// Has the stand-in misbehave; false if it already has too many faults to make.
    @discardableResult
    package func add(_ fault: StandInFault) -> Bool { faults.add(fault) }

    package func removeFaults() { faults.removeAll() }

    /// How many of the faults that were added are still to come, however often each.
    package var pendingFaults: Int { faults.count }

    /// How much of Apple's published rate limits the Server API allows, in per cent; 0 for no
    /// limits at all.
    package func setRateLimits(percentage: Int64) {
        precondition((0...RequestRates.percentageMax).contains(percentage), "no such limits")
        serverAPI.rates.setPercentage(percentage)
    }

    /// The name that faults have for what is asked: the path without the ids in it.
    private static func endpoint(_ method: String, _ path: [String]) -> String {
        let isSandbox = path.first == "sandbox"
        let rest = isSandbox ? Array(path.dropFirst()) : path
        if let (endpoint, _) = ServerAPIEndpoint.find(method, rest) {
            return (isSandbox ? "sandbox/" : "") + endpoint.rawValue
        }
        switch (path.count, path.first) {
        case (2, "transactions"), (2, "receipts"): return path[0]
        case (3, "transactions"), (3, "notifications"): return path[0] + "/" + path[2]
        default: return path.joined(separator: "/")
        }
    }

    private func route(
        _ request: HTTPRequest, _ path: [String]
    ) throws(RequestError) -> HTTPResponse {
        switch (request.method, path) {
        case ("POST", ["purchases"]): return try purchase(request)
        case (_, ["verifyReceipt"]):
            return verifyReceipt(request, environment: StoreName.production)
        case (_, ["sandbox", "verifyReceipt"]):
            return verifyReceipt(request, environment: StoreName.sandbox)
        case ("POST", ["faults"]):
            guard faults.add(try StandInFault(request.body)) else {
                throw .invalid("There are too many faults already.")
            }
            return .json([:], status: 201)
        case ("DELETE", ["faults"]):
            faults.removeAll()
            return .json([:])
        case ("POST", ["ocsp"]): return try answerRevocation(request)
        case ("PUT", ["ocsp"]): return try setRevocation(request)
        case ("GET", ["root.pem"]):
            return HTTPResponse(
                status: 200,
                headers: [(name: "Content-Type", value: "application/x-pem-file")],
                body: Array(store.authority.rootsPEM.utf8))
        case ("GET", ["api-key"]): return .json(store.apiKey.json)
        case ("PUT", ["rate-limits"]): return try setRateLimits(request)
        default: return try routeByPrefix(request, path)
        }
    }

    private func routeByPrefix(
        _ request: HTTPRequest, _ path: [String]
    ) throws(RequestError) -> HTTPResponse {
        switch path.first {
        case "inApps":
            return serverAPI.respond(to: request, path, in: StoreName.production)
        case "sandbox" where path.count > 1 && path[1] == "inApps":
            return serverAPI.respond(
                to: request, Array(path.dropFirst()), in: StoreName.sandbox)
        case "transactions" where path.count > 1:
            return try transaction(request, path[1], path.count == 3 ? path[2] : nil)
        case "notifications":
            return try notifications(request, Array(path.dropFirst()))
        case "receipts":
            guard request.method == "GET", path.count == 2, RequestFields.isIdentifier(path[1])
            else { throw .notFound }
            return try receipt(of: path[1], request)
        default: throw .notFound
        }
    }

    private func verifyReceipt(_ request: HTTPRequest, environment: String) -> HTTPResponse {
        guard request.method == "POST", let body = try? JSON.parse(request.body),
            let receipt = body["receipt-data"]?.string
        else { return .json(["status": 21000]) }
        return .json(store.verifyReceipt(receipt, environment: environment))
    }

    private func setRateLimits(_ request: HTTPRequest) throws(RequestError) -> HTTPResponse {
        let fields = try RequestFields(request.body, known: ["percentage"])
        guard let percentage = try fields.integer("percentage", 0...RequestRates.percentageMax)
        else { throw .invalid("percentage is missing.") }
        setRateLimits(percentage: percentage)
        return .json(["percentage": .integer(percentage)])
    }

    private func answerRevocation(_ request: HTTPRequest) throws(RequestError) -> HTTPResponse {
        guard let answer = responder.respond(to: request.body) else {
            throw .invalid("This isn't a question about one of the stand-in's certificates.")
        }
        return HTTPResponse(
            status: 200,
            headers: [(name: "Content-Type", value: "application/ocsp-response")], body: answer)
    }

    private func setRevocation(_ request: HTTPRequest) throws(RequestError) -> HTTPResponse {
        let fields = try RequestFields(request.body, known: ["status"])
        guard let answer = try fields.text("status").flatMap(RevocationResponder.Answer.init)
        else { throw .invalid("status must be good, revoked or unknown.") }
        responder.set(answer)
        return .json(["status": .string(answer.rawValue)])
    }

    private func receipt(
        of device: String, _ request: HTTPRequest
    ) throws(RequestError) -> HTTPResponse {
        let query = try request.queryFields(ReceiptForm.parameters.union(["environment"]))
        let environment = query["environment"]
        guard environment.map(RequestFields.isIdentifier) != false else {
            throw .invalid("environment must be Apple's name of one.")
        }
        let form = try ReceiptForm(query)
        let receipt = store.receipt(device: device, environment: environment, form: form)
        return .json(["receipt": .string(receipt)])
    }
}

extension HTTPRequest {
    /// The query's parameters, which has no others than `known`.
    func queryFields(_ known: Set<String>) throws(RequestError) -> QueryFields {
        do throws(QueryFields.Refusal) {
            return try QueryFields(query, known: known)
        } catch {
            throw .invalid(error.message)
        }
    }
}

extension HTTPResponse {
    static func json(_ value: JSON, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [(name: "Content-Type", value: "application/json")],
            body: value.bytes)
    }
}
