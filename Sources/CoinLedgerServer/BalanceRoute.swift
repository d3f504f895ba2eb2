import Base
import CoinLedger
import CoinLedgerAPI
import CoinLedgerService
import EventStore
import HTTPServer

extension CoinLedgerApp {
    /// Open lots in one answer of `GET …/balance?byLot=true`.
    private static let lotsMax = 1000

    func balance(
        _ account: AccountID, _ request: HTTPRequest, _ query: QueryParameters
    ) async throws(InvalidRequest) -> HTTPResponse {
        if query.isEmpty { return try await balance(account, request) }
        let now = services.clock()
        let isByLot = try query.bool("byLot")
        let (state, time) = try await state(of: account, query, now)
        var object = JSONObjectWriter()
        object.write(state.balance(at: time), of: account, at: time)
        if isByLot {
            let lots = Environment.allCases.flatMap { state[$0].openLots(at: time, $0) }
            object.objects("lots", Array(lots.prefix(CoinLedgerApp.lotsMax))) { $1.write(to: &$0) }
            object.member("lotsTruncated", lots.count > CoinLedgerApp.lotsMax)
        }
        return HTTPResponse(status: 200, json: object.finish())
    }

    /// The balance now, without anything else.
    private func balance(
        _ account: AccountID, _ request: HTTPRequest
    ) async throws(InvalidRequest) -> HTTPResponse {
        let balance: AccountBalance
        do throws(EventStoreError) {
            balance = try await services.balances.balance(of: account)
        } catch {
            throw InvalidRequest(error.problem)
        }
        let tag = balance.entityTag
        let headers = [(name: "ETag", value: tag), (name: "Cache-Control", value: "no-cache")]
        if EntityTags(request.headers.values(of: "If-None-Match")).contain(tag) {
            return HTTPResponse(status: 304, headers: headers, body: [])
        }
        var object = JSONObjectWriter()
        object.write(balance, of: account, at: services.clock())
        return HTTPResponse(status: 200, headers: headers, json: object.finish())
    }

    /// The account as the query wants it, and the instant it's looked at.
    private func state(
        of account: AccountID, _ query: QueryParameters, _ now: Timestamp
    ) async throws(InvalidRequest) -> (Account, Timestamp) {
        let end = try CoinLedgerApp.end(query, now)
        let state: AccountHistory.State?
        do throws(EventStoreError) {
            guard let end else {
                return (try await services.ledger.store.account(account) ?? .new, now)
            }
            state = try await services.history.state(of: account, upTo: end)
        } catch {
            throw InvalidRequest(error.problem)
        }
        guard let state else { throw InvalidRequest(noSuchEvent) }
        if case .at(let time) = end { return (state.account, time) }
        return (state.account, state.recordedAt ?? now)
    }

    /// Up to where the balance is asked for; nil for up to now.
    private static func end(
        _ query: QueryParameters, _ now: Timestamp
    ) throws(InvalidRequest) -> AccountHistory.End? {
        if let text = query.text("eventId") {
            guard query.text("at") == nil else {
                throw QueryParameters.invalid("at", "The parameter doesn't go with eventId.")
            }
            // An id that can't be one names nothing.
            guard let event = EventID(text) else { throw InvalidRequest(noSuchEvent) }
            return .event(event)
        }
        let kind: StaticString = "an instant of RFC 3339 with an offset"
        guard let time = try query.value("at", Timestamp.init, mustBe: kind) else { return nil }
        guard time <= now else {
            throw QueryParameters.invalid("at", "The instant must not be in the future.")
        }
        return .at(time)
    }
}

private let noSuchEvent = Problem(.eventNotFound, "The account has no such event.")

extension JSONObjectWriter {
    fileprivate mutating func write(
        _ balance: AccountBalance, of account: AccountID, at time: Timestamp
    ) {
        member("accountId", account.text)
        member("version", balance.version)
        balance.production.write(to: &self)
        object("sandbox") { balance.sandbox.write(to: &$0) }
        member("asOf", time.description)
    }
}

/// What a balance has of one lot.
private struct LotShare {
    let environment: Environment
    let lot: Lot
    let remaining: Coins
    let held: Coins

    func write(to object: inout JSONObjectWriter) {
        object.member("number", lot.number)
        object.member("environment", environment.rawValue)
        object.member("kind", lot.kind.rawValue)
        object.member("coins", lot.coins.amount)
        object.member("remaining", remaining.amount)
        object.member("held", held.amount)
        object.nullable("expiresAt", lot.expiresAt?.description)
    }
}

extension Purse {
    /// Its lots by number, which together are its balance: of those whose time is over, only what is
    /// held.
    fileprivate func openLots(at time: Timestamp, _ environment: Environment) -> [LotShare] {
        var held: [Int64: [Coins]] = [:]
        for hold in holds where !hold.isExpired(at: time) {
            for slice in hold.slices { held[slice.lot, default: []].append(slice.coins) }
        }
        return openLots.compactMap { open in
            let heldCoins = (held[open.lot.number] ?? []).sum()
            let remaining =
                open.lot.isExpired(at: time) ? min(heldCoins, open.remaining) : open.remaining
            guard remaining > .zero else { return nil }
            return LotShare(
                environment: environment, lot: open.lot, remaining: remaining, held: heldCoins)
        }.sorted { $0.lot.number < $1.lot.number }
    }
}
