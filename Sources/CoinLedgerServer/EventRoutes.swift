import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore
import HTTPServer

extension CoinLedgerApp {
    /// Events or lots in one answer.
    static let pageMax: Int64 = 200
    static let pageDefault: Int64 = 50

    func events(
        _ account: AccountID, _ query: QueryParameters
    ) async throws(InvalidRequest) -> HTTPResponse {
        let filter = try EventFilter(query)
        let list = "events \(account) \(filter.text)"
        let (after, limit) = try page(query, of: list)
        do throws(EventStoreError) {
            // One more than asked for shows whether there is a next page.
            let found = try await services.ledger.store.events(
                of: account, after: after, limit: limit + 1, where: filter)
            let page = found.prefix(limit)
            var events: [JSON] = []
            for event in page { events.append(.object(try event.json())) }
            let next = found.count > page.count ? page.last?.version : nil
            return HTTPResponse(
                status: 200,
                json: [
                    "accountId": .string(account.text), "events": .array(events),
                    "next": next.map { .string(Cursor(position: $0, of: list).text) } ?? .null,
                ])
        } catch {
            throw InvalidRequest(error.problem)
        }
    }

    /// Above which element a page begins, and how many it may have.
    func page(
        _ query: QueryParameters, of list: String
    ) throws(InvalidRequest) -> (after: Int64, limit: Int) {
        let limit = try query.integer(
            "limit", in: 1...CoinLedgerApp.pageMax, fallback: CoinLedgerApp.pageDefault)
        guard let text = query.text("after") else { return (0, Int(limit)) }
        return (try Cursor(text, of: list).position, Int(limit))
    }

    /// - Parameter id: nil where it isn't even text.
    func event(_ id: String?) async throws(InvalidRequest) -> HTTPResponse {
        let unknown = Problem(.eventNotFound, "There is no such event.")
        guard let id = id.flatMap(EventID.init) else { throw InvalidRequest(unknown) }
        do throws(EventStoreError) {
            guard let stored = try await services.ledger.store.event(id) else {
                return HTTPResponse(unknown)
            }
            return HTTPResponse(status: 200, json: .object(try stored.named()))
        } catch {
            throw InvalidRequest(error.problem)
        }
    }
}

extension EventFilter {
    fileprivate init(_ query: QueryParameters) throws(InvalidRequest) {
        self = .all
        let names = query.list("type")
        for name in names where EventCodec.EventType(rawValue: name) == nil {
            throw QueryParameters.invalid("type", "There is no such type of event.")
        }
        if !names.isEmpty { types = Array(Set(names)).sorted() }
        let kind: StaticString = "an instant of RFC 3339 with an offset"
        from = try query.value("from", Timestamp.init, mustBe: kind)
        until = try query.value("until", Timestamp.init, mustBe: kind)
    }

    /// The same for the same filter, however it was written.
    fileprivate var text: String {
        [
            (types ?? []).joined(separator: ","), from?.description ?? "", until?.description ?? "",
        ].joined(separator: " ")
    }
}

extension StoredEvent {
    /// The event with the account that it's about, unless that is nobody's.
    func named() throws(EventStoreError) -> JSONObject {
        var object = JSONObject()
        if account != .unclaimed { object.append("accountId", .string(account.text)) }
        for member in try json().members { object.append(member.name, member.value) }
        return object
    }

    fileprivate func json() throws(EventStoreError) -> JSONObject {
        let data: JSON
        do throws(JSONError) {
            data = try JSON.parse(payload)
        } catch {
            throw .corrupt("event \(id): \(error)")
        }
        return JSONObject([
            .init("eventId", .string(id.description)), .init("version", .integer(version)),
            .init("type", .string(type)), .init("schemaVersion", .integer(schemaVersion)),
            .init("occurredAt", .string(occurredAt.description)),
            .init("recordedAt", .string(recordedAt.description)), .init("data", data),
        ])
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
