import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore
import HTTPServer

extension CoinLedgerApp {
    /// Events in one answer of `GET …/events`.
    private static let eventsMax: Int64 = 200
    private static let eventsDefault: Int64 = 50

    func balance(
        _ account: AccountID, _ request: HTTPRequest
    ) async throws(InvalidRequest) -> HTTPResponse {
        let state: Account
        do throws(EventStoreError) {
            state = try await services.balances.account(account)
        } catch {
            throw InvalidRequest(error.problem)
        }
        let tag = "\"\(state.version)\""
        let headers = [(name: "ETag", value: tag), (name: "Cache-Control", value: "no-cache")]
        if EntityTags(request.headers.values(of: "If-None-Match")).contain(tag) {
            return HTTPResponse(status: 304, headers: headers, body: [])
        }
        var object = JSONObjectWriter()
        object.member("accountId", account.text)
        object.member("version", state.version)
        state.production.write(to: &object)
        object.object("sandbox") { state.sandbox.write(to: &$0) }
        object.member("asOf", services.clock().description)
        return HTTPResponse(status: 200, headers: headers, json: object.finish())
    }

    func events(
        _ account: AccountID, _ query: QueryParameters
    ) async throws(InvalidRequest) -> HTTPResponse {
        let after = try query.integer("after", in: 0...Int64.max, fallback: 0)
        let limit = try query.integer(
            "limit", in: 1...CoinLedgerApp.eventsMax, fallback: CoinLedgerApp.eventsDefault)
        do throws(EventStoreError) {
            // One more than asked for shows whether there is a next page.
            let found = try await services.ledger.store.events(
                of: account, after: after, limit: Int(limit) + 1)
            let page = found.prefix(Int(limit))
            var events: [JSON] = []
            for event in page { events.append(try event.json()) }
            var object = JSONObject([.init("accountId", .string(account.text))])
            object.append("events", .array(events))
            let next = found.count > page.count ? page.last?.version : nil
            object.append("next", next.map(JSON.integer) ?? .null)
            return HTTPResponse(status: 200, json: .object(object))
        } catch {
            throw InvalidRequest(error.problem)
        }
    }

    func linkToken(
        _ account: AccountID, _ request: HTTPRequest
    ) async throws(InvalidRequest) -> HTTPResponse {
        let text = try RequestBody(request.body, fields: ["appAccountToken"])
            .string("appAccountToken")
        guard let token = AppAccountToken(text) else {
            throw InvalidRequest(
                Problem(.invalidBody, "The field must be a UUID.", detail: "appAccountToken"))
        }
        let command = Command(
            id: .random(), account: account, time: services.clock(),
            action: .linkAppAccountToken(token))
        let outcomes: [Outcome]
        do throws(WriterError) {
            outcomes = try await services.ledger.submit([command], of: account)
        } catch {
            throw InvalidRequest(error.problem)
        }
        if case .rejected(.tokenLinkedToOtherAccount) = outcomes.first?.result {
            throw InvalidRequest(
                Problem(.tokenLinkedToOtherAccount, "The token is linked to another account."))
        }
        return HTTPResponse(
            status: 200,
            json: [
                "accountId": .string(account.text), "appAccountToken": .string(token.text),
            ])
    }
}

extension Balance {
    fileprivate func write(to object: inout JSONObjectWriter) {
        object.member("paid", paid.amount)
        object.member("free", free.amount)
        object.member("total", total.amount)
    }

    fileprivate var json: [JSONObject.Member] {
        [
            .init("paid", .integer(paid.amount)), .init("free", .integer(free.amount)),
            .init("total", .integer(total.amount)),
        ]
    }
}

extension Account {
    /// The balance as it stands in the answer to a receipt.
    var balanceJSON: JSON {
        var object = JSONObject([.init("version", .integer(version))])
        for member in production.json { object.append(member.name, member.value) }
        if sandbox != .zero { object.append("sandbox", .object(JSONObject(sandbox.json))) }
        return .object(object)
    }
}

extension StoredEvent {
    fileprivate func json() throws(EventStoreError) -> JSON {
        let data: JSON
        do throws(JSONError) {
            data = try JSON.parse(payload)
        } catch {
            throw .corrupt("event \(id): \(error)")
        }
        return [
            "eventId": .string(id.description), "version": .integer(version),
            "type": .string(type), "schemaVersion": .integer(schemaVersion),
            "occurredAt": .string(occurredAt.description),
            "recordedAt": .string(recordedAt.description), "data": data,
        ]
    }
}

extension EventStoreError {
    var problem: Problem {
        switch self {
        case .conflict, .claimed, .unavailable, .resultUnknown:
            Problem(.ledgerUnavailable, "The ledger can't be reached now.")
        case .corrupt: Problem(.internalError, "The ledger holds something that can't be read.")
        }
    }
}

extension WriterError {
    fileprivate var problem: Problem {
        switch self {
        case .overloaded: Problem(.overloaded, "The service has too much to do now.")
        case .unavailable: Problem(.ledgerUnavailable, "The ledger can't be reached now.")
        }
    }
}

/// The entity tags of `If-None-Match` (RFC 9110, section 13.1.2), compared weakly.
private struct EntityTags {
    private let tags: [Substring]

    init(_ lines: [String]) {
        tags = lines.flatMap { $0.split(separator: ",") }.map { $0.trimmingSpaces() }
    }

    func contain(_ tag: String) -> Bool {
        tags.contains { $0 == "*" || $0 == tag || $0 == "W/\(tag)" }
    }
}

extension Substring {
    fileprivate func trimmingSpaces() -> Substring {
        let start = firstIndex { $0 != " " && $0 != "\t" } ?? endIndex
        let end = lastIndex { $0 != " " && $0 != "\t" }
        return end.map { self[start...$0] } ?? ""
    }
}
